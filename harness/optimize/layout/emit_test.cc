// Tests the code of rules and searches: the code of every matcher as text, and its decisions at and
// around every boundary.
#include "harness/optimize/layout/emit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "harness/base/random.h"
#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/compare/pair.h"
#include "harness/generate/policy.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/testing.h"

namespace secequiv::layout_emit_test {
namespace {

using detail::Case;
using detail::RuleEmitter;
using detail::SearchForm;
using Op = Matcher::Op;

constexpr std::uint32_t kAll = 0xffffffff;
constexpr std::array kOps = {Op::kAny,          Op::kEq,       Op::kNe,
                             Op::kGt,           Op::kGe,       Op::kLt,
                             Op::kLe,           Op::kMaskedEq, Op::kBitsAllowlist,
                             Op::kNonNegativeFd};
constexpr std::array<std::uint64_t, 8> kBoundaries = {
    0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x8000000000000000, 0xffffffffffffffff};

Rule rule_from(std::string_view text) {
  const std::vector<std::pair<std::string, std::uint32_t>> variables = {{"v", 2}};
  auto rule = read_rule(text, "test", variables);
  if (rule) return std::move(*rule);
  ADD_FAILURE() << rule.error().text() << "\n" << text;
  return {};
}

Rule rule_of(const Matcher& m, int field) {
  Rule out;
  out.kind = Rule::Kind::kArgs;
  out.fields[static_cast<std::size_t>(field)] = m;
  return out;
}

// Returns a program that returns 1 if the rule matches, else 0.
Program emitted(const Rule& rule, Endian endian, bool value_trees) {
  Builder code;
  const Label yes = code.label();
  const Label no = code.label();
  RuleEmitter(code, endian, value_trees).rule(rule, yes, no);
  code.bind(yes);
  code.ret(1);
  code.bind(no);
  code.ret(0);
  return code.finish();
}

// Removes the extra jumps of the long form, but keeps every test.
Program shortened(const Program& program) {
  std::vector<const Pass*> passes;
  for (const char* name :
       {"thread-conditional-jumps", "thread-jumps", "remove-null-jumps", "remove-unreachable"})
    passes.push_back(find_pass(name));
  return optimize(program, passes).program;
}

struct Text {
  const char* rule;
  const char* code;  // may jump to `yes` and `no`
};

void expect_texts(std::span<const Text> texts, Endian endian, bool value_trees) {
  for (const Text& text : texts) {
    const std::string ends = std::string(text.code).find("no") == std::string::npos ? "yes: ret #1"
                             : std::string(text.code).find("yes") == std::string::npos
                                 ? "no: ret #0"
                                 : "yes: ret #1\nno: ret #0";
    EXPECT_EQ(asm_text(shortened(emitted(rule_from(text.rule), endian, value_trees))),
              asm_text(assemble(std::string(text.code) + ends)))
        << text.rule;
  }
}

TEST(Emit, EmitsEachMatcher) {
  constexpr Text kTexts[] = {
      {R"({"args":{"0":"any"}})", ""},
      {R"({"args":{"0":{"eq":"0x100000007"}}})",
       "ld [20]\njeq #1, f, no\nf: ld [16]\njeq #7, yes, no\n"},
      {R"({"args":{"0":{"eq":0}}})", "ld [20]\njeq #0, f, no\nf: ld [16]\njeq #0, yes, no\n"},
      {R"({"args":{"0":{"ne":"0x100000007"}}})",
       "ld [20]\njeq #1, f, yes\nf: ld [16]\njeq #7, no, yes\n"},
      {R"({"args":{"0":{"gt":"0x100000007"}}})",
       "ld [20]\njgt #1, yes, b\nb: jeq #1, f, no\nf: ld [16]\njgt #7, yes, no\n"},
      {R"({"args":{"0":{"ge":"0x100000007"}}})",
       "ld [20]\njgt #1, yes, b\nb: jeq #1, f, no\nf: ld [16]\njge #7, yes, no\n"},
      {R"({"args":{"0":{"lt":"0x100000007"}}})",
       "ld [20]\njgt #1, no, b\nb: jeq #1, f, yes\nf: ld [16]\njge #7, no, yes\n"},
      {R"({"args":{"0":{"le":"0x100000007"}}})",
       "ld [20]\njgt #1, no, b\nb: jeq #1, f, yes\nf: ld [16]\njgt #7, no, yes\n"},
      // If the high half of the value is 0, no high half is below it.
      {R"({"args":{"0":{"gt":7}}})", "ld [20]\njeq #0, f, yes\nf: ld [16]\njgt #7, yes, no\n"},
      {R"({"args":{"0":{"le":7}}})", "ld [20]\njeq #0, f, no\nf: ld [16]\njgt #7, no, yes\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":"0xff00000006","value":"0x100000002"}}}})",
       "ld [20]\nand #0xff\njeq #1, f, no\nf: ld [16]\nand #6\njeq #2, yes, no\n"},
      {R"({"args":{"0":{"bits_allowlist":3}}})",
       "ld [20]\njeq #0, f, no\nf: ld [16]\njset #0xfffffffc, no, yes\n"},
      {R"({"args":{"0":"non_negative_fd"}})",
       "ld [20]\njeq #0, f, no\nf: ld [16]\njset #0x80000000, no, yes\n"},
  };
  expect_texts(kTexts, Endian::kLittle, false);
}

