// An ordered set of inputs with a bound, shared by the two case derivations (cases.cc,
// cases_program.cc). Owns the bound and the count of omitted inputs. It must not know why an input
// is added.
#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include "harness/base/interrupt.h"
#include "harness/inputs/cases.h"

namespace secequiv::detail {

struct InputHash {
  std::size_t operator()(const SeccompData& data) const {
    std::uint64_t h = 0x9e3779b97f4a7c15;
    for (const std::uint32_t w : data.words) h = (h ^ w) * 0x100000001b3 + (h >> 29);
    return static_cast<std::size_t>(h);
  }
};

class CaseSet {
 public:
  explicit CaseSet(const CaseLimits& limits) : limits_(limits) {}

  // After an interrupt, inputs are dropped like those beyond the limits.
  void add(const SeccompData& data) {
    if (closed()) {
      ++cases_.dropped;
    } else if (seen_.insert(data).second) {
      cases_.inputs.push_back(data);
    }
  }

  // Counts an input that was not even made.
  void drop() { ++cases_.dropped; }

  // Adds every combination of one value per slot; `place(data, slot, value)` stores a value. If
  // there are more than limits.per_syscall combinations, it adds that many, spread evenly over all
  // of them.
  template <class Value, class Place>
  void product(const SeccompData& base, std::span<const std::vector<Value>> slots, Place place) {
    long double exact = 1;
    for (const auto& values : slots) exact *= static_cast<long double>(values.size());
    const auto limit = static_cast<std::uint64_t>(limits_.per_syscall);
    const bool all = exact <= static_cast<long double>(limit);
    const std::uint64_t count = all ? static_cast<std::uint64_t>(exact) : limit;
    // An odd stride spreads the chosen combinations; `count` consecutive combinations would never
    // vary the last slots.
    constexpr std::uint64_t kStride = 0x9e3779b97f4a7c15;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (closed()) {
        cases_.dropped += count - i;
        break;
      }
      SeccompData data = base;
      std::uint64_t index = all ? i : i * kStride;
      for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        place(data, slot, slots[slot][index % slots[slot].size()]);
        index /= slots[slot].size();
      }
      add(data);
    }
    if (!all) {
      const long double missing = exact - static_cast<long double>(count);
      cases_.dropped += missing > 1e18L ? std::uint64_t{1000000000000000000}
                                        : static_cast<std::uint64_t>(missing);
    }
  }

  [[nodiscard]] const std::vector<SeccompData>& inputs() const { return cases_.inputs; }
  [[nodiscard]] const CaseLimits& limits() const { return limits_; }
  [[nodiscard]] bool full() const { return cases_.inputs.size() >= limits_.total; }
  Cases take() { return std::move(cases_); }

 private:
  // After an interrupt, inputs are dropped like those beyond the limits.
  [[nodiscard]] bool closed() const { return full() || stop_wanted(); }

  CaseLimits limits_;
  Cases cases_;
  std::unordered_set<SeccompData, InputHash> seen_;
};

}  // namespace secequiv::detail
