#include "harness/report/reported.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/report/regions.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using State = ReportedCase::State;

constexpr std::size_t kMostSteps = 200;  // of a trace, from its end

constexpr ReportedRule kRules[] = {
    {"acceptance", "the kernel accepts both programs",
     "The kernel's checker would refuse a program, so that it cannot be installed."},
    {"decision", "both programs decide the same on every input run",
     "The two filters return different values for one system call. If the second allows what the "
     "first denied, the sandbox is open."},
    {"coverage", "every edge is covered or proven infeasible",
     "Nobody knows whether an input takes this edge, nor what the filter decides then."},
    {"proof", "proven for all inputs", "Equivalence over all 2^512 inputs is not proven."},
    {"refinement", "never more permissive than before",
     "The second filter allows something that the first did not."},
    {"fuzzing", "nothing differs on fuzzed inputs", "Fuzzing did not do what was asked."},
    {"cache", "no system call leaves the kernel's cache",
     "Linux answered these calls without running the filter, and now runs it each time."},
    {"oracle", "the running kernel agrees with the model",
     "Linux and this tool's interpreter disagree: no verdict on this filter can be relied on."},
    {"difference", "the programs differ in nothing, or as expected",
     "For these inputs the second filter decides otherwise."},
    {"finding", "what is under test makes no mistake",
     "An optimizer, compiler or evaluator answered wrongly, or not at all."},
    {"lint", "every rule decides something",
     "A rule that decides nothing is often one that was meant to."},
    {"rewrite", "a rule is as expected",
     "A rewrite rule is wrong for some values, or is right although it was expected to be wrong."},
    {"verdict", "the overall verdict", "The command did not end in a pass."},
    {"error", "the command ran to its end", "The command could not do what was asked."},
};

ReportedCase::Place place_in(const SourceFile& file, std::optional<std::size_t> pc) {
  ReportedCase::Place out{file.path, file.raw, pc, {}};
  if (pc && *pc < file.lines.size()) out.line = file.lines[*pc];
  return out;
}

Program program_of(ProgramView view) { return {view.begin(), view.end()}; }

// What a verdict about both is shown in.
std::string file_of(const SideFiles& files) {
  return files.after.path.empty() ? files.before.path : files.after.path;
}

State state_of(Verdict verdict) {
  if (exit_code(verdict) == 0) return State::kPass;
  return verdict == Verdict::kUnknown ? State::kUnknown : State::kFail;
}

std::string step_text(const Program& program, const TraceStep& step) {
  std::string out = fmt::format("{}: {}", step.pc, insn_text(program, step.pc));
  if (step.outcome) out += fmt::format(": {}", outcome_name(program[step.pc], *step.outcome));
  return out + fmt::format(" (A={:#x}, X={:#x})", step.a, step.x);
}

std::vector<ReportedCase::Step> steps(const Program& program, const SourceFile& file,
                                      const SeccompData& input) {
  const Trace run = trace(program, input);
  std::vector<ReportedCase::Step> out;
  const std::size_t from = run.steps.size() > kMostSteps ? run.steps.size() - kMostSteps : 0;
  for (std::size_t i = from; i < run.steps.size(); ++i)
    out.push_back({place_in(file, run.steps[i].pc), step_text(program, run.steps[i])});
  if (from != 0)
    out.front().message += fmt::format("; {} steps before this one are not shown", from);
  return out;
}

// Makes `one` a case about a witness: where the second program decides, and how both got there.
void show_witness(ReportedCase& one, const Program& before, const Program& after,
                  const Witness& witness, const SideFiles& files) {
  one.witness = witness;
  one.traces = {steps(before, files.before, witness.data), steps(after, files.after, witness.data)};
  if (!one.traces[1].empty()) one.place = one.traces[1].back().place;
}

std::string difference_text(const Witness& witness) {
  return fmt::format("{} became {} for {}", describe_action(witness.before),
                     describe_action(witness.after), describe(witness.data));
}

ReportedCase acceptance(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"acceptance", State::kPass, "the kernel accepts both programs"};
  if (report.verdict != Verdict::kRejected) {
    if (report.before.refusal || report.after.refusal)
      out.message = "both programs are legal, though too long to be installed";
    return out;
  }
  out.state = State::kFail;
  out.message = report.reason;
  // Of the unoptimized program the length does not matter.
  const bool first = check(report.before.program, LengthRule::kUnlimited).has_value();
  const SideReport& side = first ? report.before : report.after;
  if (side.refusal) {
    std::optional<std::size_t> pc;
    if (side.refusal->pc < side.program.size()) pc = side.refusal->pc;
    out.place = place_in(first ? files.before : files.after, pc);
  }
  return out;
}