TEST(Emit, EmitsLowHalves) {
  constexpr Text kTexts[] = {
      {R"({"args":{"0":{"eq":7,"bits":32}}})", "ld [16]\njeq #7, yes, no\n"},
      {R"({"args":{"0":{"ne":7,"bits":32}}})", "ld [16]\njeq #7, no, yes\n"},
      {R"({"args":{"0":{"gt":7,"bits":32}}})", "ld [16]\njgt #7, yes, no\n"},
      {R"({"args":{"0":{"ge":7,"bits":32}}})", "ld [16]\njge #7, yes, no\n"},
      {R"({"args":{"0":{"lt":7,"bits":32}}})", "ld [16]\njge #7, no, yes\n"},
      {R"({"args":{"0":{"le":7,"bits":32}}})", "ld [16]\njgt #7, no, yes\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":6,"value":2},"bits":32}}})",
       "ld [16]\nand #6\njeq #2, yes, no\n"},
      {R"({"args":{"0":{"bits_allowlist":3,"bits":32}}})", "ld [16]\njset #0xfffffffc, no, yes\n"},
  };
  expect_texts(kTexts, Endian::kLittle, false);
}

// A half that accepts every value is not loaded. Tests of bits use JSET instead of AND if possible.
TEST(Emit, OmitsTrivialHalves) {
  constexpr Text kTexts[] = {
      {R"({"args":{"0":{"masked_eq":{"mask":6,"value":2}}}})",
       "ld [16]\nand #6\njeq #2, yes, no\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":"0xffffffff00000000","value":0}}}})",
       "ld [20]\njeq #0, yes, no\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":"0xffffffff","value":7}}}})",
       "ld [16]\njeq #7, yes, no\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":0,"value":0}}}})", ""},
      {R"({"args":{"0":{"masked_eq":{"mask":6,"value":0}}}})", "ld [16]\njset #6, no, yes\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":4,"value":4}}}})", "ld [16]\njset #4, yes, no\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":6,"value":6}}}})",
       "ld [16]\nand #6\njeq #6, yes, no\n"},
      {R"({"args":{"0":{"bits_allowlist":"0xffffffff00000003"}}})",
       "ld [16]\njset #0xfffffffc, no, yes\n"},
  };
  expect_texts(kTexts, Endian::kLittle, false);
  Matcher never;
  never.op = Op::kMaskedEq;
  never.mask = 1;
  never.value = 2;
  EXPECT_EQ(asm_text(shortened(emitted(rule_of(never, 0), Endian::kLittle, false))),
            "        ret #0\n");
}

