// What a product walk knows of terms: little enough to be copied into every state, and to be joined
// where paths meet. Owns learning, deciding and joining. It must not know programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "verify/walk/range.h"
#include "verify/walk/terms.h"

namespace secequiv::walk {

// What is known of one term's value.
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
  // False: no value meets all that is known.
  [[nodiscard]] bool learn(const Literal& literal);
  // Whether the literal's relation holds; nothing if that is open.
  [[nodiscard]] std::optional<bool> decide(const Literal& literal) const;
  // Weakens this to what holds where either holds, as a fact about `term`.
  void join(const Fact& other, Term term);
  [[nodiscard]] bool empty() const { return range_ == Range{} && excluded_count_ == 0; }

 private:
  // term & mask != value
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
  std::array<Excluded, 3> excluded_{};  // the newest first
};

// Facts about the terms that were tested last.
class Facts {
 public:
  // What is known of `term`, a constant or not.
  [[nodiscard]] Fact about(Term term, const Terms& terms) const;
  // False: no input takes this path.
  [[nodiscard]] bool learn(const Literal& literal);
  [[nodiscard]] std::optional<bool> decide(const Literal& literal) const {
    const Fact* const fact = find(literal.base);
    return fact != nullptr ? fact->decide(literal) : std::nullopt;
  }
  // Forgets the oldest fact if there are too many.
  void put(const Fact& fact);
  // The oldest first.
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const Fact& operator[](std::size_t i) const { return facts_[count_ - 1 - i]; }

 private:
  [[nodiscard]] const Fact* find(Term term) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (facts_[i].term() == term) return &facts_[i];
    return nullptr;
  }

  std::array<Fact, 8> facts_;  // the newest first
  std::size_t count_ = 0;
};

}  // namespace secequiv::walk
