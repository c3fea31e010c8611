#include "harness/generate/random_policy.h"

#include <algorithm>
#include <map>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::array<std::uint64_t, 14> kValues = {0,
                                                   1,
                                                   2,
                                                   0x80,
                                                   0x7fffffff,
                                                   0x80000000,
                                                   0xffffffff,
                                                   0x100000000,
                                                   0x100000001,
                                                   0x1ffffffff,
                                                   0x7fffffffffffffff,
                                                   0x8000000000000000,
                                                   0xffffffff00000000,
                                                   0xffffffffffffffff};

// v - 1, v or v + 1.
std::uint64_t near(Random& random, std::uint64_t v) { return v - 1 + random.below(3); }

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}

  Policy generate() {
    policy_.name = "random";
    const std::size_t arches = random_.one_in(3) ? random_.between(2, 3) : 1;
    while (policy_.arches.size() < arches) {
      // x86_64 more often than the others, for x32's sake.
      const Arch arch = random_.one_in(3) ? Arch::kX86_64 : random_.pick(all_arches()).arch;
      if (!policy_.has_arch(arch)) policy_.arches.push_back(arch);
    }
    policy_.default_action = action();
    policy_.bad_arch_action = action();
    if (policy_.has_arch(Arch::kX86_64) && !policy_.has_arch(Arch::kX32) && random_.one_in(2))
      policy_.x32_action = action();
    if (random_.one_in(2)) policy_.variables = {{"first", value32()}, {"second", value32()}};
    const std::size_t sets = random_.between(1, 4);
    for (std::size_t i = 0; i < sets; ++i) policy_.rule_sets.push_back(rule_set());
    for (std::size_t i = random_.below(3); i > 0; --i)
      policy_.hot.emplace_back(random_.pick(arch_info(policy_.arches[0]).syscalls).name);
    return std::move(policy_);
  }

 private:
  // Distinct within a policy; with and without data bits, one now and then that the kernel does not
  // know.
  std::uint32_t action() {
    static constexpr std::array<std::uint32_t, 8> kActions = {
        SECCOMP_RET_ALLOW,       SECCOMP_RET_LOG,  SECCOMP_RET_KILL_PROCESS,
        SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_USER_NOTIF,
        SECCOMP_RET_TRACE,       0x00070000};
    for (;;) {
      std::uint32_t value =
          random_.one_in(2) ? SECCOMP_RET_ERRNO + 1 + static_cast<std::uint32_t>(random_.below(100))
                            : random_.pick(kActions);
      if (random_.one_in(4)) value |= random_.word() & SECCOMP_RET_DATA;
      if (std::ranges::find(used_, value) != used_.end()) continue;
      used_.push_back(value);
      return value;
    }
  }

  RuleSet rule_set() {
    RuleSet set;
    set.action = action();
    set.vsyscall = random_.one_in(4);
    std::map<std::pair<Arch, std::uint32_t>, Rule> rules;
    for (std::size_t i = random_.below(7); i > 0; --i) {
      const Arch arch = random_.pick(policy_.arches);
      const std::uint32_t nr = number(arch);
      rules.emplace(std::pair(arch, nr), rule(3));
    }
    for (auto& [call, rule] : rules)
      set.rules.push_back(SyscallRule{call.first, call.second, std::move(rule)});
    return set;
  }

  // Few table numbers, so that rule sets and architectures meet on the same ones, and numbers of no
  // table.
  std::uint32_t number(Arch arch) {
    static constexpr std::array<std::uint32_t, 8> kOdd = {
        999, 0x3fffffff, kX32Bit, kX32Bit + 1, kX32Bit + 999, 0x80000000, 0xfffffffe, 0xffffffff};
    if (random_.one_in(6)) return random_.pick(kOdd);
    return arch_info(arch).syscalls[random_.below(8)].nr;
  }

  Rule rule(int depth) {
    if (random_.one_in(6)) return alternatives();
    Rule out;
    const std::size_t kind = random_.below(depth == 0 ? 4 : 8);
    if (kind == 0) return out;
    if (kind < 4) {
      out.kind = Rule::Kind::kArgs;
      for (std::size_t i = random_.below(4); i > 0; --i) out.fields[random_.below(7)] = matcher();
      return out;
    }
    out.kind = kind < 6 ? Rule::Kind::kAnyOf : Rule::Kind::kAllOf;
    for (std::size_t i = random_.between(1, 3); i > 0; --i) out.children.push_back(rule(depth - 1));
    return out;
  }

  // As policies list what they allow: the same few values of the same few arguments in many
  // combinations. They share conditions, and sets of values that differ in few bits.
  Rule alternatives() {
    std::vector<std::pair<std::size_t, std::vector<Matcher>>> choices;
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      const bool same = !choices.empty() && random_.one_in(4);  // of another argument
      choices.emplace_back(random_.below(7), same ? choices.back().second : similar_matchers());
    }
    Rule out;
    out.kind = Rule::Kind::kAnyOf;
    for (std::size_t i = random_.between(2, 10); i > 0; --i) {
      Rule branch;
      branch.kind = Rule::Kind::kArgs;
      for (const auto& [field, matchers] : choices)
        if (!random_.one_in(8)) branch.fields[field] = random_.pick(matchers);
      out.children.push_back(std::move(branch));
    }
    return out;
  }

  // Any two, or equalities with values that differ in up to three bits.
  std::vector<Matcher> similar_matchers() {
    if (random_.one_in(3)) return {matcher(), matcher()};
    Matcher first{Matcher::Op::kEq, value(), 0, random_.one_in(2), {}};
    if (first.low_half) first.value &= 0xffffffff;
    std::vector<Matcher> out = {first};
    for (std::size_t bits = random_.below(4); bits > 0; --bits) {
      const std::uint64_t bit = std::uint64_t{1} << random_.below(first.low_half ? 32 : 64);
      for (std::size_t i = out.size(); i > 0; --i) {
        out.push_back(out[i - 1]);
        out.back().value ^= bit;
      }
    }
    return out;
  }

  Matcher wide_matcher() {
    Matcher m;
    m.op = static_cast<Matcher::Op>(random_.below(10));
    switch (m.op) {
      case Matcher::Op::kAny:
      case Matcher::Op::kNonNegativeFd:
        return m;
      case Matcher::Op::kBitsAllowlist:
        m.mask = value();
        return m;
      case Matcher::Op::kMaskedEq:
        m.mask = value();
        m.value = value() & m.mask;
        // A value outside the mask matches nothing, which is legal.
        if (random_.one_in(8)) m.value = value();
        return m;
      default:
        break;
    }
    m.value = value();
    if (!policy_.variables.empty() && random_.one_in(4)) {
      const auto variable = random_.pick(policy_.variables);
      m.variable = variable.first;
      m.value = variable.second;
    }
    return m;
  }

  // Now and then one that looks at the low half only.
  Matcher matcher() {
    Matcher m = wide_matcher();
    if (m.op == Matcher::Op::kAny || !random_.one_in(5)) return m;
    m.low_half = true;
    m.value &= 0xffffffff;
    m.mask &= 0xffffffff;
    return m;
  }

  std::uint64_t value() {
    if (random_.one_in(4)) return random_.next();
    const std::uint64_t v = random_.pick(kValues);
    return random_.one_in(4) ? near(random_, v) : v;
  }
  std::uint32_t value32() { return static_cast<std::uint32_t>(value()); }

  Random& random_;
  Policy policy_;
  std::vector<std::uint32_t> used_;
};

