#include "harness/report/reported.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/compare/common_steps.h"
#include "harness/report/direction.h"
#include "harness/report/regions.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using State = ReportedCase::State;

constexpr std::size_t kMostSteps = 200;  // how many last steps of each trace are reported

constexpr CaseKind kKinds[] = {
    {"acceptance", "The kernel refuses a program",
     "The kernel's checker would refuse a program, so it cannot be installed."},
    {"decision", "The two filters decide differently",
     "The two filters return different values for one system call. If the second allows what the "
     "first denied, the sandbox has a hole."},
    {"coverage", "Edges are neither covered nor proven infeasible",
     "It is unknown whether an input takes this edge, and what the filter then decides."},
    {"proof", "The filters are not proven equivalent",
     "Equivalence over all 2^512 inputs is not proven."},
    {"refinement", "The second filter may be more permissive",
     "The second filter allows something that the first did not."},
    {"property", "The filter may violate the property",
     "The filter violates a clause of the property for some input."},
    {"fuzzing", "Fuzzing ended early",
     "Fuzzing ended before the requested time or number of inputs."},
    {"unread", "A file could not be read", "A file could not be read, so the run did not test it."},
    {"cache", "System calls left the kernel's cache",
     "Linux answered these calls without running the filter, and now runs it each time."},
    {"oracle", "Linux contradicts this tool's interpreter",
     "Linux and this tool's interpreter disagree, so the verdict on this filter is not reliable."},
    {"difference", "The second filter decides differently",
     "The second filter decides differently for these inputs."},
    {"finding", "The code under test made a mistake",
     "An optimizer, compiler or evaluator gave a wrong answer or no answer."},
    {"lint", "A rule has no effect, or not the intended one",
     "A rule without effect is often a mistake."},
    {"hole", "Bits that the kernel ignores decide",
     "The filter refuses an input and allows another one that the kernel cannot tell apart."},
    {"door", "An allowed call replaces a refused one",
     "The filter refuses a system call and allows another one that has the same effect."},
    {"profile", "Parts of the profiles were not compared",
     "The profiles also differ in parts for other hosts or containers, which were not compared."},
    {"rewrite", "A rewrite rule is not as expected",
     "The proof of a rewrite rule does not have the expected result."},
    {"verdict", "The command did not pass", "The command did not end in a pass."},
    {"error", "An error ended the command", "An error ended the command."},
};

std::string step_text(ProgramView program, const TraceStep& step) {
  std::string out = fmt::format("{}: {}", step.pc, insn_text(program, step.pc));
  if (step.outcome) out += fmt::format(": {}", outcome_name(program[step.pc], *step.outcome));
  return out + fmt::format(" (A={:#x}, X={:#x})", step.a, step.x);
}

std::vector<ReportedCase::Step> steps(ProgramView program, const SourceFile& file,
                                      const Trace& run) {
  std::vector<ReportedCase::Step> out;
  const std::size_t from = run.steps.size() > kMostSteps ? run.steps.size() - kMostSteps : 0;
  for (std::size_t i = from; i < run.steps.size(); ++i)
    out.push_back({place_in(file, run.steps[i].pc), step_text(program, run.steps[i])});
  if (from != 0)
    out.front().message += fmt::format("; {} steps before this one are not shown", from);
  return out;
}

}  // namespace

void set_direction(const std::optional<Direction>& direction, Arch host, ReportedCases& out) {
  out.direction = direction_line(direction, host);
  if (direction) out.effect = direction->effect();
}

std::span<const CaseKind> case_kinds() { return kKinds; }

std::string file_of(const SideFiles& files) {
  return files.after.path.empty() ? files.before.path : files.after.path;
}

State state_of(Verdict verdict) {
  if (exit_code(verdict) == 0) return State::kPass;
  return verdict == Verdict::kUnknown ? State::kUnknown : State::kFail;
}

std::string title_of(const ReportedCase& one) {
  return one.name.empty() ? one.kind : one.kind + " " + one.name;
}

std::string place_text(const ReportedCase& one) {
  if (!one.place || one.place->path.empty()) return "";
  std::string out = "at " + one.place->path;
  if (one.place->line) out += fmt::format(", line {}", *one.place->line);
  if (one.place->pc) out += fmt::format(", instruction {}", *one.place->pc);
  return out;
}

ReportedCase::Place place_in(const SourceFile& file, std::optional<std::size_t> pc) {
  ReportedCase::Place out{file.path, file.raw, pc, {}};
  if (pc && *pc < file.lines.size()) out.line = file.lines[*pc];
  return out;
}

