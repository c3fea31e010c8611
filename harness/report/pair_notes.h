// What answers about policies do not cover: other hosts and containers, parts of the files that are
// only for those, and runtimes that refuse a file. Owns the wording and the forms in all reports.
// It must not know how policies are read (analyze/load.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/import/import_oci.h"
#include "harness/report/reported.h"

namespace secequiv {

// The host and the container for which profiles were read.
struct ReadFor {
  std::string arch;
  std::string kernel;
  std::vector<std::string> capabilities;
};

// The options of the command line that choose the host and the container.
inline constexpr std::string_view kHostOptions = "--arch, --kernel-version, --cap";

// Returns "holds for x86_64, Linux 6.1, no capabilities (...)", or "". `how` names the options.
std::string holds_for(const std::optional<ReadFor>& host, std::string_view how = kHostOptions);
// Returns the text of holds_for() as a line, or "".
std::string holds_for_line(const std::optional<ReadFor>& host);

struct ReadNotes {
  std::optional<ReadFor> read_for = {};  // set if the profiles depend on host or container
  // Why some of the chosen container runtimes do not load a profile.
  std::vector<LoadFailure> failures = {};
  // Calls for which a profile has several meanings. The answer is about one of them.
  std::vector<MixedCall> choices = {};
};

struct PairNotes : ReadNotes {
  // Parts that make the profiles differ only for other hosts or containers.
  std::vector<RulePosition> not_compared = {};
  bool require_whole = false;  // an answer about a part of the profiles is not enough
  bool require_loads = false;  // such a failure is a finding

  // Returns kFail if `verdict` means success and a failure is a finding. Returns kUnknown if
  // `verdict` means success, but a profile has several meanings, or the profiles had to be compared
  // as a whole and were not; otherwise `verdict`.
  [[nodiscard]] Verdict concluded(Verdict verdict) const;
  // Returns why concluded() replaces a success.
  [[nodiscard]] std::string reason() const;
  // Replaces `verdict` by concluded(verdict), and sets the reason if that is another verdict.
  void conclude(Verdict& verdict, std::string& reason) const;

  // Returns " for these capabilities and this kernel (2 entries were not compared)", or "". This
  // text follows a verdict of equivalence.
  [[nodiscard]] std::string limits() const;
  // Returns the warning about the parts, without their positions, or "".
  [[nodiscard]] std::string warning(std::string_view how = kHostOptions) const;
  // Returns the warning with the first positions, or "".
  [[nodiscard]] std::string short_warning(std::string_view how = kHostOptions) const;
};

// Add the notes to a report. `failed` is the state of the cases about runtimes.
void add_notes(const ReadNotes& notes, nlohmann::ordered_json& document);
void add_notes(const ReadNotes& notes, ReportedCases& report,
               ReportedCase::State failed = ReportedCase::State::kWarning);
void add_notes(const PairNotes& notes, nlohmann::ordered_json& document);
void add_notes(const PairNotes& notes, ReportedCases& report);

}  // namespace secequiv
