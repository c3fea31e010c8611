// The report of `precompile`: which instructions contain the variables of a policy, and whether the
// program is correct for all their values. Owns the report's three shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/proof.h"

namespace secequiv {

struct PrecompileReport {
  struct Variable {
    std::string name;
    std::uint32_t value = 0;          // the policy's own
    std::vector<std::size_t> places;  // instructions, ascending; none if the program needs none
  };
  std::string policy;  // its name
  std::size_t instructions = 0;
  std::vector<Variable> variables;
  std::optional<Proof> proof;  // a proof for all values; its symbols are the names in `variables`
  // If a witness shows a difference: what compiles from the policy with its values, and the
  // precompiled program with them.
  Program before;
  Program after;

  // A program without a proof is written only if the user skipped the proof.
  [[nodiscard]] bool may_be_written() const {
    return !proof || proof->verdict == Verdict::kEquivalent;
  }
};

// `file`: the policy's, for the first line.
std::string precompile_text(const PrecompileReport& report, const std::string& file);
nlohmann::ordered_json to_json(const PrecompileReport& report);  // "secequiv.precompile/1"

// Comment lines above a precompiled program: the policy, and its own values of the variables.
std::string precompile_header(const PrecompileReport& report);

}  // namespace secequiv
