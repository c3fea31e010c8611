#include "harness/generate/policy.h"

#include <algorithm>
#include <array>
#include <map>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using Op = Matcher::Op;

constexpr std::array<std::string_view, kPolicyShapes> kPolicyShapeNames = {
    "plain",  "many-calls", "matchers", "ranges", "products",
    "arches", "priority",   "common",   "long"};

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

// Returns v - 1, v or v + 1.
std::uint64_t near_value(Random& random, std::uint64_t v) { return v - 1 + random.below(3); }

class PolicyGenerator {
 public:
  PolicyGenerator(Random& random, PolicyShape shape, const PolicyLimits& limits)
      : random_(random), shape_(shape), plain_(shape == PolicyShape::kPlain), limits_(limits) {
    if (!limits.arches.empty()) arch_ = random_.pick(limits.arches);
    if (plain_) return;
    policy_.name = "generated";
    policy_.arches = {arch_};
    action_ = random_.one_in(2) ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO;
    policy_.default_action = action();
    policy_.bad_arch_action = random_.one_in(4) ? policy_.default_action : action();
  }

  Policy generate() {
    draw();
    if (policy_.has_arch(Arch::kX32) && !policy_.has_arch(Arch::kX86_64))
      policy_.arches.push_back(Arch::kX86_64);  // a policy may not have x32 alone
    return std::move(policy_);
  }

 private:
  void draw() {
    switch (shape_) {
      case PolicyShape::kPlain:
        plain();
        return;
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
      case PolicyShape::kLong:
        common();
        return;
    }
    if (random_.one_in(4)) policy_.hot.emplace_back(random_.one_in(2) ? "read" : "write");
  }

  struct Call {
    Arch arch;
    std::uint32_t nr;
  };

  [[nodiscard]] bool may_have(Arch arch) const {
    return limits_.arches.empty() ||
           std::ranges::find(limits_.arches, arch) != limits_.arches.end();
  }
  [[nodiscard]] bool may_have_x32_action() const {
    return policy_.has_arch(Arch::kX86_64) && !policy_.has_arch(Arch::kX32);
  }

