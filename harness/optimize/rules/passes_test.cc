// Tests the passes over rules: the law and the example of each one, its effects and its limits.
// Random rules must match the same inputs after every pass and after all of them.
#include "harness/optimize/rules/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "harness/base/file.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/inputs/cases.h"
#include "harness/policy/testing.h"

namespace secequiv::rules_passes_test {
namespace {

using detail::rule_pass_rows;
using detail::RulePassRow;

Rule rule_from(std::string_view text) {
  auto rule = read_rule(text, "test");
  if (rule) return std::move(*rule);
  ADD_FAILURE() << rule.error().text() << "\n" << text;
  return {};
}

// Returns the rule's text as the writer spells it.
std::string spelled(std::string_view text) { return write_rule(rule_from(text)); }

std::string applied(std::string_view pass, std::string_view text) {
  for (const RulePassRow& row : rule_pass_rows())
    if (row.name == pass) return write_rule(row.run(rule_from(text)));
  ADD_FAILURE() << "no pass " << pass;
  return {};
}

struct Fixpoint {
  Rule rule;
  std::size_t rounds = 0;  // number of rounds; the last one changed nothing
};

Fixpoint to_fixpoint(const Rule& rule) {
  Fixpoint out{rule, 0};
  for (bool changed = true; changed && out.rounds < 100;) {
    changed = false;
    ++out.rounds;
    for (const RulePassRow& row : rule_pass_rows()) {
      Rule next = row.run(out.rule);
      changed = changed || next != out.rule;
      out.rule = std::move(next);
    }
  }
  EXPECT_LT(out.rounds, 100u) << "no fixpoint: " << write_rule(out.rule);
  return out;
}

std::size_t matchers(const Rule& rule) {
  std::size_t out = 0;
  for (const Rule& child : rule.children) out += matchers(child);
  for (const Matcher& m : rule.fields) out += m.op == Matcher::Op::kAny ? 0 : 1;
  return out;
}

std::size_t depth(const Rule& rule) {
  std::size_t below = 0;
  for (const Rule& child : rule.children) below = std::max(below, depth(child));
  return below + 1;
}

TEST(RulePasses, TableHasALawAndAnExampleForEachPass) {
  const std::vector<std::string_view> names = {
      "unwrap-single",    "flatten-nested",   "drop-duplicates", "any-of-match-all",
      "all-of-match-all", "all-any-args",     "fd-as-bits",      "split-halves",
      "extract-common",   "value-set-to-bits"};
  std::vector<std::string_view> found;
  for (const RulePassRow& row : rule_pass_rows()) {
    found.push_back(row.name);
    EXPECT_TRUE(row.law.ends_with('.')) << row.name << ": the law is a sentence";
    EXPECT_EQ(row.law.find(". "), std::string_view::npos)
        << row.name << ": the law is one sentence";
  }
  EXPECT_EQ(found, names);
}

TEST(RulePasses, ExamplesAreCorrect) {
  for (const RulePassRow& row : rule_pass_rows()) {
    EXPECT_NE(row.example_before, row.example_after) << row.name;
    EXPECT_EQ(spelled(row.example_before), row.example_before) << row.name;
    EXPECT_EQ(applied(row.name, row.example_before), row.example_after) << row.name;
  }
}

struct Case {
  const char* pass;
  const char* before;
  const char* after;
};

// A, B, ... stand for unrelated conditions.
std::string expand(std::string_view text) {
  static const std::map<char, std::string> kConditions = {
      {'A', R"({"args":{"0":{"eq":1,"bits":32}}})"}, {'B', R"({"args":{"1":{"gt":2}}})"},
      {'C', R"({"args":{"2":{"ne":3}}})"},           {'D', R"({"args":{"3":{"lt":4}}})"},
      {'E', R"({"args":{"4":{"le":5}}})"},           {'F', R"({"args":{"ip":{"ge":6}}})"}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const auto found = kConditions.find(text[i]); found != kConditions.end()) {
      out += found->second;
    } else if (const std::string_view kind = text.substr(i, 3); kind == "any" || kind == "all") {
      out += fmt::format(R"({{"{}_of":)", kind);
      i += 2;
    } else {
      out += text[i] == ']' ? "]}" : std::string(1, text[i]);
    }
  }
  return out;
}

TEST(RulePasses, PassesHaveTheListedEffectsOnAnyOfAndAllOf) {
  const Case cases[] = {
      {"unwrap-single", "all[A]", "A"},
      {"unwrap-single", "any[all[any[A]]]", "A"},
      {"unwrap-single", "any[all[A],B]", "any[A,B]"},
      {"unwrap-single", "any[true]", "true"},
      {"unwrap-single", "any[A,A]", nullptr},
      {"flatten-nested", "any[any[A,B],C,any[D,any[E,F]]]", "any[A,B,C,D,E,F]"},
      {"flatten-nested", "all[A,all[B,all[C]]]", "all[A,B,C]"},
      {"flatten-nested", "any[A,all[B,any[C,any[D,E]]]]", "any[A,all[B,any[C,D,E]]]"},
      {"flatten-nested", "any[all[A,B],all[any[C,D],E]]", nullptr},
      {"flatten-nested", "all[A,any[B,all[C,D]]]", nullptr},
      {"drop-duplicates", "any[A,B,A,A,C,B]", "any[A,B,C]"},
      {"drop-duplicates", "all[A,B,A]", "all[A,B]"},
      {"drop-duplicates", "any[A,A]", "any[A]"},
      {"drop-duplicates", "any[all[A,B],C,all[B,A]]", "any[all[A,B],C]"},
      {"drop-duplicates", "any[all[A,any[B,C,B]],all[any[C,B],A],D]", "any[all[A,any[B,C]],D]"},
      {"drop-duplicates", "any[all[A,B],any[A,B],all[A,C]]", nullptr},
      {"drop-duplicates", "all[any[A,B],all[A,B]]", nullptr},
      {"drop-duplicates", "any[all[A,B],all[A,C],A]", nullptr},
      {"any-of-match-all", "any[A,true,B]", "true"},
      {"any-of-match-all", "all[A,any[B,any[C,true]]]", "all[A,true]"},
      {"any-of-match-all", "all[A,true]", nullptr},
      {"any-of-match-all", "any[A,all[B,true]]", nullptr},
      {"all-of-match-all", "all[true,A,true,B]", "all[A,B]"},
      {"all-of-match-all", "all[true,true]", "true"},
      {"all-of-match-all", "all[A,all[true]]", "all[A]"},
      {"all-of-match-all", "any[A,all[true,B]]", "any[A,all[B]]"},
      {"all-of-match-all", "any[A,true]", nullptr},
      // Shared conditions come first. Remainders are merged if they are equal.
      {"extract-common", "any[all[A,B],all[A,C]]", "all[A,any[B,C]]"},
      {"extract-common", "any[all[A,B],all[C,A],D]", "any[all[A,any[B,C]],D]"},
      {"extract-common", "any[all[A,B,C],all[D,B,C],E]", "any[all[B,C,any[A,D]],E]"},
      {"extract-common", "any[all[A,B],all[A,C],all[D,B],all[D,C]]", "all[any[B,C],any[A,D]]"},
      {"extract-common", "any[all[A,B],all[A,C],all[A,D],all[E,B],all[E,F]]",
       "any[all[A,any[B,C,D]],all[E,any[B,F]]]"},
      {"extract-common", "any[all[A,B],all[A,B,C],all[A,B,D,E]]", "all[A,B]"},
      {"extract-common", "any[all[A,B],A,C]", "any[A,C]"},
      {"extract-common", "any[A,B,A]", "any[A,B]"},
      {"extract-common", "any[all[A,any[B,C]],all[D,any[C,B]]]", "all[any[B,C],any[A,D]]"},
      {"extract-common", "all[A,any[all[B,C],all[B,D]]]", "all[A,all[B,any[C,D]]]"},
      {"extract-common", "any[all[A,B],all[A,C],true]", "any[all[A,any[B,C]],true]"},
      {"extract-common", "any[all[A,B],all[C,D]]", nullptr},
      {"extract-common", "all[any[A,B],any[A,C]]", nullptr},
      {"extract-common", "any[all[A,B],any[A,C]]", nullptr},
      {"extract-common", "any[all[A,B],all[any[A,B],C]]", nullptr},
      {"extract-common", "all[A,B,A]", nullptr},
      {"extract-common", "true", nullptr},
  };
  for (const Case& c : cases) {
    const std::string before = spelled(expand(c.before));
    const std::string after = c.after == nullptr ? before : spelled(expand(c.after));
    EXPECT_EQ(applied(c.pass, before), after) << c.pass << " of " << c.before;
  }
}

// Each case has the fields of an args rule, and the rule or fields that the pass must produce.
TEST(RulePasses, PassesHaveTheListedEffectsOnMatchers) {
  const Case cases[] = {
      {"all-any-args", "", "true"},
      {"all-any-args", R"("0":"any","ip":"any")", "true"},
      {"all-any-args", R"("0":{"ge":0},"1":{"eq":3})", R"("1":{"eq":3})"},
      {"all-any-args", R"("0":{"le":-1})", "true"},
      {"all-any-args", R"("0":{"le":4294967295,"bits":32})", "true"},
      {"all-any-args", R"("0":{"masked_eq":{"mask":0,"value":0},"bits":32})", "true"},
      {"all-any-args", R"("0":{"bits_allowlist":-1})", "true"},
      {"all-any-args", R"("0":{"bits_allowlist":4294967295,"bits":32})", "true"},
      {"all-any-args", R"("0":{"le":4294967295})", nullptr},
      {"all-any-args", R"("0":{"bits_allowlist":4294967295})", nullptr},
      {"all-any-args", R"("0":{"masked_eq":{"mask":0,"value":1}})", nullptr},
      {"all-any-args", R"("0":{"gt":0},"1":{"lt":-1},"2":{"ne":0},"3":{"eq":0},"4":{"ge":1})",
       nullptr},
      {"all-any-args", R"("0":{"ge":"$zero"},"1":{"masked_eq":{"mask":0,"value":"$zero"}})",
       nullptr},
      {"fd-as-bits", R"("0":{"non_negative_fd":true,"bits":32})",
       R"("0":{"masked_eq":{"mask":2147483648,"value":0},"bits":32})"},
      {"fd-as-bits", R"("2":"non_negative_fd")",
       R"("2":{"masked_eq":{"mask":"0xffffffff80000000","value":0}})"},
      {"fd-as-bits", R"("ip":{"bits_allowlist":"0xf0"})",
       R"("ip":{"masked_eq":{"mask":"0xffffffffffffff0f","value":0}})"},
      {"fd-as-bits", R"("0":{"bits_allowlist":0,"bits":32})",
       R"("0":{"masked_eq":{"mask":4294967295,"value":0},"bits":32})"},
      {"fd-as-bits", R"("0":{"eq":0},"1":{"masked_eq":{"mask":3,"value":3}},"2":{"le":7})",
       nullptr},
      {"split-halves", R"("0":{"eq":"0xffffffff00000000"})",
       R"(0 high 0xffffffff00000000 0xffffffff00000000|"0":{"eq":0,"bits":32})"},
      {"split-halves", R"("0":{"eq":"$fd"},"1":{"eq":"$fd","bits":32})",
       R"(0 high 0xffffffff00000000 0|"0":{"eq":"$fd","bits":32}|"1":{"eq":"$fd","bits":32})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":"0xf0000000f","value":"0x300000001"}})",
       R"(0 high 0xf00000000 0x300000000|"0":{"masked_eq":{"mask":15,"value":1},"bits":32})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":"0xf0000000f","value":"$fd"}})",
       R"(0 high 0xf00000000 0|"0":{"masked_eq":{"mask":15,"value":"$fd"},"bits":32})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":"0xf00000000","value":"$fd"}})",
       R"(0 high 0xf00000000 0|"0":{"masked_eq":{"mask":0,"value":"$fd"},"bits":32})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":6,"value":2}})",
       R"("0":{"masked_eq":{"mask":6,"value":2},"bits":32})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":4294967295,"value":2}})",
       R"("0":{"eq":2,"bits":32})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":4294967295,"value":2},"bits":32})",
       R"("0":{"eq":2,"bits":32})"},
      {"split-halves", R"("0":{"gt":7},"ip":{"ne":3})", R"("0":{"gt":7}|"ip":{"ne":3})"},
      {"split-halves", R"("0":{"masked_eq":{"mask":"0xf00000000","value":0}})", nullptr},
      {"split-halves", R"("0":{"eq":7,"bits":32})", nullptr},
      {"split-halves", R"("0":{"gt":"0x100000000"})", nullptr},
      {"split-halves", R"("0":{"masked_eq":{"mask":2,"value":4}})", nullptr},
      {"split-halves", R"("0":{"masked_eq":{"mask":2,"value":"0x100000002"}})", nullptr},
      {"split-halves", R"("0":{"masked_eq":{"mask":0,"value":0}})", nullptr},
      {"split-halves", R"("0":"non_negative_fd")", nullptr},
      {"split-halves", "", nullptr},
  };
  // The text is "true", the fields of one args rule, or the fields of several ones in an all_of.
  const auto rule_of = [](std::string_view text) {
    if (text == "true") return std::string(text);
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find('|', from), text.size());
      std::string part(text.substr(from, end - from));
      if (const std::size_t high = part.find(" high "); high != std::string::npos) {
        const std::size_t space = part.find(' ', high + 6);
        part = fmt::format(R"("{}":{{"masked_eq":{{"mask":"{}","value":"{}"}}}})",
                           part.substr(0, high), part.substr(high + 6, space - high - 6),
                           part.substr(space + 1));
      }
      parts.push_back(fmt::format(R"({{"args":{{{}}}}})", part));
      from = end + 1;
    }
    if (parts.size() == 1) return parts[0];
    return fmt::format(R"({{"all_of":[{}]}})", fmt::join(parts, ","));
  };
  for (const Case& c : cases) {
    const std::string before = spelled(rule_of(c.before));
    const std::string after = c.after == nullptr ? before : spelled(rule_of(c.after));
    EXPECT_EQ(applied(c.pass, before), after) << c.pass << " of " << c.before;
    // The pass must do the same within other rules.
    EXPECT_EQ(applied(c.pass, R"({"any_of":[)" + before + R"(,{"args":{"5":{"ne":1}}}]})"),
              R"({"any_of":[)" + after + R"(,{"args":{"5":{"ne":1}}}]})");
  }
}