TEST(Emit, LoadsTheWordsOfEachFieldInBothByteOrders) {
  constexpr Text kLittle[] = {
      {R"({"args":{"5":{"eq":7}}})", "ld [60]\njeq #0, f, no\nf: ld [56]\njeq #7, yes, no\n"},
      {R"({"args":{"ip":{"eq":7}}})", "ld [12]\njeq #0, f, no\nf: ld [8]\njeq #7, yes, no\n"},
      {R"({"args":{"0":{"eq":1,"bits":32},"1":{"eq":2,"bits":32}}})",
       "ld [16]\njeq #1, f, no\nf: ld [24]\njeq #2, yes, no\n"},
  };
  expect_texts(kLittle, Endian::kLittle, false);
  constexpr Text kBig[] = {
      {R"({"args":{"0":{"gt":7}}})", "ld [16]\njeq #0, f, yes\nf: ld [20]\njgt #7, yes, no\n"},
      {R"({"args":{"5":{"eq":7}}})", "ld [56]\njeq #0, f, no\nf: ld [60]\njeq #7, yes, no\n"},
      {R"({"args":{"ip":{"eq":7,"bits":32}}})", "ld [12]\njeq #7, yes, no\n"},
  };
  expect_texts(kBig, Endian::kBig, false);
}

TEST(Emit, TestsOfVariablesAreNeverOmitted) {
  constexpr Text kTexts[] = {
      {R"({"args":{"0":{"masked_eq":{"mask":2,"value":"$v"}}}})",
       "ld [16]\nand #2\njeq #2, yes, no\n"},
      {R"({"args":{"0":{"masked_eq":{"mask":1,"value":"$v"}}}})",
       "ld [16]\nand #1\njeq #2, yes, no\n"},
  };
  expect_texts(kTexts, Endian::kLittle, false);
  Matcher none = rule_from(kTexts[0].rule).fields[0];
  none.mask = 0;
  none.value = 0;
  EXPECT_EQ(asm_text(shortened(emitted(rule_of(none, 0), Endian::kLittle, false))),
            asm_text(assemble("ld [16]\nand #0\njeq #0, yes, no\nyes: ret #1\nno: ret #0")));
}

// A variable's value must appear in exactly one operand and change nothing else.
TEST(Emit, VariablesAppearInOneOperand) {
  for (const Op op : {Op::kEq, Op::kNe, Op::kGt, Op::kGe, Op::kLt, Op::kLe, Op::kMaskedEq}) {
    for (const bool low_half : {false, true}) {
      for (const bool value_trees : {false, true}) {
        const auto with = [&](std::uint32_t value) {
          const Matcher m{op, value, 0xff, low_half, "v"};
          Rule rule;
          rule.kind = Rule::Kind::kAnyOf;
          rule.children = {rule_of(m, 0), rule_of(m, 0), rule_of(m, 0)};
          return emitted(rule, Endian::kLittle, value_trees);
        };
        const Program first = with(0x12345);
        for (const std::uint32_t value : {0u, 1u, 0x80u, 0xffu, 0x100u, kAll}) {
          const Program second = with(value);
          ASSERT_EQ(first.size(), second.size());
          std::size_t places = 0;
          for (std::size_t pc = 0; pc < first.size(); ++pc) {
            if (first[pc] == second[pc]) continue;
            ++places;
            EXPECT_EQ(first[pc].k, 0x12345u);
            Insn patched = first[pc];
            patched.k = value;
            EXPECT_EQ(patched, second[pc]);
          }
          EXPECT_EQ(places, 3u) << "one for each branch";
        }
      }
    }
  }
}