  // Usually returns an action near action_, so that many actions are equal or differ only in data
  // bits.
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
    if (random_.one_in(8)) return {arch_, random_.pick(kOdd)};
    return {arch_, static_cast<std::uint32_t>(random_.below(numbers))};
  }

  // Adds the rule to the rule set with index `set`, which is created if necessary.
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

  // Usually returns one of a few fields, so that rules test the same fields.
  std::size_t field() {
    if (plain_) return random_.below(7);
    return random_.one_in(12) ? kIpField : random_.below(4);
  }
  // Makes 0 more frequent than it is in the table: masks and values of 0 are special cases.
  bool zero() { return !plain_ && random_.one_in(6); }

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

  // Returns alternatives for the value of one argument: all values that differ in some bits, or
  // many values.
  Rule value_set() {
    const std::size_t where = field();
    const bool low_half = limits_.low_halves && random_.one_in(2);
    if (random_.one_in(4)) return many_values(where, random_.between(6, 200), low_half);
    std::vector<std::uint64_t> values = bit_set(value(), random_.between(1, 3), low_half);
    // If one value is missing or different, the set is no longer a test of bits.
    if (random_.one_in(4)) values.pop_back();
    if (random_.one_in(4)) values.back() ^= std::uint64_t{1} << random_.below(32);
    return one_of(where, values, low_half);
  }

  Rule many_values(std::size_t where, std::size_t count, bool low_half = false) {
    std::vector<std::uint64_t> values = {value()};
    const std::uint64_t step = random_.one_in(2) ? 1 : 1 + random_.below(0x1000);
    while (values.size() < count) values.push_back(values.back() + step);
    return one_of(where, values, low_half);
  }

  static Rule one_of(std::size_t where, const std::vector<std::uint64_t>& values, bool low_half) {
    std::vector<Rule> children;
    children.reserve(values.size());
    for (const std::uint64_t v : values)
      children.push_back(one(where, {Op::kEq, low_half ? v & 0xffffffff : v, 0, low_half, {}}));
    return group(Rule::Kind::kAnyOf, std::move(children));
  }

  // Returns alternatives that mostly test values of one argument. Many of them also have another
  // condition.
  Rule values_with_conditions() {
    const std::size_t where = field();
    const bool low_half = limits_.low_halves && random_.one_in(2);
    const std::uint64_t first = low_half ? value32() / 2 : value();
    const std::size_t values = random_.between(3, 20);
    std::vector<Rule> children;
    for (std::size_t i = random_.between(values, 2 * values); i > 0; --i) {
      Rule& child = children.emplace_back(random_.one_in(3) ? Rule{} : fields(1));
      child.kind = Rule::Kind::kArgs;
      child.fields[random_.one_in(4) ? field() : where] = {
          Op::kEq, first + random_.below(values), 0, low_half, {}};
    }
    return group(Rule::Kind::kAnyOf, std::move(children));
  }

  Rule product() {
    if (random_.one_in(3)) return values_with_conditions();
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
      add(random_.below(sets), {arch_, nr}, mostly_true());
      nr += random_.one_in(6) ? 1 + static_cast<std::uint32_t>(random_.below(10)) : 1;
    }
    if (random_.one_in(2)) add(0, {arch_, 0xffffffff}, {});
  }

  void arches() {
    static constexpr std::array<Arch, 6> kOthers = {Arch::kX32,     Arch::kI386,  Arch::kX32,
                                                    Arch::kAarch64, Arch::kS390x, Arch::kArm};
    for (std::size_t i = random_.between(0, 3); i > 0; --i) {
      const Arch other = random_.pick(kOthers);
      if (!policy_.has_arch(other) && may_have(other)) policy_.arches.push_back(other);
    }
    if (may_have_x32_action() && random_.one_in(2)) policy_.x32_action = action();
    for (std::size_t i = random_.between(2, 10); i > 0; --i) {
      const Rule rule = mostly_true();
      const Call first = call(4);
      const std::size_t set = random_.below(3);
      // All architectures use the same number or its x32 form. Some of them give it a different
      // effect, and some do not use it.
      for (const Arch arch : policy_.arches) {
        if (random_.one_in(3)) continue;
        const bool x32 = arch == Arch::kX32 && !random_.one_in(4);
        add(set, {arch, x32 ? first.nr | kX32Bit : first.nr},
            random_.one_in(4) ? mostly_true() : rule);
      }
      if (policy_.has_arch(Arch::kArm)) add(set, {Arch::kArm, 0xf0000 + first.nr % 8}, rule);
    }
    default_ranges();
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
    if (may_have_x32_action() && random_.one_in(2)) policy_.x32_action = SECCOMP_RET_KILL_PROCESS;
    const bool long_one = shape_ == PolicyShape::kLong;
    const std::size_t entries =
        long_one ? random_.between(100, 600) : random_.between(1, limits_.rules);
    const bool values = long_one && random_.one_in(4);
    if (values) add(0, call(4), many_values(random_.below(4), entries));
    for (std::size_t i = 0; i < entries && !values; ++i) {
      Rule rule;
      if (random_.one_in(long_one ? 16 : 2)) {
        std::vector<Rule> alternatives;
        for (std::size_t n = random_.between(1, 4); n > 0; --n)
          alternatives.push_back(conjunction());
        rule = alternatives.size() == 1 ? alternatives.front()
                                        : group(Rule::Kind::kAnyOf, std::move(alternatives));
      }
      const std::size_t nr = long_one ? i + i / 4 : random_.below(300);
      add(0, {arch_, static_cast<std::uint32_t>(nr)}, std::move(rule));
    }
    policy_.rule_sets.resize(1);
    policy_.rule_sets.front().vsyscall = false;
    policy_.rule_sets.front().action = SECCOMP_RET_ALLOW;
  }

  void plain() {
    policy_.name = "random";
    std::size_t arches = random_.one_in(3) ? random_.between(2, 3) : 1;
    if (!limits_.arches.empty()) arches = std::min(arches, limits_.arches.size());
    while (policy_.arches.size() < arches) {
      // x86_64 is more frequent than the others, because only it can have an x32 action.
      const Arch arch = random_.one_in(3) ? arch_ : random_.pick(all_arches()).arch;
      if (!policy_.has_arch(arch) && may_have(arch)) policy_.arches.push_back(arch);
    }
    policy_.default_action = distinct_action();
    policy_.bad_arch_action = distinct_action();
    if (may_have_x32_action() && random_.one_in(2)) policy_.x32_action = distinct_action();
    if (random_.one_in(2)) policy_.variables = {{"first", value32()}, {"second", value32()}};
    const std::size_t sets = random_.between(1, 4);
    for (std::size_t i = 0; i < sets; ++i) policy_.rule_sets.push_back(rule_set());
    default_ranges();
    const auto calls = arch_info(policy_.arches[0]).syscalls;
    for (std::size_t i = random_.below(3); i > 0; --i)
      policy_.hot.emplace_back(calls[random_.below(calls.size())].name);
  }

  // Draws from a copy of the source of random numbers, so that the same seed gives the same rules
  // as it would without ranges.
  void default_ranges() {
    static constexpr std::array<std::uint32_t, 10> kStarts = {
        0, 2, 6, 999, 0x3fffffff, kX32Bit, kX32Bit + 1, 0x80000000, 0xc0000000, 0xffffffff};
    Random random = random_;
    if (!random.one_in(4)) return;
    std::uint32_t action = SECCOMP_RET_ERRNO | 200;
    std::vector<Arch> arches = policy_.arches;
    std::ranges::sort(arches);
    for (const Arch arch : arches) {
      if (arch == Arch::kX32 || random.one_in(2)) continue;
      for (std::size_t i = random.below(kStarts.size()); i < kStarts.size(); ++i) {
        const std::uint32_t last =
            i + 1 == kStarts.size() || random.one_in(2) ? kStarts[i] : kStarts[i + 1] - 1;
        policy_.default_ranges.push_back(
            {arch, kStarts[i], last, random.one_in(4) ? policy_.default_action : action++});
        if (random.one_in(3)) break;
      }
    }
  }

  // Returns an action that differs from all earlier ones of the policy. It may have data bits, and
  // sometimes the kernel does not know it.
  std::uint32_t distinct_action() {
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
    set.action = distinct_action();
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

  // Returns one of a few numbers in the table, so that rule sets and architectures use the same
  // ones. Sometimes returns a number that only x32's table has, or no table.
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
      for (std::size_t i = random_.below(4); i > 0; --i) out.fields[field()] = matcher();
      return out;
    }
    out.kind = kind < 6 ? Rule::Kind::kAnyOf : Rule::Kind::kAllOf;
    for (std::size_t i = random_.between(1, 3); i > 0; --i) out.children.push_back(rule(depth - 1));
    return out;
  }

  // Combines few values of few arguments in many ways, as real policies do. The alternatives share
  // conditions, and sets of values that differ in few bits.
  Rule alternatives() {
    std::vector<std::pair<std::size_t, std::vector<Matcher>>> choices;
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      const bool same = !choices.empty() && random_.one_in(4);  // repeats the last choice
      choices.emplace_back(field(), same ? choices.back().second : similar_matchers());
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

  // Returns `first` and all values that differ from it only in some of `bits` random bits.
  std::vector<std::uint64_t> bit_set(std::uint64_t first, std::size_t bits, bool low_half) {
    std::vector<std::uint64_t> out = {first};
    for (; bits > 0; --bits) {
      const std::uint64_t bit = std::uint64_t{1} << random_.below(low_half ? 32 : 64);
      for (std::size_t i = out.size(); i > 0; --i) out.push_back(out[i - 1] ^ bit);
    }
    return out;
  }

  // Returns two unrelated matchers, or equalities with values that differ in up to three bits.
  std::vector<Matcher> similar_matchers() {
    if (random_.one_in(3)) return {matcher(), matcher()};
    Matcher first{Matcher::Op::kEq, value(), 0, limits_.low_halves && random_.one_in(2), {}};
    if (first.low_half) first.value &= 0xffffffff;
    std::vector<Matcher> out;
    for (const std::uint64_t v : bit_set(first.value, random_.below(4), first.low_half)) {
      out.push_back(first);
      out.back().value = v;
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
        m.mask = zero() ? 0 : value();
        return m;
      case Matcher::Op::kMaskedEq:
        m.mask = zero() ? 0 : value();
        m.value = zero() ? 0 : value() & m.mask;
        // A value with bits outside the mask matches nothing. That is legal.
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

  // Sometimes returns a matcher that tests only the low half.
  Matcher matcher() {
    Matcher m = wide_matcher();
    if (m.op == Matcher::Op::kAny || !limits_.low_halves || !random_.one_in(5)) return m;
    m.low_half = true;
    m.value &= 0xffffffff;
    m.mask &= 0xffffffff;
    return m;
  }

  std::uint64_t value() {
    if (random_.one_in(4)) return random_.next();
    const std::uint64_t v = random_.pick(kValues);
    return random_.one_in(4) ? near_value(random_, v) : v;
  }
  std::uint32_t value32() { return static_cast<std::uint32_t>(value()); }

  Random& random_;
  PolicyShape shape_;
  bool plain_;
  const PolicyLimits& limits_;
  Arch arch_ = Arch::kX86_64;  // the architecture if there is only one
  Policy policy_;
  std::uint32_t action_ = 0;         // except in kPlain, most actions are near this one
  std::vector<std::uint32_t> used_;  // the actions so far; those of kPlain are distinct
};

constexpr std::array<std::string_view, 20> kFeatures = {"several architectures",
                                                        "other architectures than x86_64",
                                                        "an x32 action",
                                                        "default ranges",
                                                        "several rule sets",
                                                        "rules for vsyscall",
                                                        "variables",
                                                        "100 calls and more",
                                                        "several conditions",
                                                        "nested rules",
                                                        "the instruction pointer",
                                                        "low halves",
                                                        "eq",
                                                        "ne",
                                                        "gt",
                                                        "ge",
                                                        "lt",
                                                        "le",
                                                        "masked_eq",
                                                        "bits_allowlist or fd"};
// The indices of kFeatures. Operators follow from kFirstOp on, in the order of Matcher::Op.
enum Feature : std::size_t {
  kSeveralArches,
  kOtherArch,
  kX32Action,
  kDefaultRanges,
  kSeveralSets,
  kVsyscallRules,
  kVariables,
  kManyRules,
  kSeveralTests,
  kNestedRules,
  kInstructionPointer,
  kLowHalves,
  kFirstOp
};

static_assert(kFirstOp + 8 == kFeatures.size());

void describe_rule(const Rule& rule, std::array<bool, kFeatures.size()>& has, bool top) {
  has[kNestedRules] =
      has[kNestedRules] || (is_branching(rule) && !(top && rule.kind == Rule::Kind::kAnyOf));
  for (const Rule& child : rule.children) describe_rule(child, has, false);
  std::size_t tests = 0;
  for (std::size_t field = 0; field < rule.fields.size(); ++field) {
    const Matcher& m = rule.fields[field];
    if (m.op == Op::kAny) continue;
    has[kSeveralTests] = has[kSeveralTests] || ++tests > 1;
    has[kInstructionPointer] = has[kInstructionPointer] || field == kIpField;
    has[kLowHalves] = has[kLowHalves] || m.low_half;
    const auto op = static_cast<std::size_t>(m.op) - static_cast<std::size_t>(Op::kEq);
    has[std::min(kFirstOp + op, has.size() - 1)] = true;
  }
}

void collect(const Rule& rule, std::vector<std::uint64_t>& values) {
  for (const Rule& child : rule.children) collect(child, values);
  for (const Matcher& m : rule.fields)
    for (const std::uint64_t v : {m.value, m.mask, ~m.mask, m.value | ~m.mask}) values.push_back(v);
}

}  // namespace

std::string_view shape_name(PolicyShape shape) {
  return kPolicyShapeNames[static_cast<std::size_t>(shape)];
}

Policy generate_policy(Random& random) {
  if (random.one_in(64)) return generate_policy(random, PolicyShape::kLong);
  return generate_policy(random, static_cast<PolicyShape>(random.below(kPolicyShapes - 1)));
}

Policy generate_policy(Random& random, PolicyShape shape, const PolicyLimits& limits) {
  return PolicyGenerator(random, shape, limits).generate();
}

std::span<const std::string_view> policy_features() { return kFeatures; }

std::vector<std::uint16_t> describe_policy(const Policy& policy) {
  std::array<bool, kFeatures.size()> has{};
  has[kSeveralArches] = policy.arches.size() > 1;
  has[kOtherArch] =
      std::ranges::any_of(policy.arches, [](Arch arch) { return arch != Arch::kX86_64; });
  has[kX32Action] = policy.x32_action.has_value();
  has[kDefaultRanges] = !policy.default_ranges.empty();
  has[kSeveralSets] = policy.rule_sets.size() > 1;
  has[kVariables] = !policy.variables.empty();
  for (const RuleSet& set : policy.rule_sets) {
    has[kVsyscallRules] = has[kVsyscallRules] || set.vsyscall;
    has[kManyRules] = has[kManyRules] || set.rules.size() >= 100;
    for (const SyscallRule& entry : set.rules) describe_rule(entry.rule, has, true);
  }
  std::vector<std::uint16_t> out;
  for (std::size_t i = 0; i < has.size(); ++i)
    if (has[i]) out.push_back(static_cast<std::uint16_t>(i));
  return out;
}

Policy random_policy(Random& random) { return generate_policy(random, PolicyShape::kPlain); }

SeccompData random_call(Random& random, const Policy& policy) {
  std::vector<std::uint64_t> values(kValues.begin(), kValues.end());
  std::vector<std::uint32_t> numbers = {0, 999, kX32Bit, 0xffffffff};
  for (const RuleSet& set : policy.rule_sets) {
    for (const SyscallRule& entry : set.rules) {
      numbers.push_back(entry.nr);
      collect(entry.rule, values);
    }
  }
  for (const DefaultRange& range : policy.default_ranges)
    for (const std::uint32_t nr : {range.first - 1, range.first, range.last, range.last + 1})
      numbers.push_back(nr);
  SeccompData data;
  const ArchInfo& arch = arch_info(random.pick(policy.arches));
  data.set_arch(random.one_in(16) ? random.pick(all_arches()).audit : arch.audit);
  data.set_nr(random.pick(numbers));
  if (random.one_in(8)) data.set_nr(data.nr() ^ 1u << random.below(32));
  for (int field = 0; field <= kIpField; ++field) {
    std::uint64_t v = random.one_in(6) ? random.next() : near_value(random, random.pick(values));
    if (random.one_in(4)) v ^= std::uint64_t{1} << random.below(64);
    if (random.one_in(4)) v = 0;
    data.set_field(field, v, arch.endian);
  }
  return data;
}

}  // namespace secequiv