std::string any_of_values(std::initializer_list<std::uint64_t> values, bool low = true) {
  std::vector<std::string> out;
  for (const std::uint64_t value : values)
    out.push_back(
        fmt::format(R"({{"args":{{"1":{{"eq":{}{}}}}}}})", value, low ? R"(,"bits":32)" : ""));
  return fmt::format(R"({{"any_of":[{}]}})", fmt::join(out, ","));
}

TEST(RulePasses, ReplacesSetsOfValuesByTestsOfBits) {
  const auto bits = [](std::uint64_t mask, std::uint64_t value) {
    return fmt::format(R"({{"args":{{"1":{{"masked_eq":{{"mask":{},"value":{}}},"bits":32}}}}}})",
                       mask, value);
  };
  const auto and_value = [](const std::string& rule, std::uint64_t value) {
    return fmt::format(R"({{"any_of":[{},{{"args":{{"1":{{"eq":{},"bits":32}}}}}}]}})", rule,
                       value);
  };
  const auto pass = [](std::string_view text) { return applied("value-set-to-bits", text); };
  EXPECT_EQ(pass(any_of_values({0, 1, 0x80, 0x81})), bits(0xffffff7e, 0));
  EXPECT_EQ(pass(any_of_values({0x81, 1, 0x80, 0, 1})), bits(0xffffff7e, 0)) << "in any order";
  EXPECT_EQ(pass(any_of_values({5, 7})), bits(0xfffffffd, 5));
  EXPECT_EQ(pass(any_of_values({0, 0x80000000})), bits(0x7fffffff, 0));
  EXPECT_EQ(pass(any_of_values({4, 5, 6, 7})), bits(0xfffffffc, 4));
  EXPECT_EQ(pass(any_of_values({0, 0x100000000}, false)),
            R"({"args":{"1":{"masked_eq":{"mask":18446744069414584319,"value":0}}}})");
  EXPECT_EQ(
      pass(R"({"any_of":[{"args":{"1":{"masked_eq":{"mask":18446744069414584320,"value":0}}}},)"
           R"({"args":{"1":{"masked_eq":{"mask":18446744069414584320,"value":4294967296}}}}]})"),
      R"({"args":{"1":{"masked_eq":{"mask":18446744065119617024,"value":0}}}})");
  // Other branches must keep their place.
  const std::string other = R"({"args":{"0":{"eq":0,"bits":32}}})";
  EXPECT_EQ(pass(R"({"any_of":[)" + other + "," + any_of_values({0, 8}).substr(11)),
            R"({"any_of":[)" + other + "," + bits(0xfffffff7, 0) + "]}");
  // Part of a larger set is replaced if that saves tests. Here the first part takes only one test,
  // and the second part replaces eight.
  EXPECT_EQ(pass(any_of_values({0, 7, 0x80})), and_value(bits(0xffffff7f, 0), 7));
  EXPECT_EQ(pass(any_of_values({0x11, 0x31, 0x51, 0x71, 0x91, 0xb1, 0xd1, 0xf1, 0x100})),
            and_value(bits(0xffffff1f, 0x11), 0x100));
  EXPECT_EQ(pass(any_of_values({0, 2, 0x80, 0x82, 1})), and_value(bits(0xffffff7d, 0), 1))
      << "the largest subset is replaced first";

  const std::string alone[] = {
      any_of_values({1, 2}),
      any_of_values({0, 1, 2}),
      any_of_values({0, 1, 2, 3, 4, 5, 6}),
      any_of_values({5, 7, 0x100}),
      any_of_values({0x11, 0x31, 0x51, 0x71, 0x100}),
      any_of_values({3}),
      // In these rules the field, the half or the operation differs, or the value of a variable is
      // unknown.
      R"({"any_of":[{"args":{"1":{"eq":0}}},{"args":{"2":{"eq":1}}}]})",
      R"({"any_of":[{"args":{"1":{"eq":0}}},{"args":{"1":{"eq":1,"bits":32}}}]})",
      R"({"any_of":[{"args":{"1":{"eq":0}}},{"args":{"1":{"ne":1}}}]})",
      R"({"any_of":[{"args":{"1":{"eq":1}}},{"args":{"1":{"eq":"$zero"}}}]})",
      R"({"any_of":[{"args":{"0":{"eq":7},"1":{"eq":0}}},{"args":{"0":{"eq":7},"1":{"eq":1}}}]})",
      R"({"all_of":[{"args":{"1":{"eq":0}}},{"args":{"1":{"eq":1}}}]})",
  };
  for (const std::string& text : alone) EXPECT_EQ(pass(text), text);
}

