#include "harness/inputs/cases.h"

#include <algorithm>
#include <set>

#include "harness/inputs/case_set.h"

namespace secequiv {
namespace {

using detail::CaseSet;
using Values = std::vector<std::uint64_t>;

constexpr std::uint64_t kOnes = ~std::uint64_t{0};
constexpr std::uint64_t kLow = 0xffffffff;
constexpr std::size_t kMaxConjunctions = 4096;  // per system call

std::uint64_t join(std::uint64_t high, std::uint64_t low) {
  return (high & kLow) << 32 | (low & kLow);
}

// Returns the values that a matcher mentions, and neighbours of their halves. Cross products use
// them.
Values own_values(const Matcher& m) {
  const auto halves = [](std::uint64_t v) {
    const std::uint64_t high = v >> 32;
    const std::uint64_t low = v & kLow;
    return Values{join(high, low), join(high, low + 1), join(high + 1, low),
                  join(high + 1, low + 1)};
  };
  const std::uint64_t high = m.value >> 32;
  switch (m.op) {
    case Matcher::Op::kAny:
      return {0};
    case Matcher::Op::kEq:
    case Matcher::Op::kNe:
      return halves(m.value);
    case Matcher::Op::kGt:
    case Matcher::Op::kGe:
    case Matcher::Op::kLt:
    case Matcher::Op::kLe:
      return {join(high + 1, 0), join(high - 1, 0), join(high, 0),
              m.value,           m.value + 1,       m.value - 1};
    case Matcher::Op::kMaskedEq: {
      Values values = halves(m.mask);
      values.push_back(m.value);
      return values;
    }
    case Matcher::Op::kBitsAllowlist: {
      Values values = halves(~m.mask);
      values.push_back(m.mask);
      return values;
    }
    case Matcher::Op::kNonNegativeFd:
      return halves(0x80000000);
  }
  return {0};
}

// Returns values that satisfy the matcher, best first. Calls that pass are built from them.
Values satisfying(const Matcher& m) {
  switch (m.op) {
    case Matcher::Op::kEq:
    case Matcher::Op::kGe:
    case Matcher::Op::kLe:
      return {m.value};
    case Matcher::Op::kNe:
      return {m.value ^ 1, 0, m.value + 1};
    case Matcher::Op::kGt:
      return {m.value + 1, kOnes};
    case Matcher::Op::kLt:
      return {m.value - 1, 0};
    case Matcher::Op::kMaskedEq:
      return {m.value, m.value | ~m.mask};
    case Matcher::Op::kBitsAllowlist:
      return {m.mask, 0};
    case Matcher::Op::kNonNegativeFd:
      return {3, 0};
    case Matcher::Op::kAny:
      break;
  }
  return {0};
}

// Returns every value near which the matcher's outcome changes, and some values far from them.
Values boundaries(const Matcher& m) {
  Values out = own_values(m);
  const auto around = [&](std::uint64_t k) {
    for (const std::uint64_t v :
         {k - 1, k, k + 1, join(k >> 32, 0), join(k >> 32, kLow), join(0, k), join(kLow, k),
          join((k >> 32) - 1, k), join((k >> 32) + 1, k)})
      out.push_back(v);
  };
  const auto each_bit = [&](std::uint64_t k) {
    for (int bit = 0; bit < 64; ++bit) out.push_back(k ^ std::uint64_t{1} << bit);
  };
  switch (m.op) {
    case Matcher::Op::kAny:
      break;
    case Matcher::Op::kMaskedEq:
    case Matcher::Op::kBitsAllowlist: {
      for (int bit = 0; bit < 64; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        out.push_back(one);
        out.push_back(m.mask & ~one);
      }
      around(m.value);
      around(m.mask);
      each_bit(m.value);
      each_bit(m.value | ~m.mask);
      break;
    }
    case Matcher::Op::kNonNegativeFd:
      around(0x7fffffff);
      around(0x80000000);
      around(kOnes << 31);  // INT32_MIN, sign-extended
      each_bit(0);
      each_bit(0x7fffffff);
      break;
    default:
      around(m.value);
      each_bit(m.value);
      break;
  }
  for (const std::uint64_t v :
       {std::uint64_t{0}, std::uint64_t{1}, kLow, kLow << 32, kOnes, std::uint64_t{1} << 31,
        std::uint64_t{1} << 32, std::uint64_t{1} << 63, std::uint64_t{0x7fffffff}})
    out.push_back(v);
  return out;
}

// Matchers that must hold together, listed by field.
using Conjunction = std::array<std::vector<const Matcher*>, 7>;

std::vector<Conjunction> conjunctions(const Rule& rule) {
  std::vector<Conjunction> out;
  switch (rule.kind) {
    case Rule::Kind::kMatchAll:
      out.emplace_back();
      break;
    case Rule::Kind::kArgs:
      out.emplace_back();
      for (std::size_t field = 0; field < 7; ++field)
        if (rule.fields[field].op != Matcher::Op::kAny)
          out[0][field].push_back(&rule.fields[field]);
      break;
    case Rule::Kind::kAnyOf:
      for (const Rule& child : rule.children) {
        if (out.size() >= kMaxConjunctions) break;
        std::ranges::move(conjunctions(child), std::back_inserter(out));
      }
      break;
    case Rule::Kind::kAllOf:
      out.emplace_back();
      for (const Rule& child : rule.children) {
        const auto more = conjunctions(child);
        std::vector<Conjunction> joined;
        for (const Conjunction& a : out) {
          for (const Conjunction& b : more) {
            if (joined.size() >= kMaxConjunctions) break;
            Conjunction both = a;
            for (std::size_t field = 0; field < 7; ++field)
              std::ranges::copy(b[field], std::back_inserter(both[field]));
            joined.push_back(std::move(both));
          }
        }
        out = std::move(joined);
      }
      break;
  }
  return out;
}

std::uint64_t satisfying_value(const std::vector<const Matcher*>& matchers) {
  for (const Matcher* source : matchers)
    for (const std::uint64_t v : satisfying(*source))
      if (std::ranges::all_of(matchers, [&](const Matcher* m) { return m->matches(v); })) return v;
  return matchers.empty() ? 0 : satisfying(*matchers.front()).front();
}

class Deriver {
 public:
  Deriver(const Policy& policy, const CaseLimits& limits) : policy_(policy), set_(limits) {}