void show_witness(ReportedCase& one, ProgramView before, ProgramView after, const Witness& witness,
                  const SideFiles& files) {
  const Trace first = trace(before, witness.data);
  const Trace second = trace(after, witness.data);
  one.witness = witness;
  one.traces = {steps(before, files.before, first), steps(after, files.after, second)};
  const auto parting = common_steps(before, first, after, second).parting;
  if (!parting) return;  // not reached: a witness's results differ
  one.before = place_in(files.before, first.steps[(*parting)[0]].pc);
  one.place = place_in(files.after, second.steps[(*parting)[1]].pc);
}

namespace {

// Returns the place without its instruction, or nothing if there is no file.
std::optional<ReportedCase::Place> file_only(const ReportedCase::Place& place) {
  if (place.path.empty()) return {};
  return ReportedCase::Place{place.path, false, {}, {}};
}

}  // namespace

void place_by_rules(ReportedCase& one, const DecidingRules& rules) {
  const auto place = [](const DecidingRule& rule) -> std::optional<ReportedCase::Place> {
    if (rule.text.empty() || rule.position.at == nullptr ||
        rule.position.at->file == shown_name("-"))
      return {};
    const auto line = static_cast<std::uint32_t>(rule.position.at->line);
    return ReportedCase::Place{rule.position.at->file, false, {}, line};
  };
  const bool policies = !rules.before.text.empty() && !rules.after.text.empty();
  if (policies) {
    one.traces.clear();
    for (std::optional<ReportedCase::Place>* known : {&one.before, &one.place})
      if (*known) *known = file_only(**known);
  }
  const auto before = place(rules.before);
  const auto after = place(rules.after);
  const bool gone = before && rules.after.by_default && !rules.before.by_default;
  if (before) one.before = before;
  if (after && !gone)
    one.place = after;
  else if (before)
    one.place = before;
}

void conclude(ReportedCases& report) {
  const bool shown = std::ranges::any_of(report.cases, [](const ReportedCase& one) {
    return one.state == State::kFail || one.state == State::kUnknown;
  });
  const State state = report.exit_status == 0   ? State::kPass
                      : report.exit_status == 3 ? State::kUnknown
                                                : State::kFail;
  if (shown && state != State::kPass) return;
  report.cases.push_back(
      {"verdict", state, fmt::format("{}: {}", report.limited_verdict(), report.reason)});
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
  const std::vector<std::size_t> counts = allotted(difference.changes, most);
  for (std::size_t at = 0; at < counts.size(); ++at) {
    const Change& change = difference.changes[at];
    const std::size_t shown = counts[at];
    const bool stricter = effect_of(change.before, change.after) == Effect::kClosed;
    for (std::size_t i = 0; i < shown; ++i) {
      const Region& region = change.where.regions[i];
      ReportedCase one{"difference", State::kFail, short_condition(summary(change, region, host))};
      one.only_stricter = stricter;
      one.name = fmt::format("{}", out.cases.size() + 1);
      one.detail = fmt::format("{}: {}\n", counted(count_text(region.count), "input"),
                               short_condition(condition_text(region, host, Values::kNamed)));
      if (const auto witness = replay(question, region.example()); witness) {
        one.witness = witness;
        if (single) show_witness(one, question.before[0], question.after[0], *witness, *files);
      }
      out.cases.push_back(std::move(one));
    }
    if (change.where.is_all(shown)) continue;
    out.cases.push_back(
        {"difference", State::kFail, not_shown_text(shown, change.where.region_count, 0)});
    out.cases.back().only_stricter = stricter;
  }
  if (out.cases.empty())
    out.cases.push_back({"difference", State::kPass, "no input shows a difference"});
  return out;
}

ReportedCases refused(const std::string& command, const std::string& subject,
                      const std::string& detail) {
  ReportedCases out{command, subject, Verdict::kRejected, exit_code(Verdict::kRejected),
                    detail,  {}};
  out.file = subject;  // only programs from files are refused here
  out.cases.push_back(
      {"acceptance", State::kFail, fmt::format("the kernel refuses {}: {}", subject, detail)});
  return out;
}

ReportedCase::Place place_of(std::string where) {
  // The text may be "file:12#/syscalls/0".
  if (const std::size_t pointer = where.find("#/"); pointer != std::string::npos)
    if (auto line = place_of(where.substr(0, pointer)); line.line) return line;
  std::vector<std::uint32_t> numbers;  // the last number comes first
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
  // The name of an option or a command has no line, so it does not become a place.
  ReportedCase::Place place = place_of(error.where);
  if (error.pc >= 0) place.pc = static_cast<std::size_t>(error.pc);
  if (place.line || place.pc) found.place = std::move(place);
  out.cases.push_back(std::move(found));
  return out;
}

}  // namespace secequiv
