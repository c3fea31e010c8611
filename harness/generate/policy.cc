#include "harness/generate/policy.h"

#include <algorithm>
#include <array>

#include "harness/generate/random_policy.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using Op = Matcher::Op;

constexpr std::array<std::string_view, kPolicyShapes> kShapeNames = {
    "plain", "many-calls", "matchers", "ranges", "products", "arches", "priority", "common"};

constexpr std::array<std::uint64_t, 14> kValues = {0,
                                                   1,
                                                   3,
                                                   0x80,
                                                   0x7fffffff,
                                                   0x80000000,
                                                   0xffffffff,
                                                   0x100000000,
                                                   0x100000001,
                                                   0x7fffffff00000000,
                                                   0x7fffffffffffffff,
                                                   0x8000000000000000,
                                                   0xffffffff80000000,
                                                   0xffffffffffffffff};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {
    policy_.name = "generated";
    policy_.arches = {Arch::kX86_64};
    action_ = random_.one_in(2) ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO;
    policy_.default_action = action();
    policy_.bad_arch_action = random_.one_in(4) ? policy_.default_action : action();
  }

  Policy generate(PolicyShape shape) {
    switch (shape) {
      case PolicyShape::kPlain:
        return random_policy(random_);
      case PolicyShape::kManyCalls:
        many_calls();
        break;
      case PolicyShape::kMatchers:
        for (std::size_t i = random_.between(1, 5); i > 0; --i)
          add(random_.below(2), call(4), fields(random_.between(1, 2)));
        break;
      case PolicyShape::kRanges:
        for (std::size_t i = random_.between(1, 3); i > 0; --i)
          add(random_.below(2), call(4), random_.one_in(2) ? range() : value_set());
        break;
      case PolicyShape::kProducts:
        add(0, call(4), product());
        if (random_.one_in(2)) add(1, call(4), product());
        break;
      case PolicyShape::kArches:
        arches();
        break;
      case PolicyShape::kPriority:
        priority();
        break;
      case PolicyShape::kCommon:
        common();
        return std::move(policy_);
    }
    if (random_.one_in(4)) policy_.hot.emplace_back(random_.one_in(2) ? "read" : "write");
    return std::move(policy_);
  }

 private:
  struct Call {
    Arch arch;
    std::uint32_t nr;
  };

  // Near one action, so that data bits alone tell many apart; and equal ones.
  std::uint32_t action() {
    static constexpr std::array<std::uint32_t, 8> kActions = {
        SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
        SECCOMP_RET_TRAP,  SECCOMP_RET_LOG,   SECCOMP_RET_TRACE,        SECCOMP_RET_USER_NOTIF};
    if (random_.one_in(3)) return random_.pick(kActions);
    return action_ | static_cast<std::uint32_t>(random_.below(3));
  }

  Call call(std::size_t numbers) {
    static constexpr std::array<std::uint32_t, 6> kOdd = {0xffffffff, 0xfffffffe,  0x80000000,
                                                          kX32Bit,    kX32Bit + 1, 0xf0001};
    if (random_.one_in(8)) return {Arch::kX86_64, random_.pick(kOdd)};
    return {Arch::kX86_64, static_cast<std::uint32_t>(random_.below(numbers))};
  }

  // To the set with this number, which is made if need be.
  void add(std::size_t set, Call call, Rule rule) {
    while (policy_.rule_sets.size() <= set) {
      policy_.rule_sets.push_back({action(), random_.one_in(8), {}});
      if (random_.one_in(8)) policy_.rule_sets.push_back({action(), false, {}});  // stays empty
    }
    auto& rules = policy_.rule_sets[set].rules;
    const auto at =
        std::ranges::lower_bound(rules, std::pair(call.arch, call.nr), {},
                                 [](const SyscallRule& r) { return std::pair(r.arch, r.nr); });
    if (at != rules.end() && at->arch == call.arch && at->nr == call.nr) {
      at->rule = std::move(rule);
    } else {
      rules.insert(at, SyscallRule{call.arch, call.nr, std::move(rule)});
    }
  }

  std::uint64_t value() {
    const std::uint64_t v = random_.pick(kValues);
    return random_.one_in(3) ? v - 1 + random_.below(3) : v;
  }
  std::size_t field() { return random_.one_in(12) ? kIpField : random_.below(4); }

  Matcher matcher() {
    Matcher m;
    m.low_half = random_.one_in(5);
    const std::uint64_t width = m.low_half ? 0xffffffff : ~std::uint64_t{0};
    m.value = value() & width;
    switch (random_.below(8)) {
      case 0:
        m.op = Op::kNonNegativeFd;
        m.value = 0;
        break;
      case 1:
        m.op = Op::kBitsAllowlist;
        m.mask = random_.one_in(8) ? 0 : value() & width;
        m.value = 0;
        break;
      case 2:
      case 3:
        m.op = Op::kMaskedEq;
        m.mask = random_.one_in(6) ? 0 : value() & width;
        m.value = random_.one_in(2) ? 0 : random_.one_in(6) ? m.value : m.value & m.mask;
        break;
      default:
        m.op = random_.pick(std::array{Op::kEq, Op::kNe, Op::kGt, Op::kGe, Op::kLt, Op::kLe});
    }
    return m;
  }

  Rule fields(std::size_t count) {
    Rule out;
    out.kind = Rule::Kind::kArgs;
    for (; count > 0; --count) out.fields[field()] = matcher();
    return out;
  }
  static Rule one(std::size_t field, Matcher m) {
    Rule out;
    out.kind = Rule::Kind::kArgs;
    out.fields[field] = std::move(m);
    return out;
  }
  static Rule group(Rule::Kind kind, std::vector<Rule> children) {
    Rule out;
    out.kind = kind;
    out.children = std::move(children);
    return out;
  }

  Rule range() {
    const std::size_t where = field();
    std::uint64_t low = value();
    std::uint64_t high = value();
    if (low > high && !random_.one_in(8)) std::swap(low, high);
    const Rule both =
        group(Rule::Kind::kAllOf,
              {one(where, {random_.one_in(2) ? Op::kGe : Op::kGt, low, 0, false, {}}),
               one(where, {random_.one_in(2) ? Op::kLe : Op::kLt, high, 0, false, {}})});
    return random_.one_in(3) ? group(Rule::Kind::kAnyOf, {both, fields(1)}) : both;
  }

  // Values of one argument: all that differ in some bits, or many.
  Rule value_set() {
    const std::size_t where = field();
    const bool low_half = random_.one_in(2);
    std::vector<std::uint64_t> values = {value()};
    if (random_.one_in(4)) {
      const std::uint64_t step = random_.one_in(2) ? 1 : 1 + random_.below(0x1000);
      for (std::size_t i = random_.between(5, 200); i > 0; --i)
        values.push_back(values.back() + step);
    } else {
      for (std::size_t bits = random_.between(1, 3); bits > 0; --bits) {
        const std::uint64_t bit = std::uint64_t{1} << random_.below(low_half ? 32 : 64);
        for (std::size_t i = values.size(); i > 0; --i) values.push_back(values[i - 1] ^ bit);
      }
      // One of them missing or different: then it is no test of bits.
      if (random_.one_in(4)) values.pop_back();
      if (random_.one_in(4)) values.back() ^= std::uint64_t{1} << random_.below(32);
    }
    std::vector<Rule> children;
    children.reserve(values.size());
    for (const std::uint64_t v : values)
      children.push_back(one(where, {Op::kEq, low_half ? v & 0xffffffff : v, 0, low_half, {}}));
    return group(Rule::Kind::kAnyOf, std::move(children));
  }

  Rule product() {
    std::vector<Rule> out = {Rule{Rule::Kind::kArgs, {}, {}}};
    for (std::size_t factor = random_.between(2, 4); factor > 0; --factor) {
      const std::size_t where = field();
      std::vector<Rule> next;
      for (std::size_t choices = random_.between(1, 3); choices > 0; --choices) {
        const Matcher m = matcher();
        for (Rule rule : out) {
          rule.fields[where] = m;
          next.push_back(std::move(rule));
        }
      }
      out = std::move(next);
    }
    if (out.size() > 2 && random_.one_in(3))
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(random_.below(out.size())));
    return group(Rule::Kind::kAnyOf, std::move(out));
  }

  Rule mostly_true() { return random_.one_in(4) ? fields(1) : Rule{}; }

  void many_calls() {
    const std::size_t sets = random_.between(1, 3);
    auto nr = static_cast<std::uint32_t>(random_.below(20));
    for (std::size_t i = random_.between(5, 80); i > 0; --i) {
      add(random_.below(sets), {Arch::kX86_64, nr}, mostly_true());
      nr += random_.one_in(6) ? 1 + static_cast<std::uint32_t>(random_.below(10)) : 1;
    }
    if (random_.one_in(2)) add(0, {Arch::kX86_64, 0xffffffff}, {});
  }

  void arches() {
    static constexpr std::array<Arch, 6> kOthers = {Arch::kX32,     Arch::kI386,  Arch::kX32,
                                                    Arch::kAarch64, Arch::kS390x, Arch::kArm};
    for (std::size_t i = random_.between(0, 3); i > 0; --i) {
      const Arch other = random_.pick(kOthers);
      if (!policy_.has_arch(other)) policy_.arches.push_back(other);
    }
    if (!policy_.has_arch(Arch::kX32) && random_.one_in(2)) policy_.x32_action = action();
    for (std::size_t i = random_.between(2, 10); i > 0; --i) {
      const Rule rule = mostly_true();
      const Call first = call(4);
      const std::size_t set = random_.below(3);
      // The same number or its x32 form on all; or on one with other consequences.
      for (const Arch arch : policy_.arches) {
        if (random_.one_in(3)) continue;
        const bool x32 = arch == Arch::kX32 && !random_.one_in(4);
        add(set, {arch, x32 ? first.nr | kX32Bit : first.nr},
            random_.one_in(4) ? mostly_true() : rule);
      }
      if (policy_.has_arch(Arch::kArm)) add(set, {Arch::kArm, 0xf0000 + first.nr % 8}, rule);
    }
  }

  void priority() {
    const std::size_t sets = random_.between(2, 6);
    for (std::size_t set = 0; set < sets; ++set)
      for (std::size_t i = random_.below(4); i > 0; --i)
        add(set, call(2), random_.one_in(3) ? Rule{} : fields(1));
    for (RuleSet& set : policy_.rule_sets) set.vsyscall = random_.one_in(4);
  }

  Rule conjunction() {
    Rule out;
    out.kind = Rule::Kind::kArgs;
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      Matcher& m = out.fields[random_.below(4)];
      m = Matcher{};
      m.value = value();
      m.op =
          random_.pick(std::array{Op::kEq, Op::kEq, Op::kNe, Op::kGt, Op::kGe, Op::kLt, Op::kLe});
      if (!random_.one_in(4)) continue;
      m.op = Op::kMaskedEq;
      m.mask = value();
      m.value &= m.mask;
    }
    return out;
  }

  void common() {
    static constexpr std::array<std::uint32_t, 4> kDefaults = {
        SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO | 1, SECCOMP_RET_TRAP, SECCOMP_RET_LOG};
    policy_.default_action = random_.pick(kDefaults);
    policy_.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
    if (random_.one_in(2)) policy_.x32_action = SECCOMP_RET_KILL_PROCESS;
    for (std::size_t i = random_.between(1, 12); i > 0; --i) {
      Rule rule;
      if (random_.one_in(2)) {
        std::vector<Rule> alternatives;
        for (std::size_t n = random_.between(1, 4); n > 0; --n)
          alternatives.push_back(conjunction());
        rule = alternatives.size() == 1 ? alternatives.front()
                                        : group(Rule::Kind::kAnyOf, std::move(alternatives));
      }
      add(0, {Arch::kX86_64, static_cast<std::uint32_t>(random_.below(300))}, std::move(rule));
    }
    policy_.rule_sets.resize(1);
    policy_.rule_sets.front().vsyscall = false;
    policy_.rule_sets.front().action = SECCOMP_RET_ALLOW;
  }

  Random& random_;
  Policy policy_;
  std::uint32_t action_ = 0;
};

}  // namespace

std::string_view shape_name(PolicyShape shape) {
  return kShapeNames[static_cast<std::size_t>(shape)];
}

Policy generate_policy(Random& random) {
  return generate_policy(random, static_cast<PolicyShape>(random.below(kPolicyShapes)));
}

Policy generate_policy(Random& random, PolicyShape shape) {
  return Generator(random).generate(shape);
}

}  // namespace secequiv
