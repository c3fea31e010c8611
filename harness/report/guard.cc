#include "harness/report/guard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "harness/base/text.h"
#include "harness/compare/cache_change.h"
#include "harness/report/alike.h"
#include "harness/report/json.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/input_class.h"
#include "harness/seccomp/seen_bits.h"

namespace secequiv {
namespace {

std::string arguments_text(const std::vector<int>& arguments) {
  std::vector<std::string> names;
  names.reserve(arguments.size());
  for (const int argument : arguments) names.push_back(fmt::format("arg{}", argument));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string decided(std::uint32_t value, const DecidingRule& by) {
  const std::string rule = by.shown();
  return describe_action(value) + (rule.empty() ? "" : ": " + rule);
}

// Says how to write the test of an argument instead.
std::string advice(const SplitReport& split) {
  std::vector<std::string> out;
  const SeenArguments seen = seen_arguments(arch_info(split.arch).audit, split.nr);
  for (const int argument : split.arguments) {
    const std::uint64_t bits = seen[static_cast<std::size_t>(argument)].bits;
    if (bits == 0) {
      out.push_back(fmt::format("do not test arg{}", argument));
    } else {
      out.push_back(fmt::format("compare arg{} & {:#x}", argument, bits));
    }
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

// Returns the line about the running kernel, or "" if nobody asked it.
std::string kernel_line(const SplitReport& split) {
  if (!split.not_run.empty()) return fmt::format("  kernel:  not run: {}\n", split.not_run);
  if (!split.answers) return "";
  if (split.answers->alike())
    return fmt::format("  kernel:  {} for both inputs, with and without the filter\n",
                       split.answers->unfiltered.text());
  return fmt::format(
      "  kernel:  {} for the refused input; {} for the other one, as without the "
      "filter\n",
      split.answers->refused.text(), split.answers->allowed.text());
}

using SplitRow = Alike<SplitReport>;

std::vector<SplitRow> split_rows(const std::vector<SplitReport>& splits) {
  const auto key = [](const SplitReport& split) {
    return fmt::format(
        "{} {} {} {} {} {}", syscall_name(split.arch, split.nr), arguments_text(split.arguments),
        decided(split.refused_value, split.refused_by),
        decided(split.allowed_value, split.allowed_by), advice(split), kernel_line(split));
  };
  return alike_on_arches(splits, key, [](const SplitReport& split) { return split.arch; });
}

std::string title(const SplitRow& row) {
  const SplitReport& split = *row.first;
  return fmt::format("{}:{} {}", row.names(), syscall_name(split.arch, split.nr),
                     arguments_text(split.arguments));
}

// Returns the call with all arguments in which the inputs differ.
std::string call_of(const SplitReport& split, const SeccompData& data) {
  return shown_call(data, split.arguments.back() + 1);
}

std::string message(const SplitRow& row) {
  const SplitReport& split = *row.first;
  return fmt::format("{}: {}, so {} passes with the effect of {}, which {}", title(row),
                     fmt::join(ignored_differences(split.refused, split.allowed), "; "),
                     call_of(split, split.allowed), call_of(split, split.refused),
                     precedence(behaviour_of(split.refused_value)) > precedence(SECCOMP_RET_ERRNO)
                         ? "only a tracer or a supervisor may allow"
                         : "is refused");
}

std::string detail_of(const SplitRow& row) {
  const SplitReport& split = *row.first;
  return fmt::format("  refused: {}  {}\n  allowed: {}  {}\n{}  instead: {}\n",
                     call_of(split, split.refused), decided(split.refused_value, split.refused_by),
                     call_of(split, split.allowed), decided(split.allowed_value, split.allowed_by),
                     kernel_line(split), advice(split));
}

std::string strict_note(const GuardReport& report) {
  if (report.strict.empty()) return "";
  return fmt::format(
      "note: stricter than needed, because these tests include bits that the kernel ignores: {}\n",
      first_and_count(split_rows(report.strict), 8, title));
}

std::size_t doors(const GuardReport& report, bool certain) {
  return static_cast<std::size_t>(std::ranges::count(report.doors, certain, &DoorFinding::certain));
}

std::string summary(const GuardReport& report) {
  if (!report.unknown.empty()) return report.unknown;
  const std::size_t ways = split_rows(report.holes).size() + doors(report, true);
  const std::size_t possible = doors(report, false);
  std::string out =
      ways == 0 ? "no way around this filter found" : counted(ways, "way") + " around this filter";
  if (possible != 0) out += fmt::format(", and {} possible", counted(possible, "way"));
  return out;
}

// One of the inputs.
struct SplitSide {
  const SeccompData& data;
  std::uint32_t value;
  const DecidingRule& by;
};

void describe(Fields<SplitSide>& side) {
  side.is("decided", "One input, and what the filter decides for it.");
  side("input", "The input.", [](const SplitSide& it) { return it.data; });
  side("value", "The return value.", [](const SplitSide& it) { return ShownValue{it.value}; });
  side("origin", "Where the policy's file has the rule or the default action that decides.",
       [](const SplitSide& it) { return known(it.by.position); });
}

// What came of running both inputs.
struct Trial {
  const SplitReport& split;
};

void describe(Fields<Trial>& trial) {
  trial("not_run", "Why the calls were not run.",
        [](const Trial& it) { return unless_empty(it.split.not_run); });
  trial.include([](const Trial& it) { return it.split.answers; });
  if (!trial.for_schema()) return;
  trial.rule(has({"not_run"}), lacks({"refused", "allowed", "unfiltered"}),
             has({"refused", "allowed", "unfiltered"}));
}

}  // namespace

std::string guard_text(const GuardReport& report) {
  std::string out = fmt::format("{}: {}\n", verdict_name(report.verdict()), summary(report));
  for (const SplitRow& row : split_rows(report.holes)) out += message(row) + "\n" + detail_of(row);
  for (const DoorFinding& finding : report.doors) out += door_text(finding);
  return out + strict_note(report);
}

void describe(Fields<RealAnswers>& answers) {
  answers("refused",
          "The answer to the refused input, with the filter: the name of an error, 'ran' if there "
          "was none, or SIGSYS if the filter ended the process.",
          [](const RealAnswers& it) { return it.refused.text(); });
  answers("allowed", "The answer to the allowed input, with the filter.",
          [](const RealAnswers& it) { return it.allowed.text(); });
  answers("unfiltered",
          "The answer to each of the inputs without the filter. If the refused input has the same "
          "answer, the answers show nothing about the filter.",
          [](const RealAnswers& it) { return it.unfiltered.text(); });
}

void describe(Fields<SplitReport>& split) {
  split.is("pair",
           "Two inputs that the kernel cannot tell apart, one of which the filter refuses.");
  split("arch", "The architecture's name.",
        [](const SplitReport& it) { return arch_info(it.arch).name; });
  split("nr", "Number of the system call.", &SplitReport::nr, number32());
  split("call", "Name of the system call.",
        [](const SplitReport& it) { return syscall_name(it.arch, it.nr); });
  split("arguments", "The arguments in which the inputs differ, from 0.", &SplitReport::arguments,
        set_of(between(0, 5), 1));
  split(
      "ignored", "Why the kernel cannot tell the inputs apart, one sentence for each argument.",
      [](const SplitReport& it) { return ignored_differences(it.refused, it.allowed); },
      list_of(shapes::shape_of<std::string>(), 1));
  split(
      "refused", "The input that the filter refuses. The filter was run on it.",
      [](const SplitReport& it) { return SplitSide{it.refused, it.refused_value, it.refused_by}; });
  split(
      "allowed", "The input that the filter allows. The filter was run on it.",
      [](const SplitReport& it) { return SplitSide{it.allowed, it.allowed_value, it.allowed_by}; });
  split("instead", "What a test of these arguments should compare.", advice);
  split("kernel",
        "With --try, for holes: what the running kernel answered to these calls, or why they were "
        "not run.",
        [](const SplitReport& it) -> std::optional<Trial> {
          if (!it.answers && it.not_run.empty()) return std::nullopt;
          return Trial{it};
        });
}

void describe(Fields<GuardReport>& report) {
  report.document("guard", 1, "secequiv guard --json",
                  "Ways around a filter: inputs that it allows although it refuses another input "
                  "with the same effect.");
  report(
      "verdict",
      "fail: there is a way around the filter. unknown: a limit was reached, or the filter "
      "computes a return value.",
      [](const GuardReport& it) { return verdict_name(it.verdict()); },
      words({"pass", "fail", "unknown"}));
  report("holes",
         "One example for each system call and argument: programs usually pass the refused input, "
         "and other values of bits that the kernel ignores make the filter allow the same effect.",
         &GuardReport::holes);
  report("stricter",
         "Programs usually pass the allowed input, so the filter only refuses more than it needs "
         "to. One example for each system call and argument.",
         &GuardReport::strict);
  report("doors", "Other calls that have the effect of a refused one, one entry for each cause.",
         &GuardReport::doors);
  report("reason", "Why the answer is unknown.",
         [](const GuardReport& it) { return unless_empty(it.unknown); });
  report.include(&GuardReport::notes);
  if (!report.for_schema()) return;
  report.rule(is("verdict", "fail"),
              any({is_filled("holes"), some_in("doors", is("certain", true))}),
              all({is_empty("holes"), each_in("doors", is("certain", false))}));
  report.rule(is("verdict", "unknown"), has({"reason"}));
  report.rule(is("verdict", "pass"), lacks({"reason"}));
}

ReportedCases reported(const GuardReport& report) {
  const Verdict verdict = report.verdict();
  ReportedCases out{"guard", report.name, verdict, exit_code(verdict), summary(report), {}};
  out.file = report.file.path;
  add_notes(report.notes, out);
  for (const SplitRow& row : split_rows(report.holes)) {
    ReportedCase& added =
        out.cases.emplace_back("hole", ReportedCase::State::kFail, message(row), detail_of(row));
    added.name = title(row);
    const RulePosition* position = row.first->refused_by.position.at.get();
    if (position != nullptr)
      added.place = ReportedCase::Place{
          position->file, false, {}, static_cast<std::uint32_t>(position->line)};
  }
  for (const DoorFinding& finding : report.doors) {
    const auto state = finding.certain ? ReportedCase::State::kFail : ReportedCase::State::kWarning;
    ReportedCase& added =
        out.cases.emplace_back("door", state, door_line(finding), door_text(finding));
    added.name = fmt::format("{} {} {}", door_cause(finding.cause), arch_info(finding.arch).name,
                             finding.open.front().call);
  }
  conclude(out);
  return out;
}

}  // namespace secequiv