ReportedCase coverage(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"coverage", State::kPass, ""};
  out.seconds = report.coverage_seconds;
  if (report.listing.empty()) {
    out.state = State::kSkipped;
    out.message = "not looked at: a difference was found before";
    return out;
  }
  out.message = fmt::format(
      "{} of the optimized program: {} covered by derived inputs, {} by the prover's, {} "
      "infeasible, {} open",
      counted(report.obligations, "obligation"), report.covered_by_inputs,
      report.covered_by_witnesses, report.infeasible.size(), report.open.size());
  if (report.open.empty()) {
    if (report.not_looked_at() == 0) return out;
    out.state = State::kSkipped;
    out.message +=
        fmt::format(", {} not looked at: a difference was found before", report.not_looked_at());
    return out;
  }
  out.state = State::kUnknown;
  out.place = place_in(files.after, report.open.front().obligation.pc);
  for (const Feasibility& open : report.open)
    out.detail +=
        fmt::format("{}: {}\n", describe(open.obligation, report.after.program), open.detail);
  return out;
}

// A difference that the inputs did not show is the proof's.
bool proof_found_it(const CheckReport& report) {
  return report.proof && report.proof->verdict == Verdict::kDifferent;
}

ReportedCase decision(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"decision", State::kPass,
                   fmt::format("{} run through both programs, none differs",
                               counted(report.evaluations, "input"))};
  out.seconds = report.run_seconds;
  if (!report.witness || proof_found_it(report)) return out;
  out.state = State::kFail;
  out.message = difference_text(*report.witness);
  out.detail =
      witness_text(Question(Pair{report.before.program, report.after.program, report.sameness}),
                   *report.witness);
  show_witness(out, report.before.program, report.after.program, *report.witness, files);
  return out;
}

ReportedCase proof(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"proof", State::kSkipped, "not tried: a difference was found before"};
  if (!report.proof) {
    if (!report.witness) out.message = "not asked for";
    return out;
  }
  out.seconds = report.proof_seconds;
  out.state = state_of(report.proof->verdict);
  out.message = fmt::format("{} by {}", verdict_name(report.proof->verdict), report.proof->engine);
  if (!report.proof->detail.empty()) out.message += ": " + report.proof->detail;
  if (proof_found_it(report) && report.witness) {
    out.message = difference_text(*report.witness);
    out.detail =
        witness_text(Question(Pair{report.before.program, report.after.program, report.sameness}),
                     *report.witness);
    show_witness(out, report.before.program, report.after.program, *report.witness, files);
  }
  return out;
}

ReportedCase fuzzing(const PairFuzzReport& fuzz, Verdict verdict) {
  ReportedCase out{"fuzzing", State::kPass,
                   fmt::format("{} in {:.1f} s (seed {})", counted(fuzz.evaluations, "input"),
                               fuzz.seconds, fuzz.seed)};
  out.seconds = fuzz.seconds;
  if (!fuzz.not_run.empty()) {
    out.state = State::kSkipped;
    out.message = "not started: " + fuzz.not_run;
  } else if (fuzz.interrupted) {
    out.state = verdict == Verdict::kUnknown ? State::kUnknown : State::kSkipped;
    out.message += ", interrupted";
  }
  return out;
}

ReportedCase cache(const CheckReport& report) {
  ReportedCase out{"cache", State::kPass, "no call is lost"};
  for (const CacheChange& change : report.cache)
    out.detail +=
        fmt::format("{}: {} cached before, {} after; lost: {}; gained: {}\n",
                    arch_info(change.arch).name, change.before.size(), change.after.size(),
                    shown_calls(change.arch, change.lost), shown_calls(change.arch, change.gained));
  if (!loses(report.cache)) return out;
  out.message = "the kernel no longer answers " + lost_text(report.cache);
  if (report.cache_loss_allowed) {
    out.message += ", which is allowed";
  } else {
    out.state = State::kFail;
  }
  return out;
}