// Passes must use only the name of a variable, not its value.
TEST(RulePasses, PassesIgnoreTheValuesOfVariables) {
  const std::string text =
      R"({"any_of":[{"args":{"0":{"eq":"$a"},"1":{"eq":"$b"}}},{"args":{"0":{"eq":"$b"},"1":{"eq":"$b"}}},)"
      R"({"args":{"0":{"eq":0},"1":{"eq":"$b"}}},{"args":{"0":{"ge":"$a"},"2":{"masked_eq":{"mask":0,"value":"$a"}}}}]})";
  const auto optimized = [&](std::uint32_t a, std::uint32_t b) {
    const std::pair<std::string, std::uint32_t> variables[] = {{"a", a}, {"b", b}};
    const auto rule = read_rule(text, "test", variables);
    EXPECT_TRUE(rule) << rule.error().text();
    return write_rule(to_fixpoint(*rule).rule);
  };
  EXPECT_EQ(optimized(0, 0), optimized(1, 2));
  EXPECT_EQ(optimized(0, 0), optimized(3, 0xffffffff));
}

// The rule is the product {A1|A2}×{B1C1|B2C2|B3C3}×D, written out.
TEST(RulePasses, TwentyFourComparisonsBecomeNine) {
  std::vector<std::string> branches;
  for (int a = 1; a <= 2; ++a)
    for (int b = 1; b <= 3; ++b)
      branches.push_back(fmt::format(
          R"({{"args":{{"0":{{"gt":{}}},"1":{{"gt":{}}},"2":{{"gt":{}}},"3":{{"gt":5}}}}}})", a, b,
          10 * b));
  const Rule rule = rule_from(fmt::format(R"({{"any_of":[{}]}})", fmt::join(branches, ",")));
  EXPECT_EQ(matchers(rule), 24u);
  const auto gt = [](int field, int value) {
    return fmt::format(R"({{"args":{{"{}":{{"gt":{}}}}}}})", field, value);
  };
  const std::string pairs = fmt::format(
      R"({{"any_of":[{{"all_of":[{},{}]}},{{"all_of":[{},{}]}},{{"all_of":[{},{}]}}]}})", gt(1, 1),
      gt(2, 10), gt(1, 2), gt(2, 20), gt(1, 3), gt(2, 30));
  const Rule after = to_fixpoint(rule).rule;
  EXPECT_EQ(matchers(after), 9u);
  EXPECT_EQ(write_rule(after), fmt::format(R"({{"all_of":[{},{},{{"any_of":[{},{}]}}]}})", gt(3, 5),
                                           pairs, gt(0, 1), gt(0, 2)));
}

