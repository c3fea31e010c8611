#include "harness/optimize/layout/emit.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace secequiv::detail {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
constexpr std::size_t kLeafCases = 3;  // a tree tests up to 3 cases one after another
constexpr double kHeavy = 0.38;        // a word with more of a stretch's weight is tested first
constexpr std::size_t kFewValues = 3;  // fewer values of an argument need no search

// Emits one search.
class Search {
 public:
  Search(Builder& code, const SearchForm& form, Label miss,
         const std::function<void(std::span<const Case>)>& after)
      : code_(code), form_(form), miss_(miss), after_(after) {}

  void run(std::span<const Case> cases, std::uint32_t low, std::uint32_t high) {
    const std::size_t known = found_.size();
    if (weighted()) test_heavy(cases);
    if (form_.tree && cases.size() > kLeafCases) {
      const std::size_t middle = weighted() ? middle_weight(cases) : cases.size() / 2;
      const Label left = code_.label();
      const Label right = code_.label();
      code_.branch(kJgeK, cases[middle].first, right, left);
      code_.bind(left);
      run(cases.first(middle), low, cases[middle].first - 1);
      code_.bind(right);
      run(cases.subspan(middle), cases[middle].first, high);
    } else {
      leaf(cases, low, high);
    }
    found_.resize(known);
  }

 private:
  // Tests words that have much of the weight, before any other test.
  void test_heavy(std::span<const Case> cases) {
    while (cases.size() > kLeafCases) {
      const Case& next = *std::ranges::max_element(
          cases, {}, [&](const Case& at) { return at.first == at.last ? weight(at) : 0; });
      if (next.first != next.last || found(next) || weight(next) <= kHeavy * weight(cases)) return;
      const Label others = code_.label();
      code_.branch(kJeqK, next.first, next.to, others);
      code_.bind(others);
      found_.push_back(&next);
    }
  }

  // Returns where to divide the cases so that both parts have nearly the same weight.
  [[nodiscard]] std::size_t middle_weight(std::span<const Case> cases) const {
    const double all = weight(cases);
    std::size_t middle = 0;
    double before = 0;
    double best = all;
    for (std::size_t i = 1; i < cases.size(); ++i) {
      before += weight(cases[i - 1]);
      if (const double larger = std::max(before, all - before); middle == 0 || larger < best) {
        best = larger;
        middle = i;
      }
    }
    return middle;
  }

  void leaf(std::span<const Case> cases, std::uint32_t low, std::uint32_t high) {
    std::vector<std::size_t> order(cases.size());
    std::iota(order.begin(), order.end(), 0);
    if (weighted())
      std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::pair(-weight(cases[a]), a) < std::pair(-weight(cases[b]), b);
      });
    for (const std::size_t i : order) {
      const Case& at = cases[i];
      if (found(at)) continue;
      const bool from_start = form_.pinned && at.first <= low;
      const bool to_end = form_.pinned && high <= at.last;
      if (from_start && to_end) {
        code_.jump(at.to);
        after_(form_.tree ? cases : cases.subspan(i));
        return;
      }
      const Label next = code_.label();
      if (at.first == at.last) {
        code_.branch(kJeqK, at.first, at.to, next);
      } else if (from_start || at.first == 0) {
        code_.branch(kJgtK, at.last, next, at.to);
      } else if (to_end || at.last == kAll) {
        code_.branch(kJgeK, at.first, at.to, next);
      } else {
        const Label inside = code_.label();
        code_.branch(kJgeK, at.first, inside, next);
        code_.bind(inside);
        code_.branch(kJgtK, at.last, next, at.to);
      }
      if (!form_.tree) after_(cases.subspan(i, 1));
      code_.bind(next);
      if (from_start) low = at.last + 1;
      if (to_end) high = at.first - 1;
    }
    code_.jump(miss_);
    if (form_.tree) after_(cases);
  }

  [[nodiscard]] bool weighted() const { return form_.least_weight > 0; }

  [[nodiscard]] bool found(const Case& one) const {
    return std::ranges::find(found_, &one) != found_.end();
  }

  [[nodiscard]] double weight(const Case& one) const {
    return found(one) ? 0 : one.weight + form_.least_weight;
  }
  [[nodiscard]] double weight(std::span<const Case> some) const {
    double out = 0;
    for (const Case& at : some) out += weight(at);
    return out;
  }

  Builder& code_;
  SearchForm form_;
  Label miss_;
  const std::function<void(std::span<const Case>)>& after_;
  std::vector<const Case*> found_;  // cases of the current stretch that are already tested
};