ReportedCase oracle(const OracleReport& said) {
  ReportedCase out{"oracle", State::kPass, said.who + " agrees"};
  out.seconds = said.seconds;
  for (const AskedProgram& program : said.programs) {
    out.detail +=
        program.not_asked.empty()
            ? fmt::format("{}: asked about {}\n", program.name, counted(program.inputs, "input"))
            : fmt::format("{}: not asked: {}\n", program.name, program.not_asked);
  }
  if (const AskedProgram* left = said.not_asked()) {
    out.state = State::kUnknown;
    out.message = fmt::format("{} was not asked about {}", said.who, left->name);
  }
  if (const AskedProgram* doubtful = said.in_doubt()) {
    out.state = State::kFail;
    out.message = fmt::format("{} and our interpreter disagree about {}", said.who, doubtful->name);
  }
  return out;
}

}  // namespace

std::span<const ReportedRule> reported_rules() { return kRules; }

void conclude(ReportedCases& report) {
  const bool said = std::ranges::any_of(report.cases, [](const ReportedCase& one) {
    return one.state == State::kFail || one.state == State::kUnknown;
  });
  const State state = report.exit_status == 0   ? State::kPass
                      : report.exit_status == 3 ? State::kUnknown
                                                : State::kFail;
  if (said && state != State::kPass) return;
  report.cases.push_back(
      {"verdict", state, fmt::format("{}: {}", verdict_name(report.verdict), report.reason)});
}

ReportedCases reported(const CheckReport& report, const std::string& command,
                       const SideFiles& files) {
  ReportedCases out{command,        fmt::format("{}, {}", report.before.name, report.after.name),
                    report.verdict, exit_code(report.verdict),
                    report.reason,  {}};
  out.file = file_of(files);
  out.cases.push_back(acceptance(report, files));
  if (report.verdict != Verdict::kRejected) {
    out.cases.push_back(decision(report, files));
    if (report.fuzz) out.cases.push_back(fuzzing(*report.fuzz, report.verdict));
    out.cases.push_back(coverage(report, files));
    out.cases.push_back(proof(report, files));
    out.cases.push_back(cache(report));
    if (report.oracle) add_oracle(out, *report.oracle);
  }
  conclude(out);
  return out;
}

ReportedCases reported(const Question& question, const Proof& proof, const std::string& subject,
                       const std::optional<SideFiles>& files) {
  ReportedCases out{"prove", subject, proof.verdict, exit_code(proof.verdict), proof.detail, {}};
  if (files) out.file = file_of(*files);
  const bool refines = question.goal == Question::Goal::kRefines;
  ReportedCase found{refines ? "refinement" : "proof", state_of(proof.verdict),
                     fmt::format("{} by {}", verdict_name(proof.verdict), proof.engine)};
  found.seconds = proof.encode_seconds + proof.solve_seconds;
  if (!proof.detail.empty()) found.message += ": " + proof.detail;
  if (proof.witness) {
    found.message = difference_text(*proof.witness);
    found.detail = proof_text(question, proof);
    found.witness = proof.witness;
    if (files && question.before.size() == 1 && question.after.size() == 1) {
      const auto show = [&](const Question& about) {
        show_witness(found, program_of(about.before[0]), program_of(about.after[0]), *proof.witness,
                     *files);
      };
      if (proof.symbols.empty()) {
        show(question);
      } else {
        show(Instance(question, proof.symbols).question);
      }
    }
  }
  if (out.reason.empty()) out.reason = found.message;
  out.cases.push_back(std::move(found));
  return out;
}

ReportedCases reported(const Difference& difference, const Question& question, Verdict verdict,
                       const std::string& subject, const std::optional<SideFiles>& files,
                       std::size_t most, Arch host) {
  ReportedCases out{"diff",
                    subject,
                    verdict,
                    exit_code(verdict),
                    fmt::format("{} of 2^512 inputs differ", count_text(difference.count)),
                    {}};
  if (files) out.file = file_of(*files);
  const bool single = files && question.before.size() == 1 && question.after.size() == 1;
  for (const Change& change : difference.changes) {
    const std::size_t shown = std::min(most, change.where.regions.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const Region& region = change.where.regions[i];
      ReportedCase one{"difference", State::kFail, short_condition(summary(change, region, host))};
      one.name = fmt::format("{}", out.cases.size() + 1);
      one.detail = fmt::format("{} inputs: {}\n", count_text(region.count),
                               short_condition(condition_text(region, host)));
      if (const auto witness = replay(question, region.example()); witness) {
        one.witness = witness;
        if (single)
          show_witness(one, program_of(question.before[0]), program_of(question.after[0]), *witness,
                       *files);
      }
      out.cases.push_back(std::move(one));
    }
    if (!change.where.is_all(shown))
      out.cases.push_back(
          {"difference", State::kFail, not_shown_text(shown, change.where.region_count, 0)});
  }
  if (out.cases.empty()) out.cases.push_back({"difference", State::kPass, "nothing differs"});
  return out;
}