// Returns a policy with only this rule, from which inputs are derived.
Policy policy_with(const Rule& rule, Arch arch) {
  Policy policy;
  policy.arches = {arch};
  policy.rule_sets = {RuleSet{1, false, {SyscallRule{arch, 0, rule}}}};
  return policy;
}

struct Inputs {
  Endian endian;
  std::vector<SeccompData> data;
};

Inputs inputs_for(Random& random, const Rule& rule) {
  const Arch arch = random.one_in(4) ? Arch::kS390x : Arch::kX86_64;
  const Policy policy = policy_with(rule, arch);
  Inputs out{arch_info(arch).endian, {}};
  for (const SeccompData& data : derive_cases(policy, {.per_syscall = 20, .total = 40}).inputs)
    out.data.push_back(data);
  for (int i = 0; i < 15; ++i) out.data.push_back(random_call(random, policy));
  return out;
}

void expect_same(const Rule& before, const Rule& after, const Inputs& inputs,
                 std::string_view what) {
  for (const SeccompData& data : inputs.data)
    ASSERT_EQ(after.matches(data, inputs.endian), before.matches(data, inputs.endian))
        << what << "\n"
        << write_rule(before) << "\nbecame\n"
        << write_rule(after) << "\n"
        << describe(data);
}

std::vector<Rule> random_rules(Random& random, std::size_t count) {
  std::vector<Rule> out;
  while (out.size() < count)
    for (const RuleSet& set : random_policy(random).rule_sets)
      for (const SyscallRule& entry : set.rules) out.push_back(entry.rule);
  out.resize(count);
  return out;
}

