// The pattern of a finding: the parts that its reduced program or policy needs, in order. Owns how
// a pattern is recognized in other programs and policies, and how it is taken out of them. It must
// not know what is under test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/compare/hunt_report.h"
#include "harness/policy/policy.h"

namespace secequiv::hunt {

// A part of a subject: an instruction other than a constant or a return; or a test, a choice or an
// architecture of a policy.
struct Part {
  std::uint32_t symbol = 0;   // the opcode, or the kind of part of a policy
  std::uint32_t wide = 0;     // for a test of 32 bits: the same test of 64 bits
  std::uint32_t general = 0;  // stands for all symbols by which reductions may replace this one
  std::uint64_t name = 0;     // the word, slot or constant; 0: none
  std::size_t place = 0;      // the instruction, or the number of the part in the policy
};
using Parts = std::vector<Part>;

// Precondition: `subject` holds a policy if and only if a compiler is under test.
Parts parts_of(const HuntSubject& subject);

// Returns whether a policy with these parts has an architecture other than the simplest, x86_64.
bool has_other_arch(const Parts& parts);

// Returns whether `parts` has an instruction, test or other part that `original` lacks or has less
// often. Jumps to the next instruction count as other JAs.
bool has_more(const Parts& parts, const Parts& original);

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
  // Returns a number for the architecture that the pattern needs, another one if it needs several,
  // or 0.
  [[nodiscard]] std::uint32_t arch() const;

 private:
  friend class Stripped;
  class Search;
  // Returns the parts of the shortest occurrence, or nothing.
  [[nodiscard]] Parts occurrence(const Parts& parts) const;
  [[nodiscard]] bool stands_for(const Part& pattern, const Part& part) const;
  [[nodiscard]] bool repeats_place(const Part& part) const;

  Parts parts_;
  bool values_ = true;
};

// A subject while patterns are taken out of it. Its program or policy is legal after each step.
class Stripped {
 public:
  explicit Stripped(HuntSubject subject);

  [[nodiscard]] const Parts& parts() const { return parts_; }
  // Takes out the shortest occurrence of the pattern. If the pattern repeats a word or slot, one
  // instruction gets another word or slot. Otherwise a simpler part replaces the rarest part. Skips
  // the first `way` ways of doing this. Returns false if there is no occurrence, or if no way is
  // left.
  bool take_out(const Pattern& pattern, std::size_t way = 0);
  // Takes out up to `most` occurrences, and returns how many.
  std::size_t take_out_all(const Pattern& pattern, std::size_t way, std::size_t most);
  // Leaves only the simplest architecture of a policy. Returns false if nothing else was there, or
  // if the result is not legal.
  bool take_out_arches();
  // Takes out up to `most` occurrences, but keeps the instruction that take_out() would replace.
  // Precondition: the subject is a program.
  void take_out_others(const Pattern& pattern, std::size_t most);
  [[nodiscard]] HuntSubject subject() const;

 private:
  // As take_out(). Unless `checked`, it may leave a policy that is not legal.
  bool take_out(const Pattern& pattern, std::size_t way, bool checked);
  bool put(std::size_t pc, const std::optional<Insn>& in, std::size_t& way);
  [[nodiscard]] Policy simpler_policy(const Part& part, bool general) const;
  // Sets the policy in its canonical form. Returns false if it is not legal, or if its way is to be
  // skipped.
  bool put(const Policy& policy, std::size_t& way);
  void update_parts();

  HuntSubject subject_;
  std::optional<Policy> policy_;
  Parts parts_;                      // without the kept one
  std::optional<std::size_t> kept_;  // the place of an instruction that stays
};

}  // namespace secequiv::hunt