void collect(const Rule& rule, std::vector<std::uint64_t>& values) {
  for (const Rule& child : rule.children) collect(child, values);
  for (const Matcher& m : rule.fields)
    for (const std::uint64_t v : {m.value, m.mask, ~m.mask, m.value | ~m.mask}) values.push_back(v);
}

}  // namespace

Policy random_policy(Random& random) { return Generator(random).generate(); }

SeccompData random_call(Random& random, const Policy& policy) {
  std::vector<std::uint64_t> values(kValues.begin(), kValues.end());
  std::vector<std::uint32_t> numbers = {0, 999, kX32Bit, 0xffffffff};
  for (const RuleSet& set : policy.rule_sets) {
    for (const SyscallRule& entry : set.rules) {
      numbers.push_back(entry.nr);
      collect(entry.rule, values);
    }
  }
  SeccompData data;
  const ArchInfo& arch = arch_info(random.pick(policy.arches));
  data.set_arch(random.one_in(16) ? random.pick(all_arches()).audit : arch.audit);
  data.set_nr(random.pick(numbers));
  if (random.one_in(8)) data.set_nr(data.nr() ^ 1u << random.below(32));
  for (int field = 0; field <= kIpField; ++field) {
    std::uint64_t v = random.one_in(6) ? random.next() : near(random, random.pick(values));
    if (random.one_in(4)) v ^= std::uint64_t{1} << random.below(64);
    if (random.one_in(4)) v = 0;
    data.set_field(field, v, arch.endian);
  }
  return data;
}

}  // namespace secequiv
