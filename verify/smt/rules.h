// Owns proofs of rewrites (verify/rules) with Z3: both sides end in the same way for all values of
// the symbols that meet the condition, all registers, all of M[] and all inputs. It also owns the
// search for small counterexamples and for weaker conditions. It must not know files of rules. Z3's
// types stay in the .cc file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/verdict.h"
#include "verify/rules/rule.h"

namespace secequiv::smt {

struct RuleProof {
  Verdict verdict = Verdict::kUnknown;  // kEquivalent, kDifferent or kUnknown
  std::size_t members = 0;              // proven members of the family; 1 without a family
  std::optional<rules::Indices> at;     // kDifferent: indices of the wrong member
  std::vector<rules::Symbol> symbols;  // symbols of that member, in the order of the counterexample
  std::optional<rules::Counterexample> counterexample;  // replayed
  std::string detail;                                   // kUnknown: the limit that was reached
  double seconds = 0;
};

// Proves or refutes all members of a rewrite. `timeout_seconds` limits the whole call.
// The search tries the kinds of counterexamples in order (exit, value, state, illegal), and then
// sets as many values as possible to 0.
// Errors: kParse for mistakes that appear only when a family is expanded; kPolicy if no
// values meet the condition, because that would prove nothing; kInternal if a model of Z3 does not
// replay.
Result<RuleProof> prove_rule(const rules::Rewrite& rule, double timeout_seconds,
                             std::size_t memory_mib = 4096);

// Conditions over the symbols under which a rewrite is right. They use a small vocabulary:
// comparisons of a symbol with some numbers or another symbol, bits that are set or shared, and
// pairs of these. Parts of the rewrite's own condition about A, X, M[] and the input remain in
// force.
struct WeakestCondition {
  enum class Exact : std::uint8_t {
    kYes,      // all other values make the rewrite wrong in some state
    kNo,       // other values make it right, too, for example `outside`
    kUnknown,  // not decided within the limits
  };
  Verdict verdict = Verdict::kUnknown;  // kEquivalent: see `any_of`; kDifferent: no condition found
  // Each condition suffices, and none implies another. "true" means that no condition is needed.
  std::vector<std::string> any_of;
  Exact exact = Exact::kUnknown;
  std::vector<std::uint32_t> outside;  // kNo: values of the symbols
  std::vector<rules::Symbol> symbols;
  std::size_t tried = 0;
  std::string detail;  // kUnknown: the limit that was reached
};

// Searches for such conditions. Errors: those of prove_rule(), and kUsage for a family.
Result<WeakestCondition> weakest_condition(const rules::Rewrite& rule, double timeout_seconds,
                                           std::size_t memory_mib = 4096);

// Returns up to `count` different assignments that meet the condition and whose `before` the kernel
// accepts. Symbols get random values where the condition permits that.
Result<std::vector<rules::Assignment>> some_assignments(const rules::Instance& instance,
                                                        std::size_t count, std::uint64_t seed,
                                                        double timeout_seconds);

}  // namespace secequiv::smt
