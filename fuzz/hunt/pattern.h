// The pattern of a finding: the parts that its reduced program or policy needs, in order. Owns how
// a pattern is recognized in other programs and policies, and how it is taken out of them. It must
// not know what is under test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/compare/hunt_report.h"

namespace secequiv::hunt {

// A part of a subject: an instruction other than a constant, a return or a JA; or a test, a choice
// or an architecture of a policy.
struct Part {
  std::uint32_t symbol = 0;   // the opcode, or the kind of part of a policy
  std::uint32_t general = 0;  // stands for all symbols by which reductions may replace this one
  std::uint64_t name = 0;     // the word, slot or constant; 0: none
  std::size_t place = 0;      // the instruction, or the number of the part in the policy
};
using Parts = std::vector<Part>;

// Precondition: `subject` holds a policy if and only if a compiler is under test.
Parts parts_of(const HuntSubject& subject);

class Pattern {
 public:
  // If `values` is false, values did not matter to the finding. Then loads and stores of A match
  // those of X.
  explicit Pattern(const HuntSubject& reduced, bool values = true);

  // Returns whether the parts include the pattern's parts in their order. An empty pattern occurs
  // nowhere.
  [[nodiscard]] bool in(const Parts& parts) const { return !occurrence(parts).empty(); }
  // Returns whether both patterns have the same parts, apart from values.
  [[nodiscard]] bool same_as(const Pattern& other) const;
  // Returns the subject without the shortest occurrence of the pattern: a simpler part replaces the
  // rarest part that can be replaced, not counting the first `skip` of them. Returns nothing if
  // there is no occurrence, or no such part.
  [[nodiscard]] std::optional<HuntSubject> taken_out_of(const HuntSubject& subject,
                                                        std::size_t skip = 0) const;

 private:
  class Search;
  // Returns the parts of the shortest occurrence, or nothing.
  [[nodiscard]] Parts occurrence(const Parts& parts) const;
  [[nodiscard]] bool stands_for(const Part& pattern, const Part& part) const;

  Parts parts_;
  bool values_ = true;
};

}  // namespace secequiv::hunt
