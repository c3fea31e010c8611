// Owns what a product walk knows about terms: learning, deciding and joining facts. It must not
// know programs. Facts are small, because every state copies them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "verify/walk/range.h"
#include "verify/walk/terms.h"

namespace secequiv::walk {

// What is known about the value of one term.
class Fact {
 public:
  explicit Fact(Term term = 0) : term_(term) {}
  static Fact constant(Term term, std::uint32_t value) {
    Fact out(term);
    out.range_ = Range::of(value);
    return out;
  }

  [[nodiscard]] Term term() const { return term_; }
  [[nodiscard]] const Range& range() const { return range_; }
  // Returns false if no value satisfies everything that is known.
  [[nodiscard]] bool learn(const Literal& literal);
  // Returns whether the literal's relation holds, ignoring `holds`; std::nullopt if this fact does
  // not decide it.
  [[nodiscard]] std::optional<bool> decide(const Literal& literal) const;
  // Weakens this fact to what both facts imply, and makes it a fact about `term`.
  void join(const Fact& other, Term term);
  [[nodiscard]] bool empty() const { return range_ == Range{} && excluded_count_ == 0; }

 private:
  // Means: term & mask != value.
  struct Excluded {
    std::uint32_t mask = 0;
    std::uint32_t value = 0;
    friend bool operator==(const Excluded&, const Excluded&) = default;
  };
  void exclude(const Excluded& excluded);
  [[nodiscard]] bool excludes(std::uint32_t mask, std::uint32_t value) const;

  Term term_ = 0;
  Range range_;
  std::uint32_t excluded_count_ = 0;
  std::array<Excluded, 3> excluded_{};  // newest first
};

// Facts about the terms that were tested most recently.
class Facts {
 public:
  // Returns what is known about `term`, which may be a constant.
  [[nodiscard]] Fact about(Term term, const Terms& terms) const;
  // Returns false if the path is infeasible.
  [[nodiscard]] bool learn(const Literal& literal);
  [[nodiscard]] std::optional<bool> decide(const Literal& literal) const {
    const Fact* const fact = find(literal.base);
    return fact != nullptr ? fact->decide(literal) : std::nullopt;
  }
  // Forgets the oldest fact if there are too many.
  void put(const Fact& fact);
  // Facts are indexed from the oldest to the newest.
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const Fact& operator[](std::size_t i) const { return facts_[count_ - 1 - i]; }

 private:
  [[nodiscard]] const Fact* find(Term term) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (facts_[i].term() == term) return &facts_[i];
    return nullptr;
  }

  std::array<Fact, 8> facts_;  // newest first
  std::size_t count_ = 0;
};

}  // namespace secequiv::walk
