#include "harness/report/bisect.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/hunt.h"

namespace secequiv {
namespace {

std::string_view state_name(VersionState state) {
  switch (state) {
    case VersionState::kUntried:
      return "not tried";
    case VersionState::kPass:
      return "pass";
    case VersionState::kFinding:
      return "finding";
    case VersionState::kSkipped:
      return "skipped";
  }
  return "";
}

std::string first_line(std::string_view text) {
  return printable(trimmed(text.substr(0, text.find('\n'))), false);
}

std::string version_line(const VersionAnswer& one, std::size_t width) {
  std::string out = fmt::format("  {:<{}}  {:<9}  {}", printable(one.version, false), width,
                                state_name(one.state), first_line(one.reason));
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace

std::string bisect_text(const BisectReport& report) {
  std::string out;
  if (report.found) out += hunt_text(*report.found) + "\n";
  out += fmt::format("{}: {}\n", report.kind, printable(report.target, false));
  std::size_t width = 0;
  for (const VersionAnswer& one : report.versions)
    width = std::max(width, printable(one.version, false).size());
  for (const VersionAnswer& one : report.versions) out += version_line(one, width);
  if (report.certificate) out += certificate_text(*report.certificate, report.sameness);
  for (const std::string& note : report.notes) out += "note: " + printable(note, false) + "\n";
  return out +
         fmt::format("verdict: {} ({})\n", verdict_name(report.verdict), first_line(report.reason));
}

void describe(Fields<VersionAnswer>& one) {
  one("version", "Its name.", &VersionAnswer::version);
  one(
      "state", "skipped: it cannot be built or started, or gives no verdict.",
      [](const VersionAnswer& it) { return state_name(it.state); },
      names_of(state_name, VersionState::kSkipped));
  one("reason", "What it answered, or why it was skipped. Missing if it was not tried.",
      [](const VersionAnswer& it) { return unless_empty(printable(it.reason, true)); });
  one("same_finding",
      "Whether it fails for the program of the first version with a finding. Missing if this "
      "version was not run on that program.",
      &VersionAnswer::same_finding);
}

void describe(Fields<BisectReport>& report) {
  using Report = BisectReport;
  const auto version = [](std::optional<std::size_t> Report::* place) {
    return [place](const Report& it) -> std::optional<std::string> {
      if (!(it.*place)) return std::nullopt;
      return it.versions[*(it.*place)].version;
    };
  };
  report.document("bisect", 1, "secequiv bisect --json",
                  "What each version of the code under test answered, and the first version with a "
                  "finding.");
  report(
      "verdict",
      "pass: the newest version has no finding, nor has any other that was tried. unknown: no "
      "finding, but the newest version was skipped, or the search was interrupted. Otherwise the "
      "verdict of the first version with a finding. Exit status: 0 for pass, 1 for different and "
      "fail, 3 for unknown, 4 for rejected, 5 for crashed.",
      [](const Report& it) { return verdict_name(it.verdict); },
      words({"pass", "different", "fail", "unknown", "rejected", "crashed"}));
  report("reason", "The reason for the verdict, in a sentence.",
         [](const Report& it) { return printable(it.reason, true); });
  report("kind", "What was tested.", &Report::kind, words({"optimizer", "compiler", "evaluator"}));
  report("target", "The code under test as the user named it, with {version}.", &Report::target);
  report("versions", "All versions, oldest first.", &Report::versions, list_of<VersionAnswer>(1));
  report("first", "The first version with a finding. Missing if there is none.",
         version(&Report::first));
  report("last_pass", "The last version before it that passes. Missing if there is none.",
         version(&Report::last_pass));
  report("notes",
         "Versions that make the answer less than certain: skipped ones, and those that show that "
         "the history is not monotone.",
         &Report::notes);
  report("found", "The report about the first version with a finding.", &Report::found);
  report("certificate",
         "With --save: the proof that the last version without a finding is right for the stored "
         "program. Missing for evaluators.",
         &Report::certificate);
  if (!report.for_schema()) return;
  report.rule(
      has({"first"}),
      all({has({"found"}), is_one_of("verdict", {"different", "fail", "rejected", "crashed"})}),
      all({is_one_of("verdict", {"pass", "unknown"}),
           lacks({"found", "last_pass", "certificate"})}));
}

}  // namespace secequiv
