// The report of `bisect`: what each version of the code under test answered, and the first version
// with a finding. Owns the report value and its text and JSON. It must not run any version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/hunt_report.h"
#include "harness/report/describe.h"
#include "harness/report/prove.h"

namespace secequiv {

enum class VersionState : std::uint8_t {
  kUntried,
  kPass,
  kFinding,
  kSkipped,  // it cannot be built or started, or gives no verdict
};

struct VersionAnswer {
  std::string version;
  VersionState state = VersionState::kUntried;
  std::string reason;  // a sentence; empty for kUntried
  // Whether this version fails on the same program as the first version with a finding. Empty if
  // unknown.
  std::optional<bool> same_finding;
};

struct BisectReport {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;
  std::string kind;                      // "optimizer", "compiler", "evaluator"
  std::string target;                    // as the user named it, with {version}
  std::vector<VersionAnswer> versions;   // oldest first
  std::optional<std::size_t> first;      // the first version with a finding
  std::optional<std::size_t> last_pass;  // the last version before it that passes
  std::vector<std::string> notes;        // what makes the answer less than certain
  std::optional<HuntReport> found;       // the hunt in the first version with a finding
  // With --save: the proof that `last_pass` is right for the stored program.
  std::optional<CertificateReport> certificate;
  Sameness sameness = Sameness::kRaw;
};

// Returns the text; the verdict is in the last line.
std::string bisect_text(const BisectReport& report);
void describe(Fields<VersionAnswer>& one);
void describe(Fields<BisectReport>& report);

}  // namespace secequiv
