// What an answer about policies does not cover: other hosts and containers, and parts of the files
// that are only for those. Owns the wording and the forms in all reports. It must not know how
// policies are read (analyze/load.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/reported.h"

namespace secequiv {

struct PairNotes {
  // The host and the container for which a profile was read.
  struct ReadFor {
    std::string arch;
    std::string kernel;
    std::vector<std::string> capabilities;
  };
  std::optional<ReadFor> read_for = {};  // set if the profiles have conditions on it
  // Parts that only one of two profiles has, for other hosts or containers.
  std::vector<RulePosition> not_compared = {};

  // Returns "holds for x86_64, Linux 6.1, no capabilities (...)", or "".
  [[nodiscard]] std::string holds_for() const;
  // Returns the warning about the parts, without their positions, or "".
  [[nodiscard]] std::string warning() const;
  // Returns the warning with the first positions, or "".
  [[nodiscard]] std::string short_warning() const;
};

// These add the notes to a report.
void add_notes(const PairNotes& notes, nlohmann::ordered_json& document);
void add_notes(const PairNotes& notes, ReportedCases& report);

}  // namespace secequiv