// Returns whether an args rule requires one value for the low half of `field`.
bool asks(const Rule& rule, int field) {
  const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
  return rule.kind == Rule::Kind::kArgs && m.op == Matcher::Op::kEq && m.low_half &&
         m.variable.empty();
}

// Returns the part of a branch that requires one value for `field`: the branch itself, or a child
// of its all_of.
const Rule* key_part(const Rule& branch, int field) {
  if (branch.kind != Rule::Kind::kAllOf) return asks(branch, field) ? &branch : nullptr;
  const auto part =
      std::ranges::find_if(branch.children, [&](const Rule& child) { return asks(child, field); });
  return part == branch.children.end() ? nullptr : &*part;
}

// Returns the other conditions of a branch.
Rule without_key(const Rule& branch, const Rule* part, int field) {
  Rule rest = *part;
  rest.fields[static_cast<std::size_t>(field)] = Matcher{};
  if (matcher_count(rest) == 0) rest = Rule{};
  if (part == &branch) return rest;
  Rule out = branch;
  const auto at = out.children.begin() + (part - branch.children.data());
  if (rest.kind != Rule::Kind::kMatchAll) {
    *at = std::move(rest);
  } else {
    out.children.erase(at);
    if (out.children.empty()) out = Rule{};
  }
  return out;
}

// Returns the field for which the most branches of an any_of require one value, if there are enough
// of these branches.
std::optional<int> key_field(const Rule& rule) {
  std::array<std::size_t, 7> count{};
  for (const Rule& child : rule.children)
    for (int field = 0; field <= kIpField; ++field)
      if (key_part(child, field) != nullptr) ++count[static_cast<std::size_t>(field)];
  const auto most = std::ranges::max_element(count);
  if (*most < kFewValues) return std::nullopt;
  return static_cast<int>(most - count.begin());
}

}  // namespace

void emit_search(Builder& code, std::span<const Case> cases, const SearchForm& form, Label miss,
                 const std::function<void(std::span<const Case>)>& after) {
  Search(code, form, miss, after).run(cases, 0, kAll);
}

void RuleEmitter::rule(const Rule& rule, Label yes, Label no) {
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      return code_.jump(yes);
    case Rule::Kind::kAnyOf:
      return any_of(rule, yes, no);
    case Rule::Kind::kAllOf:
      for (const Rule& child : rule.children) {
        const Label next = code_.label();
        this->rule(child, next, no);
        code_.bind(next);
      }
      return code_.jump(yes);
    case Rule::Kind::kArgs:
      for (int field = 0; field <= kIpField; ++field) {
        const Label next = code_.label();
        matcher(rule.fields[static_cast<std::size_t>(field)], field, next, no);
        code_.bind(next);
      }
      return code_.jump(yes);
  }
}

// If branches require values of the same argument, emits a search for the value. The branches with
// each value follow the search, and then come the branches that require no value.
void RuleEmitter::any_of(const Rule& rule, Label yes, Label no) {
  constexpr int kNone = -1;
  const int field = value_trees_ ? key_field(rule).value_or(kNone) : kNone;
  std::map<std::uint32_t, std::vector<Rule>> by_value;
  std::vector<const Rule*> others;
  for (const Rule& child : rule.children) {
    const Rule* part = field == kNone ? nullptr : key_part(child, field);
    if (part == nullptr) {
      others.push_back(&child);
    } else {
      const Matcher& m = part->fields[static_cast<std::size_t>(field)];
      by_value[static_cast<std::uint32_t>(m.value)].push_back(without_key(child, part, field));
    }
  }
  if (field != kNone) search(field, by_value, yes, no, others);
  for (const Rule* child : others) {
    const Label next = code_.label();
    this->rule(*child, yes, next);
    code_.bind(next);
  }
  code_.jump(no);
}

