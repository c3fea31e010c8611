#include "harness/import/oci_alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

constexpr std::uint64_t kLow = 0xffffffff;
constexpr std::uint64_t kWhole = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostConjunctions = 1024;  // while rules are combined

struct Interval {
  std::uint64_t first;
  std::uint64_t last;  // included

  friend bool operator==(const Interval&, const Interval&) = default;
};
using Intervals = std::vector<Interval>;  // sorted, neither overlapping nor adjacent

Intervals complement(const Intervals& all, std::uint64_t top) {
  Intervals out;
  std::uint64_t from = 0;
  for (const auto& [first, last] : all) {
    if (first > from) out.push_back({from, first - 1});
    if (last == top) return out;
    from = last + 1;
  }
  out.push_back({from, top});
  return out;
}

Intervals intersection(const Intervals& a, const Intervals& b) {
  Intervals out;
  for (const Interval& one : a)
    for (const Interval& other : b) {
      const std::uint64_t first = std::max(one.first, other.first);
      const std::uint64_t last = std::min(one.last, other.last);
      if (first <= last) out.push_back({first, last});
    }
  return out;
}

// The values for which the bits of `mask` have this value.
struct Bits {
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

std::optional<Bits> both(const Bits& a, const Bits& b) {
  if (((a.value ^ b.value) & a.mask & b.mask) != 0) return std::nullopt;
  return Bits{a.mask | b.mask, a.value | b.value};
}

// Divides an interval into the largest possible sets that one mask describes.
std::vector<Bits> aligned(Interval interval, std::uint64_t top) {
  std::vector<Bits> out;
  for (std::uint64_t at = interval.first;;) {
    std::uint64_t rest = at == 0 ? top : (at & (~at + 1)) - 1;  // the last value relative to `at`
    while (rest > interval.last - at) rest >>= 1;
    out.push_back({top & ~rest, at});
    if (at + rest == interval.last) return out;
    at += rest + 1;
  }
}

// The values of one argument that are in one of the intervals and have these bits.
struct Values {
  Intervals in;
  Bits bits = {};
};

// All arguments have such values.
using Conjunction = std::array<Values, kArgCount>;
using Disjunction = std::vector<Conjunction>;

Error cannot(std::string reason) { return make_error(ErrorCode::kPolicy, {}, std::move(reason)); }

Error too_many() {
  return cannot(fmt::format("it would need more than {} entries", kMostOciAlternatives));
}

class Rewriter {
 public:
  Rewriter(Arch arch, const Rule& rule)
      : info_(arch_info(arch)), top_(info_.bits == 32 ? kLow : kWhole), all_{{0, top_}} {
    note_bounds(rule);
  }

  Result<Disjunction> disjunction(const Rule& rule) const {
    if (rule.kind == Rule::Kind::kArgs) return of_tests(rule);
    Disjunction out;
    if (rule.kind != Rule::Kind::kAnyOf) out.push_back(always());
    for (const Rule& child : rule.children) {
      auto more = disjunction(child);
      if (!more) return more;
      if (rule.kind == Rule::Kind::kAnyOf)
        out.insert(out.end(), more->begin(), more->end());
      else
        out = both(out, *more);
      if (out.size() > kMostConjunctions) return too_many();
    }
    return out;
  }

  // Returns the inputs of `all` that are not in `without`.
  Result<Disjunction> difference(Disjunction all, const Disjunction& without) const {
    for (const Conjunction& one : without) {
      Disjunction left;
      for (const Conjunction& each : all) subtract(each, one, left);
      if (left.size() > kMostConjunctions) return too_many();
      all = std::move(left);
    }
    return all;
  }

  Result<std::vector<Rule>> rules(const Disjunction& all) const {
    std::vector<Rule> out;
    for (const Conjunction& one : all) {
      std::vector<Rule> product(1);
      for (std::size_t i = 0; i < one.size(); ++i) {
        const std::vector<Matcher> tests = tests_of(one[i]);
        std::vector<Rule> longer;
        if (tests.size() * product.size() > kMostOciAlternatives) return too_many();
        for (const Rule& rule : product)
          for (const Matcher& test : tests) {
            longer.push_back(rule);
            if (test.op == Matcher::Op::kAny) continue;
            longer.back().kind = Rule::Kind::kArgs;
            longer.back().fields[i] = test;
          }
        product = std::move(longer);
      }
      for (Rule& rule : product) {
        if (rule.kind == Rule::Kind::kMatchAll) return std::vector<Rule>(1);
        if (std::ranges::find(out, rule) == out.end()) out.push_back(std::move(rule));
      }
      if (out.size() > kMostOciAlternatives) return too_many();
    }
    return out;
  }