constexpr auto kRules = static_cast<std::size_t>(of_cases(10000));

TEST(RulePassesRandom, PassesKeepTheMatchedInputs) {
  Random random(90);
  std::map<std::string_view, std::size_t> changes;
  std::size_t matching = 0;
  std::size_t seen = 0;
  std::size_t before = 0;
  std::size_t after = 0;
  for (const Rule& rule : random_rules(random, kRules)) {
    const Inputs inputs = inputs_for(random, rule);
    for (const SeccompData& data : inputs.data) matching += rule.matches(data, inputs.endian);
    seen += inputs.data.size();
    for (const RulePassRow& row : rule_pass_rows()) {
      const Rule once = row.run(rule);
      changes[row.name] += once == rule ? 0 : 1;
      expect_same(rule, once, inputs, row.name);
    }
    // Run each pass on the results of the others.
    Rule current = rule;
    std::size_t round = 0;
    for (bool changed = true; changed; ++round) {
      ASSERT_LT(round, 20u) << write_rule(rule);
      changed = false;
      for (const RulePassRow& row : rule_pass_rows()) {
        Rule next = row.run(current);
        if (next == current) continue;
        changed = true;
        ++changes[row.name];
        expect_same(current, next, inputs, row.name);
        current = std::move(next);
      }
    }
    expect_same(rule, current, inputs, "all");
    if (HasFatalFailure()) return;
    ASSERT_EQ(to_fixpoint(current).rounds, 1u);
    before += matchers(detail::split_halves(rule));
    after += matchers(current);
  }
  for (const RulePassRow& row : rule_pass_rows())
    EXPECT_GT(changes[row.name], kRules / 20) << row.name << " changes too few rules to be tested";
  EXPECT_GT(matching, seen / 10);
  EXPECT_LT(matching, seen * 9 / 10);
  EXPECT_LT(4 * after, 3 * before);
}

