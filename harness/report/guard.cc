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

using nlohmann::ordered_json;

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

ordered_json side_json(const SeccompData& data, std::uint32_t value, const DecidingRule& by) {
  ordered_json out{{"input", to_json(data)}, {"value", value_json(value)}};
  if (by.position.at != nullptr) out["origin"] = to_json(*by.position.at);
  return out;
}

ordered_json kernel_json(const SplitReport& split) {
  if (!split.answers) return {{"not_run", split.not_run}};
  return {{"refused", split.answers->refused.text()},
          {"allowed", split.answers->allowed.text()},
          {"unfiltered", split.answers->unfiltered.text()}};
}

ordered_json splits_json(const std::vector<SplitReport>& splits) {
  ordered_json out = ordered_json::array();
  for (const SplitReport& split : splits) {
    out.push_back({{"arch", arch_info(split.arch).name},
                   {"nr", split.nr},
                   {"call", syscall_name(split.arch, split.nr)},
                   {"arguments", split.arguments},
                   {"ignored", ignored_differences(split.refused, split.allowed)},
                   {"refused", side_json(split.refused, split.refused_value, split.refused_by)},
                   {"allowed", side_json(split.allowed, split.allowed_value, split.allowed_by)},
                   {"instead", advice(split)}});
    if (split.answers || !split.not_run.empty()) out.back()["kernel"] = kernel_json(split);
  }
  return out;
}

}  // namespace

std::string guard_text(const GuardReport& report) {
  std::string out = fmt::format("{}: {}\n", verdict_name(report.verdict()), summary(report));
  for (const SplitRow& row : split_rows(report.holes)) out += message(row) + "\n" + detail_of(row);
  for (const DoorFinding& finding : report.doors) out += door_text(finding);
  return out + strict_note(report);
}

ordered_json to_json(const GuardReport& report) {
  ordered_json out{{"schema", "secequiv.guard/1"},
                   {"verdict", verdict_name(report.verdict())},
                   {"holes", splits_json(report.holes)},
                   {"stricter", splits_json(report.strict)},
                   {"doors", ordered_json::array()}};
  for (const DoorFinding& finding : report.doors) out["doors"].push_back(to_json(finding));
  if (!report.unknown.empty()) out["reason"] = report.unknown;
  add_notes(report.notes, out);
  return out;
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
