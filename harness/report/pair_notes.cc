#include "harness/report/pair_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/import/capabilities.h"
#include "harness/report/json.h"
#include "harness/report/rule.h"

namespace secequiv {
std::string holds_for(const std::optional<ReadFor>& host, std::string_view how) {
  if (!host) return "";
  return fmt::format("holds for {}, Linux {}, {} ({})", host->arch, host->kernel,
                     capabilities_text(host->capabilities), how);
}

std::string holds_for_line(const std::optional<ReadFor>& host) {
  return host ? holds_for(host) + "\n" : "";
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

void describe(Fields<ReadFor>& host) {
  host.is("read_for",
          "Present if a policy has conditions on the host or the container. The answer then holds "
          "only for the host and the container given here.");
  host("arch", "The host's architecture (--arch).", &ReadFor::arch);
  host("kernel", "The host's kernel version (--kernel-version).", &ReadFor::kernel);
  host("capabilities", "The container's capabilities (--cap).", &ReadFor::capabilities);
}

void describe(Fields<ReadNotes>& notes) {
  notes("read_for", "", &ReadNotes::read_for);
  notes(
      "not_loaded",
      "Why some of the container runtimes that count (--runtime) do not load a profile.",
      [](const ReadNotes& it) { return unless_empty(it.failures); }, list_of<LoadFailure>(1));
  notes(
      "choices",
      "Calls whose entries in a container profile have different actions and match the same "
      "inputs. libseccomp chooses one of the entries, regardless of their order, so a success "
      "becomes 'unknown'. Also calls that the libseccomp of this machine decides in another way.",
      [](const ReadNotes& it) { return unless_empty(it.choices); }, list_of<MixedCall>(1));
}

void describe(Fields<MixedCall>& mixed) {
  const auto call = [](const MixedCall& it) -> const SyscallRule& {
    return it.entries.front().rules.front();
  };
  mixed("arch", "", [=](const MixedCall& it) { return arch_info(call(it).arch).name; }, any_text());
  mixed(
      "syscall", "", [=](const MixedCall& it) { return syscall_name(call(it).arch, call(it).nr); },
      any_text());
  mixed("entries", "The entries that match the input.", &MixedCall::matching,
        list_of<RulePosition>(1));
  mixed("input",
        "Missing if a limit was reached before an input was found, or if libseccomp makes no "
        "filter.",
        &MixedCall::input);
  mixed(
      "contradiction",
      "What the libseccomp of this machine answers, if it makes another filter of the profile "
      "than secequiv reads, or none.",
      [](const MixedCall& it) -> std::optional<std::string> {
        if (!it.contradiction) return std::nullopt;
        return it.contradiction->text;
      },
      any_text());
}

void describe(Fields<PairNotes>& notes) {
  notes.include([](const PairNotes& it) -> const ReadNotes& { return it; });
  notes(
      "not_compared",
      "Entries that only one of the two container profiles has and that apply to other hosts or "
      "containers. They were not compared.",
      [](const PairNotes& it) { return unless_empty(it.not_compared); }, list_of<RulePosition>(1));
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
