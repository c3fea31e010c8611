#include "analyze/prove.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "analyze/deciding.h"
#include "analyze/direction.h"
#include "analyze/installed.h"
#include "analyze/refused_values.h"
#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "verify/smt/solver.h"

namespace secequiv {
namespace {

std::vector<SideReport> sides(const std::vector<Source>& stack) {
  std::vector<SideReport> out;
  out.reserve(stack.size());
  for (const Source& side : stack)
    out.push_back({side.title(), side.program, refusal_of(side.program), side.policy.has_value()});
  return out;
}

// A proof concerns only decisions, so its programs may be longer than the kernel permits.
std::optional<Rejection> refused_program(const ProveJob& job) {
  for (const std::vector<Source>* stack : {&job.before, &job.after})
    for (const Source& side : *stack)
      if (const auto refusal = refusal_of(side.program, LengthRule::kUnlimited))
        return Rejection{side.title(), describe(*refusal, side.program),
                         instruction_place(side, refusal->pc)};
  return std::nullopt;
}

Status fill_question(const ProveJob& job, ProveReport& report) {
  Question& question = report.question;
  for (const SideReport& side : report.before) question.before.emplace_back(side.program);
  for (const SideReport& side : report.after) question.after.emplace_back(side.program);
  // Symbols refer to the programs in the question by address, so equal copies of these programs do
  // not suffice.
  for (std::size_t i = 0; i < job.before.size(); ++i)
    question.symbols.add(report.before[i].program, job.before[i].symbols);
  for (std::size_t i = 0; i < job.after.size(); ++i)
    question.symbols.add(report.after[i].program, job.after[i].symbols);
  question.sameness = job.sameness;
  if (job.refines) question.goal = Question::Goal::kRefines;
  question.assumption = job.condition;
  question.endian = arch_info(job.host).endian;
  if (job.assumption.empty()) return Ok{};
  ASSIGN_OR_RETURN(auto parsed, parse_assumption(job.assumption, job.host, question.symbols.all()));
  question.assumed = job.assumption;
  question.assumption =
      job.condition.nodes.empty() ? std::move(parsed) : all_of({job.condition, std::move(parsed)});
  return Ok{};
}

// The certificates share the time that the proof left unused.
CertificateReport certify(const ProveJob& job, const ProveReport& report,
                          const std::function<double()>& elapsed) {
  CertificateReport out;
  out.directory = job.certificate_folder;
  if (report.proof.verdict != Verdict::kEquivalent) {
    out.reason = "only a proof with the verdict 'equivalent' has a certificate";
    return out;
  }
  const auto start = Clock::now();
  // A certificate that cannot be made affects neither the other certificate nor the verdict.
  const auto take = [&](Result<std::vector<certificate::File>> made) {
    if (!made) {
      out.failed = exit_code(made.error().code);
      out.reason +=
          (out.reason.empty() ? "" : "; ") + (stop_wanted() ? stop_reason() : made.error().text());
      return;
    }
    for (certificate::File& file : *made)
      out.files.push_back({std::move(file.name), std::move(file.text)});
  };
  const auto limits = [&] {
    certificate::Limits left = job.certificate_limits;
    left.seconds = std::max(left.seconds - elapsed(), 0.0);
    return left;
  };
  if (job.engine != Engine::kZ3) take(certificate::by_cases(report.question, limits()));
  if (job.engine != Engine::kDd) take(certificate::by_formula(report.question, limits()));
  if (!out.files.empty())
    if (auto condition = certificate::condition_file(report.question))
      out.files.push_back({std::move(condition->name), std::move(condition->text)});
  out.seconds = seconds_since(start);
  return out;
}

// The oracle runs the witness in filters whose names have been replaced by values.
Status ask_oracle(const ProveJob& job, ProveReport& report) {
  if (!job.oracle) return Ok{};
  std::vector<NamedProgram> programs;
  const auto add = [&](const std::vector<SideReport>& stack) {
    for (const SideReport& side : stack)
      programs.emplace_back(
          side.name, report.proof.symbols.empty()
                         ? side.program
                         : report.question.symbols.filled(side.program, report.proof.symbols));
  };
  if (job.fixed != ProveJob::Fixed::kBefore) add(report.before);
  if (job.fixed != ProveJob::Fixed::kAfter) add(report.after);
  std::vector<SeccompData> witness;
  if (report.proof.witness) witness.push_back(report.proof.witness->data);
  ASSIGN_OR_RETURN(report.oracle, job.oracle(programs, witness));
  return Ok{};
}

// Finds out how the difference affects callers, and shows the input that matters most. Names have
// the values that the proof found.
Status direct(const ProveJob& job, const Budget& budget, ProveReport& report) {
  Proof& proof = report.proof;
  if (!proof.witness) return Ok{};
  std::optional<Instance> instance;
  if (!proof.symbols.empty()) instance.emplace(report.question, proof.symbols);
  const Question& question = instance ? instance->question : report.question;
  // Where diagrams gave up before, they probably do so again.
  const bool by_diagrams = proof.engine.starts_with("dd");
  const dd::Limits limits = by_diagrams ? budget.diagrams : limits_to_improve(budget.diagrams);
  ASSIGN_OR_RETURN(report.direction,
                   find_direction_without_choices(question, report.notes.choices, job.host, limits,
                                                  {&proof.witness->data, 1}));
  const bool exact = report.direction->complete || report.direction->without_choices;
  if (!report.direction->example || !exact) return Ok{};
  proof.witness = report.direction->example;
  if (proof.symbols.empty()) proof.minimal = true;
  return Ok{};
}

}  // namespace

Result<ProveReport> prove(const ProveJob& job) {
  const std::function<double()> elapsed =
      job.elapsed ? job.elapsed : [started = Clock::now()] { return seconds_since(started); };
  const auto left = [&] { return job.budget.after(elapsed()); };
  ProveReport report;
  report.subject = job.subject;
  report.notes = job.notes;
  report.all_traces = job.all_traces;
  report.files = side_files(job.before, job.after);
  report.rejection = refused_program(job);
  if (report.rejection) return report;
  std::size_t instructions = 0;
  for (const auto* stack : {&job.before, &job.after})
    for (const Source& side : *stack) instructions += side.program.size();
  if (!memory_fits(instructions * sizeof(Insn)))
    return make_error(ErrorCode::kBudget, "", "memory limit reached");
  report.before = sides(job.before);
  report.after = sides(job.after);
  RETURN_IF_ERROR(fill_question(job, report));
  report.notes.choices =
      under_assumption(std::move(report.notes.choices), report.question, job.budget.diagrams);
  if (job.fixed == ProveJob::Fixed::kNone) {
    ASSIGN_OR_RETURN(report.rejection,
                     refused_values(job.before, job.after, report.question, job.engine, left()));
    if (report.rejection) return report;
  }
  const bool certified = !job.certificate_folder.empty();
  if (certified) RETURN_IF_ERROR(certificate::supported(report.question));
  if (job.smt2 && job.sameness == Sameness::kEffect)
    return make_error(ErrorCode::kUsage, "", "there is no SMT-LIB 2 query about effects");
  if (job.smt2) {
    const std::string query = smt::smt2(report.question);
    if (stop_wanted()) return make_error(ErrorCode::kBudget, "", stop_reason());
    RETURN_IF_ERROR(job.smt2(query));
  }
  auto proof = decide(report.question, job.engine, left());
  if (proof && proof->verdict == Verdict::kDifferent && !report.notes.choices.empty())
    proof = difference_without_choices(report.question, report.notes.choices, left().diagrams);
  if (!proof) return proof.error();
  report.proof = std::move(*proof);
  if (!report.notes.choices.empty()) report.proof.relation.reset();
  report.host = job.host;
  RETURN_IF_ERROR(direct(job, left(), report));
  if (const auto& witness = report.proof.witness; witness && report.proof.symbols.empty())
    report.rules = {deciding_rule(job.before, witness->data),
                    deciding_rule(job.after, witness->data)};
  if (certified) report.certificate = certify(job, report, elapsed);
  RETURN_IF_ERROR(ask_oracle(job, report));
  return report;
}

}  // namespace secequiv