 private:
  [[nodiscard]] Conjunction always() const {
    Conjunction out;
    out.fill({all_});
    return out;
  }

  // Returns nothing if it is easy to see that there are no such values.
  [[nodiscard]] std::optional<Values> both(const Values& a, const Values& b) const {
    const auto bits = secequiv::both(a.bits, b.bits);
    if (!bits) return std::nullopt;
    Values out{intersection(a.in, b.in), *bits};
    // Keeps the intervals that some value with these bits may be in.
    std::erase_if(out.in, [&](const Interval& interval) {
      return interval.last < bits->value || interval.first > (bits->value | (top_ & ~bits->mask));
    });
    if (out.in.empty()) return std::nullopt;
    return out;
  }

  [[nodiscard]] std::optional<Conjunction> both(const Conjunction& a, const Conjunction& b) const {
    Conjunction out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      auto values = both(a[i], b[i]);
      if (!values) return std::nullopt;
      out[i] = std::move(*values);
    }
    return out;
  }

  [[nodiscard]] Disjunction both(const Disjunction& a, const Disjunction& b) const {
    Disjunction out;
    for (const Conjunction& one : a)
      for (const Conjunction& other : b)
        if (auto common = both(one, other)) out.push_back(std::move(*common));
    return out;
  }

  // Returns the other values, in parts that do not overlap.
  [[nodiscard]] std::vector<Values> complement(const Values& values) const {
    std::vector<Values> out;
    Bits before;
    for (std::uint64_t left = values.bits.mask; left != 0;) {
      const std::uint64_t bit = std::bit_floor(left);
      left &= ~bit;
      out.push_back({all_, {before.mask | bit, before.value | (~values.bits.value & bit)}});
      before.mask |= bit;
      before.value |= values.bits.value & bit;
    }
    if (Intervals rest = secequiv::complement(values.in, top_); !rest.empty())
      out.push_back({std::move(rest), values.bits});
    return out;
  }