std::vector<std::uint64_t> around(const Matcher& m) {
  std::vector<std::uint64_t> out(kBoundaries.begin(), kBoundaries.end());
  constexpr std::uint64_t kHigh = 0x100000000;
  for (const std::uint64_t v : {m.value, m.mask, ~m.mask, m.value | ~m.mask})
    for (const std::uint64_t step :
         {std::uint64_t{0}, std::uint64_t{1}, kHigh, kHigh + 1, kHigh - 1})
      out.insert(out.end(), {v + step, v - step});
  return out;
}

// For values of one field, the program must decide as the matcher does.
void expect_matches(const Matcher& m, int field, Endian endian) {
  const Program program = emitted(rule_of(m, field), endian, false);
  ASSERT_FALSE(refusal_of(program));
  for (const std::uint64_t value : around(m)) {
    SeccompData data;
    data.words.fill(0x5a5a5a5a);  // other fields do not matter
    data.set_field(field, value, endian);
    ASSERT_EQ(run(program, data), m.matches(value) ? 1u : 0u) << fmt::format(
        "op {}, value {:#x}, mask {:#x}, low half {}, variable '{}', field {}: {:#x}",
        static_cast<int>(m.op), m.value, m.mask, m.low_half, m.variable.text(), field, value);
  }
}

TEST(Emit, MatchersAreCorrectAtBoundaries) {
  std::size_t seen = 0;
  for (const Op op : kOps) {
    for (const std::uint64_t value : kBoundaries) {
      for (const std::uint64_t mask : kBoundaries) {
        for (const bool low_half : {false, true}) {
          if (low_half && (value > kAll || mask > kAll)) continue;
          for (const char* variable : {"", "v"}) {
            if (*variable != 0 && value > kAll) continue;
            const Matcher m{op, value, mask, low_half, variable};
            for (const int field : {0, 5, kIpField})
              for (const Endian endian : {Endian::kLittle, Endian::kBig})
                expect_matches(m, field, endian);
            if (testing::Test::HasFatalFailure()) return;
            ++seen;
          }
        }
      }
    }
  }
  EXPECT_GT(seen, 1000u);
}

TEST(Emit, EmitsValueTrees) {
  constexpr Text kTexts[] = {
      // Neighbouring values with the same target become one interval.
      {R"({"any_of":[{"args":{"0":{"eq":5,"bits":32}}},{"args":{"0":{"eq":7,"bits":32}}},{"args":{"0":{"eq":6,"bits":32}}}]})",
       "ld [16]\njge #5, f, no\nf: jgt #7, no, yes\n"},
      {R"({"any_of":[{"args":{"0":{"eq":5,"bits":32}}},{"args":{"0":{"eq":0,"bits":32}}},{"args":{"0":{"eq":"0xffffffff","bits":32}}}]})",
       "ld [16]\njeq #0, yes, f\nf: jeq #5, yes, b\nb: jeq #0xffffffff, yes, no\n"},
      // If one branch requires only the value, the value leads to `yes`, whatever other branches
      // require.
      {R"({"any_of":[{"args":{"0":{"eq":5,"bits":32},"1":{"eq":9,"bits":32}}},{"args":{"0":{"eq":5,"bits":32}}},{"args":{"0":{"eq":6,"bits":32}}}]})",
       "ld [16]\njge #5, f, no\nf: jgt #6, no, yes\n"},
      // A branch's other requirements come after the search; the other branches come last.
      {R"({"any_of":[{"args":{"0":{"eq":1,"bits":32},"1":{"eq":9,"bits":32}}},{"args":{"0":{"eq":3,"bits":32}}},{"args":{"0":{"eq":5,"bits":32}}},{"args":{"2":{"eq":8,"bits":32}}}]})",
       "ld [16]\njeq #1, r, f\nf: jeq #3, yes, b\nb: jeq #5, yes, m\nr: ld [24]\njeq #9, yes, "
       "m\nm: ld [32]\njeq #8, yes, no\n"},
      // Two values are too few for a search. A rule pass splits 64-bit arguments first.
      {R"({"any_of":[{"args":{"0":{"eq":7,"bits":32}}},{"args":{"0":{"eq":6,"bits":32}}}]})",
       "ld [16]\njeq #7, yes, f\nf: ld [16]\njeq #6, yes, no\n"},
  };
  expect_texts(kTexts, Endian::kLittle, true);
}

