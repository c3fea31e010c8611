// Proves rules (verify/rules) with Z3: for all values of the symbols that meet the condition, all
// registers, all of M[] and all inputs both sides end alike. Owns the query and the search for
// small counterexamples and for weaker conditions. Z3's own types stay in the .cc file.
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
  Verdict verdict = Verdict::kUnknown;  // or kEquivalent, kDifferent
  std::size_t members = 0;              // of the family, proven; of a rule without one 1
  std::optional<rules::Indices> at;     // kDifferent: which member
  std::vector<rules::Symbol> symbols;   // of that member, as the counterexample counts them
  std::optional<rules::Counterexample> counterexample;  // replayed
  std::string detail;                                   // kUnknown: what ran out
  double seconds = 0;
};

// `timeout_seconds` bounds the whole call; what it finds is wrong first by kind (exit, value,
// state, illegal), then with as many zeros as it can have. Errors: kParse for what only shows once
// a family is written out; kPolicy if no values at all meet the condition, as that proves nothing;
// kInternal if a model of Z3 does not replay.
Result<RuleProof> prove_rule(const rules::Rule& rule, double timeout_seconds,
                             std::size_t memory_mib = 4096);

// Conditions over a rule's symbols under which it is right, from a small vocabulary: comparisons of
// a symbol with some numbers and with another one, bits that are set or shared, and two of these
// joined. What the rule's own condition says of A, X, M[] and the input stays.
struct WeakestCondition {
  enum class Exact : std::uint8_t {
    kYes,      // for all other values the rule is wrong in some state
    kNo,       // there are others; `outside` are some
    kUnknown,  // not found out within the limits
  };
  Verdict verdict = Verdict::kUnknown;  // kEquivalent: `any_of` is what was found; kDifferent: none
  // Each suffices, none implies another; empty strings never. "true": no condition is needed.
  std::vector<std::string> any_of;
  Exact exact = Exact::kUnknown;
  std::vector<std::uint32_t> outside;  // kNo: values of the symbols
  std::vector<rules::Symbol> symbols;
  std::size_t tried = 0;
  std::string detail;  // kUnknown: what ran out
};

// Errors: as prove_rule; kUsage for a family.
Result<WeakestCondition> weakest_condition(const rules::Rule& rule, double timeout_seconds,
                                           std::size_t memory_mib = 4096);

// Up to `count` different assignments that make the condition and whose `before` the kernel takes,
// random ones first. Fewer where there are fewer, or where time runs out.
Result<std::vector<rules::Assignment>> some_assignments(const rules::Instance& instance,
                                                        std::size_t count, std::uint64_t seed,
                                                        double timeout_seconds);

}  // namespace secequiv::smt
