#include "harness/report/pair_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/import/capabilities.h"
#include "harness/report/json.h"
#include "harness/report/rule.h"

namespace secequiv {
namespace {

nlohmann::ordered_json choice_json(const MixedCall& mixed) {
  const SyscallRule& entry = mixed.entries.front().rules.front();
  nlohmann::ordered_json out{{"arch", arch_info(entry.arch).name},
                             {"syscall", syscall_name(entry.arch, entry.nr)},
                             {"entries", nlohmann::ordered_json::array()}};
  for (const RulePosition& position : mixed.matching()) out["entries"].push_back(to_json(position));
  if (mixed.input) out["input"] = to_json(*mixed.input);
  if (mixed.contradiction) out["contradiction"] = mixed.contradiction->text;
  return out;
}

}  // namespace

std::string holds_for(const std::optional<ReadFor>& host, std::string_view how) {
  if (!host) return "";
  return fmt::format("holds for {}, Linux {}, {} ({})", host->arch, host->kernel,
                     capabilities_text(host->capabilities), how);
}

std::string holds_for_line(const std::optional<ReadFor>& host) {
  return host ? holds_for(host) + "\n" : "";
}

void add_notes(const ReadNotes& notes, nlohmann::ordered_json& document) {
  if (const auto& host = notes.read_for)
    document["read_for"] = {
        {"arch", host->arch}, {"kernel", host->kernel}, {"capabilities", host->capabilities}};
  for (const LoadFailure& failure : notes.failures)
    document["not_loaded"].push_back(to_json(failure));
  for (const MixedCall& mixed : notes.choices) document["choices"].push_back(choice_json(mixed));
}

void add_notes(const ReadNotes& notes, ReportedCases& report, ReportedCase::State failed) {
  report.holds_for = holds_for(notes.read_for);
  for (const LoadFailure& failure : notes.failures) {
    ReportedCase& one = report.cases.emplace_back("profile", failed, failure.problem());
    one.place = ReportedCase::Place{
        failure.position.file, false, {}, static_cast<std::uint32_t>(failure.position.line)};
  }
}

Verdict PairNotes::concluded(Verdict verdict) const {
  if (require_loads && !failures.empty() && exit_code(verdict) == 0) return Verdict::kFail;
  const bool limited = !choices.empty() || (require_whole && !not_compared.empty());
  return limited && exit_code(verdict) == 0 ? Verdict::kUnknown : verdict;
}

std::string PairNotes::reason() const {
  if (require_loads && !failures.empty()) return failures.front().text();
  return choices.empty() ? "the profiles were not compared as a whole" : choices.front().text();
}

void PairNotes::conclude(Verdict& verdict, std::string& reason) const {
  if (concluded(verdict) == verdict) return;
  verdict = concluded(verdict);
  reason = this->reason();
}

std::string PairNotes::limits() const {
  if (not_compared.empty()) return "";
  const std::size_t count = not_compared.size();
  return fmt::format(" for these capabilities and this kernel ({} not compared)",
                     count == 1 ? "1 entry was" : fmt::format("{} entries were", count));
}

std::string PairNotes::warning(std::string_view how) const {
  return not_compared.empty() ? ""
                              : fmt::format(
                                    "the profiles also differ in parts for other capabilities, "
                                    "architectures or kernels, which were not compared (see {})",
                                    how);
}

std::string PairNotes::short_warning(std::string_view how) const {
  constexpr std::size_t kShown = 3;
  if (not_compared.empty()) return {};
  return fmt::format(
      "{}: {}", warning(how),
      first_and_count(not_compared, kShown, [](const auto& one) { return one.text(); }));
}

void add_notes(const PairNotes& notes, nlohmann::ordered_json& document) {
  add_notes(static_cast<const ReadNotes&>(notes), document);
  if (notes.not_compared.empty()) return;
  document["not_compared"] = nlohmann::ordered_json::array();
  for (const RulePosition& part : notes.not_compared)
    document["not_compared"].push_back(to_json(part));
}

void add_notes(const PairNotes& notes, ReportedCases& report) {
  add_notes(notes, report,
            notes.require_loads ? ReportedCase::State::kFail : ReportedCase::State::kWarning);
  report.limits = notes.limits();
  for (const MixedCall& mixed : notes.choices) {
    const RulePosition first = mixed.matching().front();
    ReportedCase& one =
        report.cases.emplace_back("profile", ReportedCase::State::kWarning, mixed.text());
    one.place = ReportedCase::Place{first.file, false, {}, static_cast<std::uint32_t>(first.line)};
  }
  if (notes.not_compared.empty()) return;
  ReportedCase& one =
      report.cases.emplace_back("profile", ReportedCase::State::kWarning, notes.short_warning());
  for (const RulePosition& part : notes.not_compared) one.detail += part.text() + "\n";
  const RulePosition& first = notes.not_compared.front();
  one.place = ReportedCase::Place{first.file, false, {}, static_cast<std::uint32_t>(first.line)};
}

}  // namespace secequiv