// Returns conditions that exercise value trees: values of one argument (alone, within all_of, or
// repeated), and other conditions beside them.
Rule random_branch(Random& random) {
  const auto matcher = [&](Op op) {
    return Matcher{op, random.below(6), 0, !random.one_in(5), ""};
  };
  Rule out = rule_of(matcher(random.one_in(6) ? Op::kNe : Op::kEq), random.one_in(5) ? 1 : 0);
  if (random.one_in(3)) out.fields[2] = matcher(random.one_in(2) ? Op::kGt : Op::kEq);
  if (random.one_in(12)) out = Rule{};
  if (!random.one_in(3)) return out;
  Rule all;
  all.kind = Rule::Kind::kAllOf;
  all.children = {out};
  for (std::size_t n = random.below(3); n > 0; --n)
    all.children.push_back(rule_of(matcher(Op::kEq), static_cast<int>(random.below(3))));
  return all;
}

TEST(Emit, RandomRulesMatchWithAndWithoutValueTrees) {
  Random random(60);
  std::size_t matched = 0;
  std::size_t searched = 0;
  for (int i = 0; i < 2000; ++i) {
    Rule rule;
    rule.kind = Rule::Kind::kAnyOf;
    for (std::size_t n = random.between(1, 9); n > 0; --n)
      rule.children.push_back(random_branch(random));
    const Endian endian = random.one_in(2) ? Endian::kLittle : Endian::kBig;
    const Program lists = emitted(rule, endian, false);
    const Program trees = emitted(rule, endian, true);
    ASSERT_FALSE(refusal_of(trees, LengthRule::kUnlimited)) << write_rule(rule);
    searched += lists == trees ? 0 : 1;
    for (int j = 0; j < 300; ++j) {
      SeccompData data;
      for (int field = 0; field < 3; ++field)
        data.set_field(field, random.below(7) | (random.one_in(8) ? 0x100000000 : 0), endian);
      const std::uint32_t expected = rule.matches(data, endian) ? 1 : 0;
      matched += expected;
      ASSERT_EQ(run(lists, data), expected) << write_rule(rule) << describe(data);
      ASSERT_EQ(run(trees, data), expected) << write_rule(rule) << describe(data);
    }
  }
  EXPECT_GT(searched, 1000u);
  EXPECT_GT(matched, 100000u);
}

// Rules of random policies are nested and have all operators and fields.
TEST(Emit, RulesOfRandomPoliciesMatch) {
  Random random(61);
  for (int i = 0; i < of_cases(1000); ++i) {
    const Policy policy = random_policy(random);
    for (const RuleSet& set : policy.rule_sets) {
      for (const SyscallRule& entry : set.rules) {
        const Endian endian = arch_info(entry.arch).endian;
        for (const bool value_trees : {false, true}) {
          const Program program = emitted(entry.rule, endian, value_trees);
          for (int j = 0; j < 50; ++j) {
            const SeccompData data = random_call(random, policy);
            ASSERT_EQ(run(program, data), entry.rule.matches(data, endian) ? 1u : 0u)
                << write_rule(entry.rule) << describe(data);
          }
        }
      }
    }
  }
}

constexpr std::uint32_t kMiss = 0xdead;