  // Adds the inputs of `from` that are not in `without`, in parts that do not overlap.
  void subtract(const Conjunction& from, const Conjunction& without, Disjunction& out) const {
    if (!both(from, without)) {
      out.push_back(from);
      return;
    }
    Conjunction inside = from;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      for (const Values& other : complement(without[i]))
        if (auto part = both(inside[i], other)) {
          out.push_back(inside);
          out.back()[i] = std::move(*part);
        }
      inside[i] = *both(inside[i], without[i]);
    }
  }

  Result<Disjunction> of_tests(const Rule& rule) const {
    if (rule.fields[kIpField].op != Matcher::Op::kAny)
      return cannot("it tests the instruction pointer");
    Disjunction out = {always()};
    for (std::size_t i = 0; i < kArgCount; ++i) {
      ASSIGN_OR_RETURN(const auto values, values_of(rule.fields[i]));
      Disjunction test;
      for (const Values& each : values) {
        test.push_back(always());
        test.back()[i] = each;
      }
      out = both(out, test);
      if (out.size() > kMostConjunctions) return too_many();
    }
    return out;
  }

  // Returns the values that the test accepts, as alternatives.
  Result<std::vector<Values>> values_of(const Matcher& m) const {
    const std::uint64_t top = m.low_half ? kLow : kWhole;  // of what the test compares
    const auto masked = [&](std::uint64_t mask,
                            std::uint64_t value) -> Result<std::vector<Values>> {
      if ((mask & ~top_) != 0) return compares_high_half();
      if ((value & ~mask) != 0) return std::vector<Values>{};
      if (mask == top_) return std::vector<Values>{{{{value, value}}}};
      return std::vector<Values>{{all_, {mask, value}}};
    };
    const auto within = [&](std::uint64_t first,
                            std::uint64_t last) -> Result<std::vector<Values>> {
      if (first == 0 && last == top) return std::vector<Values>{{all_}};
      if (top == top_) return std::vector<Values>{{{{first, last}}}};
      if (top_ < top) return compares_high_half();
      std::vector<Values> out;
      for (const Bits& bits : aligned({first, last}, top)) out.push_back({all_, bits});
      return out;
    };
    switch (m.op) {
      case Matcher::Op::kAny:
        break;
      case Matcher::Op::kEq:
        return within(m.value, m.value);
      case Matcher::Op::kNe:
        if (top == top_)
          return std::vector<Values>{{secequiv::complement({{m.value, m.value}}, top)}};
        return outside(m.value, top);
      case Matcher::Op::kGt:
        if (m.value == top) return std::vector<Values>{};
        return within(m.value + 1, top);
      case Matcher::Op::kGe:
        return within(m.value, top);
      case Matcher::Op::kLt:
        if (m.value == 0) return std::vector<Values>{};
        return within(0, m.value - 1);
      case Matcher::Op::kLe:
        return within(0, m.value);
      case Matcher::Op::kMaskedEq:
        return masked(m.mask & top, m.value);
      case Matcher::Op::kBitsAllowlist:
        return masked(~m.mask & top, 0);
      case Matcher::Op::kNonNegativeFd:
        return within(0, kLow >> 1);
    }
    return std::vector<Values>{{all_}};
  }

  // Returns the values whose bits up to `top` differ from `value`.
  [[nodiscard]] Result<std::vector<Values>> outside(std::uint64_t value, std::uint64_t top) const {
    if (top_ < top) return compares_high_half();
    return complement({all_, {top, value}});
  }

  [[nodiscard]] Error compares_high_half() const {
    return cannot(
        fmt::format("it compares whole arguments, but libseccomp compares only the low half of an "
                    "argument on {}",
                    info_.name));
  }

  // Returns tests that together accept the values.
  [[nodiscard]] std::vector<Matcher> tests_of(const Values& values) const {
    const auto& [in, bits] = values;
    const auto test = [](Matcher::Op op, std::uint64_t value, std::uint64_t mask = 0) {
      Matcher out;
      out.op = op;
      out.value = value;
      out.mask = mask;
      return out;
    };
    const auto masked = [&](const Bits& some) {
      return some.mask == top_ ? test(Matcher::Op::kEq, some.value)
                               : test(Matcher::Op::kMaskedEq, some.value, some.mask);
    };
    if (bits.mask == 0 && in == all_) return {Matcher()};
    std::vector<Matcher> out;
    const Intervals others = secequiv::complement(in, top_);
    if (bits.mask == 0 && others.size() == 1 && others[0].first == others[0].last)
      return {test(Matcher::Op::kNe, others[0].first)};
    const std::uint64_t highest = bits.value | (top_ & ~bits.mask);
    for (const Interval& interval : in) {
      const auto& [first, last] = interval;
      if (bits.mask == 0 && first == last) {
        out.push_back(test(Matcher::Op::kEq, first));
      } else if (bits.mask == 0 && first == 0) {
        out.push_back(below_.contains(last + 1) ? test(Matcher::Op::kLt, last + 1)
                                                : test(Matcher::Op::kLe, last));
      } else if (bits.mask == 0 && last == top_) {
        out.push_back(above_.contains(first - 1) ? test(Matcher::Op::kGt, first - 1)
                                                 : test(Matcher::Op::kGe, first));
      } else if (bits.mask != 0 && first <= bits.value && highest <= last) {
        return {masked(bits)};
      } else {
        for (const Bits& part : aligned(interval, top_))
          if (const auto common = secequiv::both(part, bits)) out.push_back(masked(*common));
      }
    }
    return out;
  }

  // Remembers the numbers in the rule's tests, because entries with the same numbers are easier to
  // compare with the rule.
  void note_bounds(const Rule& rule) {
    std::ranges::for_each(rule.children, [&](const Rule& child) { note_bounds(child); });
    for (const Matcher& m : rule.fields) {
      if (m.op == Matcher::Op::kLt || m.op == Matcher::Op::kNe) below_.insert(m.value);
      if (m.op == Matcher::Op::kGt || m.op == Matcher::Op::kNe) above_.insert(m.value);
    }
  }

  const ArchInfo& info_;
  std::uint64_t top_;  // the highest value that libseccomp compares
  Intervals all_;
  std::set<std::uint64_t> below_;  // for which "less than" is preferred
  std::set<std::uint64_t> above_;
};

}  // namespace

Result<std::vector<Rule>> oci_alternatives(Arch arch, const Rule& rule,
                                           std::span<const Rule> earlier) {
  const Rewriter rewriter(arch, rule);
  auto out = rewriter.disjunction(rule);
  for (const Rule& one : earlier) {
    if (!out) return out.error();
    ASSIGN_OR_RETURN(const auto without, rewriter.disjunction(one));
    out = rewriter.difference(std::move(*out), without);
  }
  if (!out) return out.error();
  return rewriter.rules(*out);
}

}  // namespace secequiv
