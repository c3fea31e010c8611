#include "analyze/default_actions.h"

#include <algorithm>
#include <map>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

class DefaultChooser {
 public:
  DefaultChooser(const ConstantAction& constant, Policy& out) : constant_(constant), out_(out) {}

  void choose(std::vector<Calls>& all) {
    choose_default(all);
    for (Calls& calls : all) {
      if (calls.arch->arch == Arch::kX86_64) {
        auto divided = divided_by_x32_bit(calls.numbers, true);
        out_.x32_action = x32_action(divided);
        calls.numbers =
            out_.x32_action ? std::move(divided) : divided_by_x32_bit(calls.numbers, false);
      }
      add_default_ranges(calls);
    }
    std::ranges::sort(out_.default_ranges, {},
                      [](const DefaultRange& range) { return std::pair(range.arch, range.first); });
  }

 private:
  // Precondition: the numbers have one action.
  [[nodiscard]] std::uint32_t only_action(const Numbers& numbers) const {
    return *constant_(numbers.then);
  }

  // Chooses the default action that suits most architectures; of equal ones, the first.
  void choose_default(const std::vector<Calls>& all) {
    std::vector<std::uint32_t> wanted;
    wanted.reserve(all.size());
    for (const Calls& calls : all) wanted.push_back(best_default(calls));
    out_.default_action = *std::ranges::max_element(
        wanted, {}, [&](std::uint32_t action) { return std::ranges::count(wanted, action); });
  }

  // Returns the action that leaves the fewest rules. Readers expect that unknown calls get the
  // default action, so it is the action of a long range, or differs from it only in data. Another
  // action is better for lists of exceptions if the policy needs default ranges anyway.
  std::uint32_t best_default(const Calls& calls) {
    constexpr std::size_t kEffortOfRange = 8;  // to read a default range, compared with a rule
    constexpr std::size_t kMuchLess = 8;
    std::map<std::uint32_t, std::size_t> longs;   // by action
    std::map<std::uint32_t, std::size_t> shorts;  // by action: numbers in other ranges
    std::vector<std::uint32_t> candidates;        // the most expected ones first
    std::size_t numbers_in_shorts = 0;
    for (const Numbers& numbers : calls.numbers) {
      if (!is_long(numbers)) numbers_in_shorts += length(numbers);
      if (!constant_(numbers.then)) continue;
      if (!is_long(numbers)) {
        shorts[only_action(numbers)] += length(numbers);
      } else if (++longs[only_action(numbers)] == 1) {
        candidates.push_back(only_action(numbers));
      }
    }
    const auto gain = [&](std::uint32_t action) {
      return longs[action] * kEffortOfRange + shorts[action];
    };
    const auto rules = [&](std::uint32_t action) { return numbers_in_shorts - shorts[action]; };
    const bool needs_ranges = candidates.size() > 1;
    for (const auto& [action, count] : shorts)
      if (std::ranges::find(candidates, action_of(action), action_of) != candidates.end())
        candidates.push_back(action);
    const std::uint32_t best = *std::ranges::max_element(candidates, {}, gain);
    if (!needs_ranges) return best;
    for (const auto& [action, count] : shorts)
      if (rules(action) > 0 && (rules(action) + kEffortOfRange) * kMuchLess < rules(best))
        return action;
    return best;
  }

  // Returns the action that all x32 numbers have, if it is the only exception from the default
  // action among the numbers above those of other calls.
  std::optional<std::uint32_t> x32_action(const std::vector<Numbers>& divided) {
    std::optional<std::uint32_t> out;
    for (const Numbers& numbers : divided) {
      const bool is_x32 = arch_from_data(AUDIT_ARCH_X86_64, numbers.first) == Arch::kX32;
      const bool is_odd = is_long(numbers) && only_action(numbers) != out_.default_action;
      if (!is_x32 && is_odd) return std::nullopt;
      if (!is_x32) continue;
      if (!is_odd || (out && *out != only_action(numbers))) return std::nullopt;
      out = only_action(numbers);
    }
    return out;
  }

  // Divides ranges so that all numbers of one range have the x32 bit, or none. Long ranges need not
  // be divided for rules.
  static std::vector<Numbers> divided_by_x32_bit(const std::vector<Numbers>& all, bool long_ones) {
    std::vector<Numbers> out;
    for (Numbers left : all) {
      if (long_ones || !is_long(left))
        for (const std::uint32_t end : {kX32Numbers[0].first - 1, kX32Numbers[0].second,
                                        kX32Numbers[1].first - 1, kX32Numbers[1].second})
          if (left.first <= end && end < left.last) {
            out.push_back({left.first, end, left.then});
            left.first = end + 1;
          }
      out.push_back(left);
    }
    return out;
  }

  // Adds a range for each long range with another action. It also covers the shorter ranges beside
  // it if fewer of them need rules then.
  void add_default_ranges(const Calls& calls) {
    const std::vector<Numbers>& all = calls.numbers;
    const auto is_odd = [&](const Numbers& numbers) {
      return is_long(numbers) && only_action(numbers) != out_.default_action &&
             !(out_.x32_action && arch_of(*calls.arch, numbers) == Arch::kX32);
    };
    std::size_t begin = 0;  // of the ranges that no default range covers yet
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_odd(all[i])) {
        if (is_long(all[i])) begin = i + 1;
        continue;
      }
      const std::uint32_t action = only_action(all[i]);
      std::size_t end = i + 1;
      while (end < all.size() && !is_long(all[end])) ++end;
      const std::size_t first = saves(all, begin, i, action) ? begin : i;
      const std::size_t last = saves(all, i + 1, end, action) ? end : i + 1;
      out_.default_ranges.push_back(
          {calls.arch->arch, all[first].first, all[last - 1].last, action});
      begin = last;
      i = last - 1;
    }
  }

  // Returns whether fewer of these ranges need rules if their default action is `action`.
  bool saves(const std::vector<Numbers>& all, std::size_t begin, std::size_t end,
             std::uint32_t action) {
    std::size_t with = 0;
    std::size_t without = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!constant_(all[i].then)) continue;
      if (only_action(all[i]) == action) without += length(all[i]);
      if (only_action(all[i]) == out_.default_action) with += length(all[i]);
    }
    return without > with;
  }

  const ConstantAction& constant_;
  Policy& out_;
};

}  // namespace

bool is_long(const Numbers& numbers) { return numbers.last - numbers.first >= kMostListed; }

std::size_t length(const Numbers& numbers) { return std::size_t{numbers.last} - numbers.first + 1; }

Arch arch_of(const ArchInfo& info, const Numbers& numbers) {
  return arch_from_data(info.audit, numbers.first).value_or(info.arch);
}

void choose_default_actions(std::vector<Calls>& calls, const ConstantAction& constant,
                            Policy& out) {
  DefaultChooser(constant, out).choose(calls);
}

}  // namespace secequiv