// Emits a search for nr. Each case leads to code that returns the case's `to`. Cases with the same
// `to` share that code. It comes after all jumps to it.
Program searching(const std::vector<Case>& numbered, const SearchForm& form) {
  Builder code;
  const Label miss = code.label();
  std::vector<Label> labels;
  std::vector<std::size_t> uses;
  std::vector<Case> cases = numbered;
  for (Case& one : cases) {
    while (labels.size() <= one.to) {
      labels.push_back(code.label());
      uses.push_back(0);
    }
    ++uses[one.to];
    one.to = labels[one.to];
  }
  std::size_t next = 0;
  code.load(kNrWord);
  emit_search(code, cases, form, miss, [&](std::span<const Case> here) {
    for (const Case& one : here) {
      EXPECT_EQ(&one, &cases[next]) << "each case comes once, in order";
      const std::size_t outcome = numbered[next++].to;
      if (--uses[outcome] != 0) continue;
      code.bind(labels[outcome]);
      code.ret(static_cast<std::uint32_t>(outcome));
    }
  });
  EXPECT_EQ(next, cases.size());
  code.bind(miss);
  code.ret(kMiss);
  return code.finish();
}

std::uint32_t looked_up(const std::vector<Case>& cases, std::uint32_t nr) {
  for (const Case& one : cases)
    if (one.first <= nr && nr <= one.last) return static_cast<std::uint32_t>(one.to);
  return kMiss;
}

// Returns disjoint ascending cases. Some are adjacent, and some reach 0 or 2^32-1.
std::vector<Case> random_cases(Random& random) {
  std::set<std::uint32_t> bounds;
  const std::size_t count = random.between(1, random.one_in(20) ? 200 : 12);
  const bool dense = random.one_in(2);
  while (bounds.size() < 2 * count)
    bounds.insert(dense ? static_cast<std::uint32_t>(random.below(5 * count)) : random.word());
  const std::vector<std::uint32_t> sorted(bounds.begin(), bounds.end());
  std::vector<Case> out;
  for (std::size_t i = 0; i < sorted.size(); i += 2) {
    const std::size_t outcome = random.one_in(4) && i > 0 ? out.back().to : i / 2;
    const bool touches = random.one_in(3) && i > 0;
    const std::uint32_t first = touches ? out.back().last + 1 : sorted[i];
    const double weight =
        random.one_in(2) ? 0 : static_cast<double>(std::uint64_t{1} << random.below(40));
    out.push_back({first, random.one_in(3) ? first : sorted[i + 1], outcome, weight});
  }
  if (random.one_in(3)) out.front().first = 0;
  if (random.one_in(3)) out.back().last = kAll;
  return out;
}

constexpr std::array<SearchForm, 6> kForms = {
    SearchForm{false, false}, SearchForm{false, true},    SearchForm{true, false},
    SearchForm{true, true},   SearchForm{true, false, 1}, SearchForm{true, true, 1}};

TEST(EmitSearch, AgreesWithAPlainLookup) {
  Random random(62);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<Case> cases = random_cases(random);
    std::vector<std::uint32_t> numbers = {0, 1, kAll, kAll - 1, random.word()};
    for (const Case& one : cases)
      numbers.insert(numbers.end(), {one.first - 1, one.first, one.first + 1, one.last - 1,
                                     one.last, one.last + 1});
    for (const SearchForm& form : kForms) {
      std::vector<Case> given = cases;
      if (!form.tree) std::ranges::shuffle(given, std::mt19937(static_cast<unsigned>(i)));
      const Program program = searching(given, form);
      ASSERT_FALSE(refusal_of(program));
      for (const std::uint32_t nr : numbers) {
        SeccompData data;
        data.set_nr(nr);
        ASSERT_EQ(run(program, data), looked_up(cases, nr))
            << "tree " << form.tree << ", pinned " << form.pinned << ", nr " << nr << "\n"
            << asm_text(program);
      }
    }
  }
}

