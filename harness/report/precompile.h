// The report of `precompile`: which instructions contain the variables of a policy, and whether the
// program is correct for all their values. Owns the report value and its three shapes. It must not
// compile or prove anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/proof.h"
#include "harness/report/describe.h"

namespace secequiv {

struct PrecompileReport {
  struct Variable {
    std::string name;
    std::uint32_t value = 0;  // the value in the policy
    // Instructions that contain it, ascending; empty if the program does not use it.
    std::vector<std::size_t> places;
  };
  std::string policy;  // the name of the policy
  std::size_t instructions = 0;
  std::vector<Variable> variables;
  std::optional<Proof> proof;  // a proof for all values; its symbols are the names in `variables`
  // The program compiled from the policy and the precompiled program, both with the values of the
  // witness. Empty if there is no witness.
  Program before;
  Program after;

  // Returns whether the program may be written: it is proven, or the user skipped the proof.
  [[nodiscard]] bool may_be_written() const {
    return !proof || proof->verdict == Verdict::kEquivalent;
  }
};

// Returns the text. `file` is the policy's file, for the first line.
std::string precompile_text(const PrecompileReport& report, const std::string& file);
void describe(Fields<PrecompileReport::Variable>& variable);
void describe(Fields<PrecompileReport>& report);

// Returns the comment lines above a precompiled program: the policy's name, and the values of the
// variables in the policy.
std::string precompile_header(const PrecompileReport& report);

}  // namespace secequiv