// The same rule must give the same result.
TEST(RulePassesRandom, PassesAreDeterministic) {
  Random random(91);
  for (const Rule& rule : random_rules(random, 300))
    ASSERT_EQ(to_fixpoint(rule).rule, to_fixpoint(rule).rule);
}

// No pass produces more matchers than the given rule has halves.
TEST(RulePassesRandom, TheNumberOfMatchersNeverIncreases) {
  Random random(92);
  for (const Rule& rule : random_rules(random, 2000)) {
    const std::size_t limit = matchers(detail::split_halves(detail::fd_as_bits(rule)));
    ASSERT_LE(matchers(to_fixpoint(rule).rule), limit) << write_rule(rule);
    for (const RulePassRow& row : rule_pass_rows()) {
      if (row.name == "split-halves") continue;
      ASSERT_LE(matchers(row.run(rule)), matchers(rule)) << row.name;
    }
  }
}

// The first rules list hundreds of requests with two other arguments, as rules for ioctl do. The
// last rule nests: each of its alternatives was added around all earlier ones.
TEST(RulePasses, LongListsTakeFewRounds) {
  for (const std::size_t count : {500u, 5000u}) {
    Rule flat;
    flat.kind = Rule::Kind::kAnyOf;
    for (std::uint64_t i = 0; i < count; ++i) {
      Rule branch;
      branch.kind = Rule::Kind::kArgs;
      branch.fields[0].op = Matcher::Op::kNonNegativeFd;
      branch.fields[1] = Matcher{Matcher::Op::kEq, 0x5400 + 3 * i, 0, false, {}};
      if (i % 5 == 0) branch.fields[2] = Matcher{Matcher::Op::kEq, i / 5, 0, false, {}};
      flat.children.push_back(std::move(branch));
    }
    const Fixpoint result = to_fixpoint(flat);
    EXPECT_LE(result.rounds, 3u);
    EXPECT_EQ(matchers(result.rule), 4 + count + count / 5)
        << "each request and each third argument once";
  }
  Rule chain = rule_from(R"({"args":{"0":{"eq":0}}})");
  for (std::uint64_t i = 1; i < 200; ++i) {
    Rule outer;
    outer.kind = Rule::Kind::kAnyOf;
    outer.children = {std::move(chain),
                      rule_from(fmt::format(R"({{"args":{{"0":{{"eq":{}}}}}}})", 3 * i))};
    chain = std::move(outer);
  }
  const Fixpoint result = to_fixpoint(chain);
  EXPECT_LE(result.rounds, 3u);
  EXPECT_EQ(result.rule.children.size(), 2u)
      << "one child tests the high half, the other the values";
}