TEST(EmitSearch, WeightedTreesFindHeavyCasesFirst) {
  std::vector<Case> cases;
  for (std::uint32_t i = 0; i < 64; ++i) cases.push_back({10 * i, 10 * i, i, 0});
  cases[40].weight = 1000;
  cases[7].last = 75;
  cases[7].weight = 300;
  const auto executed = [&](std::uint32_t nr, double least) {
    SeccompData data;
    data.set_nr(nr);
    return trace(shortened(searching(cases, {true, false, least})), data).steps.size();
  };
  EXPECT_EQ(executed(400, 1e-3), 3u) << "the load, one test, and the return";
  EXPECT_LE(executed(72, 1e-3), 7u) << "a range needs two comparisons at each end";
  EXPECT_GE(executed(400, 0), 7u);
  EXPECT_GE(executed(72, 0), 7u);
}

TEST(EmitSearch, EmitsListsAndTrees) {
  const auto code = [](const std::vector<Case>& cases, const SearchForm& form) {
    return asm_text(shortened(searching(cases, form)));
  };
  const auto text = [](std::string_view lines) { return asm_text(assemble(lines)); };
  const std::vector<Case> three = {{0, 4, 0}, {7, 7, 1}, {9, kAll, 2}};
  EXPECT_EQ(code(three, {false, false}),
            text("ld [0]\njgt #4, b, f\nf: ret #0\nb: jeq #7, c, d\nc: ret #1\nd: jge #9, e, m\ne: "
                 "ret #2\nm: ret #0xdead"));
  EXPECT_EQ(code(three, {true, false}),
            text("ld [0]\njgt #4, b, u\nb: jeq #7, y, d\nd: jge #9, z, m\nu: ret #0\ny: ret #1\nz: "
                 "ret #2\nm: ret #0xdead"));
  // For a number above 4, only the upper bound of 5..9 needs a test. A number above 9 must be in
  // the last case.
  EXPECT_EQ(code({{0, 4, 0}, {5, 9, 1}, {10, kAll, 2}}, {true, true}),
            text("ld [0]\njgt #4, b, u\nb: jgt #9, z, y\nu: ret #0\ny: ret #1\nz: ret #2"));
  EXPECT_EQ(code({{0, 4, 0}, {5, 9, 1}, {10, kAll, 2}}, {true, false}),
            text("ld [0]\njgt #4, b, u\nb: jge #5, c, d\nc: jgt #9, d, y\nd: jge #10, z, m\nu: ret "
                 "#0\ny: ret #1\nz: ret #2\nm: ret #0xdead"));
  // From four cases on, a tree divides them into halves. With pinned bounds, it omits the upper
  // bound of 3..4 and the lower bound of 6..8.
  const std::vector<Case> four = {{1, 1, 0}, {3, 4, 1}, {5, 5, 2}, {6, 8, 3}};
  EXPECT_EQ(code(four, {true, false}),
            text("ld [0]\njge #5, r, l\nl: jeq #1, w, b\nb: jge #3, c, m\nc: jgt #4, m, u\nw: ret "
                 "#0\nu: ret #1\nr: jeq #5, y, d\nd: jge #6, e, m\ne: jgt #8, m, z\ny: ret #2\nz: "
                 "ret #3\nm: ret #0xdead"));
  EXPECT_EQ(code(four, {true, true}),
            text("ld [0]\njge #5, r, l\nl: jeq #1, w, b\nb: jge #3, u, m\nw: ret #0\nu: ret #1\nr: "
                 "jeq #5, y, d\nd: jgt #8, m, z\ny: ret #2\nz: ret #3\nm: ret #0xdead"));
  // In a list with pinned bounds, earlier tests also give bounds.
  EXPECT_EQ(code({{9, kAll, 0}, {5, 8, 1}}, {false, true}),
            text("ld [0]\njge #9, y, b\ny: ret #0\nb: jge #5, z, m\nz: ret #1\nm: ret #0xdead"));
  EXPECT_EQ(code({}, {true, true}), text("ld [0]\nret #0xdead")) << "nothing to look for";
}

}  // namespace
}  // namespace secequiv::layout_emit_test
