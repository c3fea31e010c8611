// Owns all facts about terms on one path through two programs (walk/facts.h keeps only a few), the
// rules by which they decide literals, and undoing them. The certificate checker implements the
// same rules independently. It must not know programs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "verify/walk/range.h"
#include "verify/walk/terms.h"

namespace secequiv::certificate {

using walk::Literal;
using walk::Range;
using walk::Term;

// Learning more literals never makes decide() weaker.
class Knowledge {
 public:
  // Returns false if no value of the term satisfies everything that is known.
  bool learn(const Literal& literal);
  // Returns whether the literal's relation holds, ignoring `holds`; std::nullopt if the known
  // literals do not decide it.
  [[nodiscard]] std::optional<bool> decide(const Literal& literal) const;
  [[nodiscard]] bool implies(const Literal& literal) const {
    return decide(literal) == std::optional(literal.holds);
  }
  // Returns the number of learned literals, for forget().
  [[nodiscard]] std::size_t mark() const { return learned_.size(); }
  void forget(std::size_t mark);
  // Returns how many masks and values were examined so far.
  [[nodiscard]] std::size_t work() const { return work_; }
  // Returns all literals learned about a term, in the order of learning.
  [[nodiscard]] std::vector<Literal> about(Term base) const;

 private:
  struct Excluded {
    Term base;
    std::uint32_t mask;
    std::uint32_t value;
    friend bool operator==(const Excluded&, const Excluded&) = default;
  };
  struct Hash {
    std::size_t operator()(const Excluded& e) const {
      const std::uint64_t h =
          ((std::uint64_t{e.mask} << 32 | e.value) ^ std::uint64_t{e.base} << 20) *
          0x9e3779b97f4a7c15u;
      return static_cast<std::size_t>(h ^ h >> 29);
    }
  };
  struct Fact {
    Range range;
    std::vector<std::uint32_t> masks;  // masks of excluded values
    // Mask and value of the excluded values whose mask does not have all 32 bits.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> partly;
  };
  struct Step {
    Literal literal;
    Range before;
    bool excluded;
    bool mask;
    bool partly;
  };

  [[nodiscard]] bool excluded(Term base, std::uint32_t mask, std::uint32_t value) const;
  [[nodiscard]] bool close(Term base);
  [[nodiscard]] bool look_at_few(Term base);

  std::vector<Fact> facts_;  // by term
  std::unordered_set<Excluded, Hash> excluded_;
  std::vector<Step> learned_;
  mutable std::size_t work_ = 0;
};

}  // namespace secequiv::certificate
