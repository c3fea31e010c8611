// `prove`: equivalence or refinement of two filters, or stacks of filters, over all inputs.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "analyze/oracle.h"
#include "cli/certificate_option.h"
#include "cli/engine_options.h"
#include "cli/name_ranges.h"
#include "cli/oracle_option.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/report/documents.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"
#include "verify/decide/decide.h"
#include "verify/smt/solver.h"

namespace secequiv::cli {
namespace {

struct ProveJob {
  Options options;
  std::string before;
  std::string after;
  std::string smt2;
  EngineOptions engine;
  bool refines = false;
  OracleOption oracle;
  CertificateOption certificate;
};

int rejected(const std::string& file, const std::string& detail, const Options& options) {
  const ReportedCases found = refused("prove", file, detail);
  return print_found(
      options.json ? render(rejected_document(file, detail)) : rejected_text(file, detail), found,
      options);
}

std::vector<SideReport> sides(const std::vector<Source>& stack) {
  std::vector<SideReport> out;
  out.reserve(stack.size());
  for (const Source& side : stack) out.push_back({side.name, side.program, check(side.program)});
  return out;
}

// The filters that the witness is about.
std::vector<Source> filled(std::vector<Source> stack, const Question& question,
                           const std::vector<ProgramView>& filters, const Proof& proof) {
  for (std::size_t i = 0; i < stack.size() && !proof.symbols.empty(); ++i)
    stack[i].program = question.symbols.filled(filters[i], proof.symbols);
  return stack;
}

int prove(const ProveJob& job) {
  if (auto s = keep_json_alone(job.options, "--emit-smt2", job.smt2); !s)
    return report(s.error(), job.options);
  const auto oracle = job.oracle.open();
  if (!oracle) return report(oracle.error(), job.options);
  auto before = load_stack(job.before, job.options, Names::kTaken);
  if (!before) return report(before.error(), job.options);
  auto after = load_stack(job.after, job.options, Names::kTaken);
  if (!after) return report(after.error(), job.options);
  // A proof is about what programs decide; a length the kernel does not take is said, not refused.
  for (const std::vector<Source>* stack : {&*before, &*after}) {
    for (const Source& side : *stack) {
      if (const auto refusal = check(side.program, LengthRule::kUnlimited))
        return rejected(side.name, describe(*refusal, side.program), job.options);
      note_length(side.name, side.program);
    }
  }
  Question question;
  question.before = views(*before);
  question.after = views(*after);
  for (const std::vector<Source>* stack : {&*before, &*after})
    for (const Source& side : *stack) question.symbols.add(side.program, side.symbols);
  question.sameness = job.options.sameness();
  if (job.refines) question.goal = Question::Goal::kRefines;
  if (auto s = job.engine.assume(job.options, question); !s) return report(s.error(), job.options);
  heed_interrupts();
  Ticker ticker;
  ticker.step("proving", job.options.timeout);
  const auto refused = refused_values(*before, *after, question, job.engine.engine(),
                                      job.engine.budget(job.options));
  if (!refused) return report(refused.error(), job.options);
  if (*refused) return rejected((*refused)->file, (*refused)->detail, job.options);
  if (auto s = job.certificate.prepare(question); !s) return report(s.error(), job.options);
  if (!job.smt2.empty())
    if (const Status written = write_file(job.smt2, smt::smt2(question)); !written)
      return report(written.error(), job.options);
  auto proof = decide(question, job.engine.engine(), job.engine.budget(job.options));
  if (!proof) return report(proof.error(), job.options);
  std::optional<CertificateOption::Report> certificate;
  if (job.certificate.wanted()) {
    auto written = job.certificate.write(question, *proof, job.engine, job.options);
    if (!written) return report(written.error(), job.options);
    certificate = std::move(*written);
  }
  std::vector<SeccompData> witness;
  if (proof->witness) witness.push_back(proof->witness->data);
  const auto said = ask(*oracle, filled(*before, question, question.before, *proof),
                        filled(*after, question, question.after, *proof), witness);
  if (!said) return report(said.error(), job.options);
  std::string text = proof_text(question, *proof);
  const bool brief = job.options.quiet;  // the last line is to be the verdict
  if (certificate && !brief) text += certificate->text();
  if (*said && witness.empty() && !brief)
    text +=
        fmt::format("oracle    {} was asked about nothing: there is no witness\n", (*said)->who);
  else if (*said && !brief)
    text += oracle_text(**said);
  if (*said && (*said)->in_doubt()) {
    proof->verdict = Verdict::kFail;
    proof->detail = fmt::format("{} contradicts our interpreter", (*said)->who);
    text += doubt_text(**said);
  }
  int status = exit_code(proof->verdict);
  if (status == 0 && certificate && certificate->failed != 0) {
    warn(certificate->reason);
    status = certificate->failed;
  }
  ReportedCases found = reported(question, *proof, fmt::format("{}, {}", job.before, job.after),
                                 side_files(*before, *after));
  if (*said) add_oracle(found, **said);
  found.exit_status = status;
  if (certificate && certificate->failed != 0) found.reason = certificate->reason;
  conclude(found);
  if (!job.options.json) return print_found(text, found, job.options);
  auto document = proof_document(question, *proof, sides(*before), sides(*after));
  if (certificate) document["certificate"] = certificate->json();
  if (*said) document["oracle"] = to_json(**said);
  return print_found(render(document), found, job.options);
}

}  // namespace

void add_prove(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "prove",
      "Prove two filters equivalent, or show the smallest input on which they differ.\n"
      "A,B,C stands for stacked filters, the newest first; #$NAME stands for all values");
  auto job = std::make_shared<ProveJob>();
  sub->add_option("before", job->before, "Program in any form, or a policy; several with commas")
      ->required();
  sub->add_option("after", job->after, "Program in any form, or a policy; several with commas")
      ->required();
  sub->add_flag("--refines", job->refines,
                "Prove instead that 'after' is never more permissive than 'before'");
  job->engine.add(*sub);
  job->oracle.add(*sub);
  job->certificate.add(*sub);
  sub->add_option("--emit-smt2", job->smt2, "Also write the query as SMT-LIB 2, for other solvers");
  job->options.add_input(*sub);
  job->options.add_timeout(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  job->options.add_reports(*sub);
  sub->callback([job, &context] { context.status = prove(*job); });
}

}  // namespace secequiv::cli