void RuleEmitter::search(int field, const std::map<std::uint32_t, std::vector<Rule>>& by_value,
                         Label yes, Label no, std::span<const Rule* const> others) {
  const Label miss = others.empty() ? no : code_.label();
  std::vector<Case> cases;
  std::vector<const std::vector<Rule>*> rests;
  for (const auto& [value, rest] : by_value) {
    const bool always =
        std::ranges::any_of(rest, [](const Rule& r) { return r.kind == Rule::Kind::kMatchAll; });
    if (always && !cases.empty() && cases.back().to == yes && cases.back().last == value - 1) {
      cases.back().last = value;
    } else {
      cases.push_back({value, value, always ? yes : code_.label()});
      rests.push_back(&rest);
    }
  }
  code_.load(half_word(field, false, endian_));
  emit_search(code_, cases, {true, true}, miss, [&](std::span<const Case> here) {
    for (const Case& one : here) {
      if (one.to == yes) continue;
      code_.bind(one.to);
      for (const Rule& branch : *rests[static_cast<std::size_t>(&one - cases.data())]) {
        const Label next = code_.label();
        this->rule(branch, yes, next);
        code_.bind(next);
      }
      code_.jump(miss);
    }
  });
  if (!others.empty()) code_.bind(miss);
}

void RuleEmitter::matcher(const Matcher& m, int field, Label yes, Label no) {
  switch (m.op) {
    case Matcher::Op::kAny:
      return code_.jump(yes);
    case Matcher::Op::kEq:
      return masked_equal(m, field, ~std::uint64_t{0}, yes, no);
    case Matcher::Op::kNe:
      return masked_equal(m, field, ~std::uint64_t{0}, no, yes);
    case Matcher::Op::kGt:
      return above(m, field, false, yes, no);
    case Matcher::Op::kGe:
      return above(m, field, true, yes, no);
    case Matcher::Op::kLt:
      return above(m, field, true, no, yes);
    case Matcher::Op::kLe:
      return above(m, field, false, no, yes);
    case Matcher::Op::kMaskedEq:
      return masked_equal(m, field, m.mask, yes, no);
    case Matcher::Op::kBitsAllowlist:
    case Matcher::Op::kNonNegativeFd: {
      Matcher none = m;
      none.value = 0;
      const bool fd = m.op == Matcher::Op::kNonNegativeFd;
      return masked_equal(none, field, fd ? ~std::uint64_t{0x7fffffff} : ~m.mask, yes, no);
    }
  }
}

// Emits (word & mask) == value. The value of a variable is not known yet, so it never makes a test
// unnecessary.
void RuleEmitter::half(std::uint32_t word, std::uint32_t mask, std::uint32_t value, bool variable,
                       Label yes, Label no) {
  if (!variable) {
    if ((value & ~mask) != 0) return code_.jump(no);
    if (mask == 0) return code_.jump(yes);
  }
  code_.load(word);
  if (mask == kAll) return code_.branch(kJeqK, value, yes, no);
  if (!variable && value == 0) return code_.branch(kJsetK, mask, no, yes);
  if (!variable && value == mask && std::has_single_bit(mask))
    return code_.branch(kJsetK, mask, yes, no);
  code_.mask(mask);
  code_.branch(kJeqK, value, yes, no);
}

void RuleEmitter::masked_equal(const Matcher& m, int field, std::uint64_t mask, Label yes,
                               Label no) {
  const std::uint32_t low_word = half_word(field, false, endian_);
  const std::uint32_t high_word = half_word(field, true, endian_);
  const bool variable = !m.variable.empty();
  if (!m.low_half) {
    const Label low = code_.label();
    half(high_word, static_cast<std::uint32_t>(mask >> 32),
         static_cast<std::uint32_t>(m.value >> 32), false, low, no);
    code_.bind(low);
  }
  half(low_word, static_cast<std::uint32_t>(mask), static_cast<std::uint32_t>(m.value), variable,
       yes, no);
}

// Emits field > value, or field >= value. The high halves decide unless they are equal.
void RuleEmitter::above(const Matcher& m, int field, bool or_equal, Label yes, Label no) {
  const auto low_value = static_cast<std::uint32_t>(m.value);
  const auto high_value = static_cast<std::uint32_t>(m.value >> 32);
  if (!m.low_half) {
    const Label low = code_.label();
    code_.load(half_word(field, true, endian_));
    if (high_value == 0) {
      code_.branch(kJeqK, 0, low, yes);
    } else {
      const Label not_above = code_.label();
      code_.branch(kJgtK, high_value, yes, not_above);
      code_.bind(not_above);
      code_.branch(kJeqK, high_value, low, no);
    }
    code_.bind(low);
  }
  code_.load(half_word(field, false, endian_));
  code_.branch(or_equal ? kJgeK : kJgtK, low_value, yes, no);
}

}  // namespace secequiv::detail
