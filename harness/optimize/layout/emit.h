// Emits rules and searches as instructions. Owns the code of each test: one load and one test for
// each half that matters, in long form (two unconditional jumps after each conditional one). It
// must not know plans.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "harness/bpf/builder.h"
#include "harness/policy/policy.h"

namespace secequiv::detail {

// If the word in A is in first..last, the search goes to `to`.
struct Case {
  std::uint32_t first;
  std::uint32_t last;
  Label to;
  double weight = 0;  // how often the word is here, for weighted trees
};

struct SearchForm {
  bool tree = false;        // binary down to a few cases; otherwise linear
  bool pinned = false;      // omits a test if the known bounds leave only one outcome
  double least_weight = 0;  // if positive, a tree tests heavy cases early; added to each weight
};

// Emits a search for the word in A among `cases`, which are disjoint, and ascending for a tree.
// Other words go to `miss`. After the tests of some cases, it calls `after(those cases)`, which may
// emit code there. `after` receives each case exactly once, in order.
void emit_search(Builder& code, std::span<const Case> cases, const SearchForm& form, Label miss,
                 const std::function<void(std::span<const Case>)>& after);

class RuleEmitter {
 public:
  RuleEmitter(Builder& code, Endian endian, bool value_trees)
      : code_(code), endian_(endian), value_trees_(value_trees) {}

  // Emits jumps to `yes` if the rule matches, else to `no`. Overwrites A.
  void rule(const Rule& rule, Label yes, Label no);

 private:
  void any_of(const Rule& rule, Label yes, Label no);
  // Emits a search for the value of `field`. It also emits the remaining conditions for each value.
  // If none of them matches, control continues to `others`, or to `no` if there are no others.
  void search(int field, const std::map<std::uint32_t, std::vector<Rule>>& by_value, Label yes,
              Label no, std::span<const Rule* const> others);
  void matcher(const Matcher& m, int field, Label yes, Label no);
  void masked_equal(const Matcher& m, int field, std::uint64_t mask, Label yes, Label no);
  void above(const Matcher& m, int field, bool or_equal, Label yes, Label no);
  void half(std::uint32_t word, std::uint32_t mask, std::uint32_t value, bool variable, Label yes,
            Label no);

  Builder& code_;
  Endian endian_;
  bool value_trees_;
};

}  // namespace secequiv::detail