// Each branch repeats all conditions of the earlier branches. Recursion must handle the nesting,
// and few rounds must suffice.
TEST(RulePasses, NestedConditionsTerminateWithLimitedDepth) {
  Rule stairs;
  stairs.kind = Rule::Kind::kAnyOf;
  for (std::uint64_t i = 0; i < 250; ++i) {
    Rule step;
    step.kind = Rule::Kind::kAllOf;
    for (std::uint64_t j = 0; j <= i; ++j)
      step.children.push_back(rule_from(fmt::format(R"({{"args":{{"0":{{"ne":{}}}}}}})", j)));
    step.children.push_back(rule_from(fmt::format(R"({{"args":{{"1":{{"ne":{}}}}}}})", i)));
    stairs.children.push_back(std::move(step));
  }
  const Fixpoint result = to_fixpoint(stairs);
  EXPECT_LE(result.rounds, 5u);
  EXPECT_GT(depth(result.rule), 100u);
  EXPECT_LE(depth(result.rule), 205u);
  EXPECT_LT(matchers(result.rule), matchers(stairs) / 2);
  Random random(93);
  const Inputs inputs = inputs_for(random, stairs);
  expect_same(stairs, result.rule, inputs, "all");
}

// The table lists the number of one-half matchers in real rules, before and after the passes.
TEST(RulePasses, RealPoliciesShrinkToTheListedSizes) {
  struct Size {
    const char* name;
    std::size_t before;
    std::size_t after;
  };
  const Size sizes[] = {
      {"kvm", 216, 113},
      {"kvm-nvproxy", 448, 175},
      {"kvm-hostnet", 844, 261},
      {"kvm-everything", 1231, 360},
      {"systrap", 240, 145},
      {"systrap-nvproxy", 472, 208},
      {"systrap-hostnet", 868, 293},
      {"systrap-everything", 1255, 398},
  };
  const std::filesystem::path folder =
      std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus/policies/gvisor";
  for (const Size& size : sizes) {
    const std::string name = folder / (std::string(size.name) + ".json");
    const auto text = read_file(name);
    ASSERT_TRUE(text) << text.error().text();
    const Policy policy = policy_from(*text);
    std::size_t before = 0;
    std::size_t after = 0;
    for (const RuleSet& set : policy.rule_sets) {
      for (const SyscallRule& entry : set.rules) {
        before += matchers(detail::split_halves(detail::fd_as_bits(entry.rule)));
        after += matchers(to_fixpoint(entry.rule).rule);
      }
    }
    EXPECT_EQ(before, size.before) << size.name;
    EXPECT_EQ(after, size.after) << size.name;
  }
}

}  // namespace
}  // namespace secequiv::rules_passes_test