ReportedCases reported(const HuntReport& report) {
  ReportedCases out{"fuzz", report.target, report.verdict, exit_code(report.verdict), report.reason,
                    {}};
  ReportedCase tried{
      "fuzzing", State::kPass,
      fmt::format("{}: {} answered, {} proven, {} undecided, {} (seed {})",
                  counted(report.trials, "trial"), report.answered, report.proven, report.undecided,
                  counted(report.evaluations, "evaluation"), report.seed)};
  tried.seconds = report.seconds;
  if (report.verdict == Verdict::kUnknown) {
    tried.state = State::kUnknown;
    tried.message = report.reason + "; " + tried.message;
  }
  out.cases.push_back(std::move(tried));
  for (const Finding& found : report.findings) {
    ReportedCase one{"finding", found.failure ? State::kFail : State::kSkipped,
                     fmt::format("{}: {}", finding_name(found.kind), found.detail)};
    one.name = fmt::format("{} {}", finding_name(found.kind), found.group);
    one.detail = fmt::format("before\n{}", write_program(found.subject.before, Form::kAsm));
    if (found.after)
      one.detail += fmt::format("after\n{}", write_program(*found.after, Form::kAsm));
    one.witness = found.witness;
    if (!found.file.empty()) one.place = ReportedCase::Place{found.file, false, {}, {}};
    out.cases.push_back(std::move(one));
  }
  conclude(out);
  return out;
}

void add_oracle(ReportedCases& report, const OracleReport& said) {
  ReportedCase& one = report.cases.emplace_back(oracle(said));
  // Nothing differs, so there was nothing to ask about.
  if (report.exit_status == 0 && one.state == State::kUnknown) one.state = State::kSkipped;
}

ReportedCases refused(const std::string& command, const std::string& subject,
                      const std::string& detail) {
  ReportedCases out{command, subject, Verdict::kRejected, exit_code(Verdict::kRejected),
                    detail,  {}};
  out.file = subject;  // a file's name, as all that is refused here comes from one
  out.cases.push_back(
      {"acceptance", State::kFail, fmt::format("the kernel refuses {}: {}", subject, detail)});
  return out;
}

ReportedCase::Place place_of(std::string where) {
  std::vector<std::uint32_t> numbers;  // from behind
  while (numbers.size() < 2) {
    const std::size_t colon = where.rfind(':');
    if (colon == std::string::npos) break;
    const auto number = parse_unsigned(std::string_view(where).substr(colon + 1));
    if (!number || *number > 0x7fffffff) break;
    numbers.push_back(static_cast<std::uint32_t>(*number));
    where.resize(colon);
  }
  ReportedCase::Place out;
  out.path = std::move(where);
  if (!numbers.empty() && numbers.back() != 0) out.line = numbers.back();
  return out;
}

namespace {

Verdict verdict_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kBudget:
    case ErrorCode::kUnavailable:
      return Verdict::kUnknown;
    case ErrorCode::kRejected:
      return Verdict::kRejected;
    case ErrorCode::kAdapter:
      return Verdict::kCrashed;
    default:
      return Verdict::kFail;
  }
}

}  // namespace

ReportedCases reported(const Error& error, const std::string& command, int exit_status) {
  ReportedCases out{command, "", verdict_of(error.code), exit_status, error.text(), {}};
  const bool refused = error.code == ErrorCode::kRejected;
  out.completed = refused;
  ReportedCase found{refused ? "acceptance" : "error",
                     exit_status == 3 ? State::kUnknown : State::kFail, error.text()};
  // What is no file's name (an option's, a command) has no place.
  ReportedCase::Place place = place_of(error.where);
  if (error.pc >= 0) place.pc = static_cast<std::size_t>(error.pc);
  if (place.line || place.pc) found.place = std::move(place);
  out.cases.push_back(std::move(found));
  return out;
}

}  // namespace secequiv
