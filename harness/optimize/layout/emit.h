// Rules and searches as instructions. Owns how a test of a value is written: one load and one
// test for each half that matters, in long form. It must not know plans.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "harness/bpf/builder.h"
#include "harness/policy/policy.h"

namespace secequiv::detail {

// Values first..last of the word in A lead to `to`.
struct Case {
  std::uint32_t first;
  std::uint32_t last;
  Label to;
};

struct SearchForm {
  bool tree = false;    // binary, down to a few cases; else one case after the other
  bool pinned = false;  // no test where the bounds known so far leave one outcome only
};

// Emits a search for the word in A among `cases` (disjoint; ascending for a tree); what is in none
// goes to `miss`. `after(cases)` is called where code may stand: behind the tests of these cases,
// which come in the order of `cases`.
void emit_search(Builder& code, std::span<const Case> cases, const SearchForm& form, Label miss,
                 const std::function<void(std::span<const Case>)>& after);

class RuleEmitter {
 public:
  RuleEmitter(Builder& code, Endian endian, bool value_trees)
      : code_(code), endian_(endian), value_trees_(value_trees) {}

  // Jumps to `yes` if the rule matches, else to `no`. Whatever A held is lost.
  void rule(const Rule& rule, Label yes, Label no);

 private:
  void any_of(const Rule& rule, Label yes, Label no);
  // What branches ask for besides a value of `field`, by that value; on to `others` if none match.
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