  Cases derive() {
    for (const Arch arch : policy_.arches) {
      const ArchInfo& info = arch_info(arch);
      arch_ = &info;
      std::set<std::uint32_t> numbers;
      for (const SyscallEntry& entry : info.syscalls) numbers.insert(entry.nr);
      for (const RuleSet& rules : policy_.rule_sets)
        for (const SyscallRule& entry : rules.rules)
          if (entry.arch == arch) numbers.insert(entry.nr);
      for (const DefaultRange& range : policy_.default_ranges)
        if (range.arch == arch)
          numbers.insert({range.first - 1, range.first, range.last, range.last + 1});
      for (const std::uint32_t nr : numbers) probe_number(nr);
      for (const std::uint32_t nr : numbers) combine(nr);
      for (const std::uint32_t nr : numbers) boundary(nr);
      outside(numbers);
    }
    foreign_arches();
    return set_.take();
  }

 private:
  SeccompData call(std::uint32_t nr) const {
    SeccompData data;
    data.set_nr(nr);
    data.set_arch(arch_->audit);
    return data;
  }

  // Returns the rules for this number in all rule sets.
  std::vector<std::pair<const RuleSet*, const Rule*>> rules_of(std::uint32_t nr) const {
    std::vector<std::pair<const RuleSet*, const Rule*>> out;
    for (const RuleSet& rules : policy_.rule_sets)
      if (const Rule* rule = rules.find(arch_->arch, nr)) out.emplace_back(&rules, rule);
    return out;
  }

  void probe_number(std::uint32_t nr) {
    set_.add(call(nr));
    for (std::uint32_t word = kIpWord; word < 16; ++word) {
      SeccompData data = call(nr);
      data.words[word] = 0xffffffff;
      set_.add(data);
    }
    SeccompData ones = call(nr);
    for (std::uint32_t word = kIpWord; word < 16; ++word) ones.words[word] = 0xffffffff;
    set_.add(ones);
    for (const std::uint32_t near : {nr - 1, nr + 1, nr ^ kX32Bit, nr ^ 0x80000000u}) {
      set_.add(call(near));
      ones.set_nr(near);
      set_.add(ones);
    }
    SeccompData wrong = call(nr);
    wrong.set_arch(arch_->audit ^ 1);
    set_.add(wrong);
  }

  static void gather(const Rule& rule, std::array<std::set<std::uint64_t>, 7>& values) {
    for (const Rule& child : rule.children) gather(child, values);
    if (rule.kind != Rule::Kind::kArgs) return;
    for (std::size_t field = 0; field < 7; ++field)
      for (const std::uint64_t v : own_values(rule.fields[field])) values[field].insert(v);
  }

  void combine(std::uint32_t nr) {
    std::array<std::set<std::uint64_t>, 7> values;
    for (const auto& [rules, rule] : rules_of(nr)) {
      gather(*rule, values);
      if (rules->vsyscall) values[kIpField].insert(std::uint64_t{1} << 63);
    }
    std::vector<Values> slots;
    for (auto& field : values) {
      field.insert(0);
      slots.emplace_back(field.begin(), field.end());
    }
    set_.product<std::uint64_t>(call(nr), slots,
                                [&](SeccompData& data, std::size_t field, std::uint64_t v) {
                                  data.set_field(static_cast<int>(field), v, arch_->endian);
                                });
  }

  void boundary(std::uint32_t nr) {
    for (const auto& [rules, rule] : rules_of(nr)) {
      for (const Conjunction& all : conjunctions(*rule)) {
        SeccompData passing = call(nr);
        for (int field = 0; field < 7; ++field)
          passing.set_field(field, satisfying_value(all[static_cast<std::size_t>(field)]),
                            arch_->endian);
        if (rules->vsyscall)
          passing.set_field(kIpField,
                            passing.field(kIpField, arch_->endian) | std::uint64_t{1} << 63,
                            arch_->endian);
        vary(passing, all, rules->vsyscall);
        elsewhere(passing);
      }
    }
  }

  void vary(const SeccompData& passing, const Conjunction& all, bool vsyscall) {
    set_.add(passing);
    static const Matcher kAnything{};
    for (int field = 0; field < 7; ++field) {
      auto matchers = all[static_cast<std::size_t>(field)];
      if (matchers.empty()) matchers.push_back(&kAnything);
      for (const Matcher* m : matchers) {
        for (const std::uint64_t v : boundaries(*m)) {
          SeccompData data = passing;
          data.set_field(field, v, arch_->endian);
          set_.add(data);
          if (vsyscall && field == kIpField) {
            data.set_field(field, v ^ std::uint64_t{1} << 63, arch_->endian);
            set_.add(data);
          }
        }
      }
    }
  }

  // Adds inputs with the same arguments for calls to which the rule does not apply.
  void elsewhere(const SeccompData& passing) {
    for (const std::uint32_t near : {passing.nr() - 1, passing.nr() + 1, passing.nr() ^ kX32Bit}) {
      SeccompData data = passing;
      data.set_nr(near);
      set_.add(data);
    }
    for (const ArchInfo& info : all_arches()) {
      SeccompData data = passing;
      data.set_arch(info.audit);
      set_.add(data);
    }
  }

  void outside(const std::set<std::uint32_t>& numbers) {
    for (const std::uint32_t nr :
         {0u, 1u, *numbers.rbegin() + 1, *numbers.rbegin() + 2, 1000u, 4095u, 0x3fffffffu, kX32Bit,
          kX32Bit + 1, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu})
      probe_number(nr);
  }

  void foreign_arches() {
    SeccompData data;
    for (const Arch arch : policy_.arches) {
      for (int bit = 0; bit < 32; ++bit) {
        data.set_arch(arch_info(arch).audit ^ 1u << bit);
        set_.add(data);
      }
      data.set_arch(arch_info(arch).audit - 1);
      set_.add(data);
      data.set_arch(arch_info(arch).audit + 1);
      set_.add(data);
    }
    for (const std::uint32_t audit : {0u, 0xffffffffu}) {
      data.set_arch(audit);
      set_.add(data);
      SeccompData ones;
      ones.words.fill(0xffffffff);
      ones.set_arch(audit);
      set_.add(ones);
    }
  }

  const Policy& policy_;
  CaseSet set_;
  const ArchInfo* arch_ = nullptr;
};

}  // namespace

Cases derive_cases(const Policy& policy, const CaseLimits& limits) {
  return Deriver(policy, limits).derive();
}

}  // namespace secequiv
