#include "verify/rules/rule.h"

#include <gtest/gtest.h>

#include "harness/base/random.h"
#include "harness/bpf/refusal.h"
#include "verify/rules/whole.h"

namespace secequiv::rules::rule_test {
namespace {

// Parses `text`, which must contain one rule with one member.
struct One {
  std::vector<Rewrite> rules;
  std::vector<Instance> members;

  explicit One(const std::string& text) {
    auto parsed = parse_rules(text, "t.rule");
    if (!parsed) {
      ADD_FAILURE() << parsed.error().text();
      return;
    }
    rules = std::move(*parsed);
    auto all = instances(rules.front());
    if (!all) {
      ADD_FAILURE() << all.error().text();
      return;
    }
    members = std::move(*all);
  }
  [[nodiscard]] const Instance& member() const { return members.front(); }
  [[nodiscard]] Assignment zeros() const {
    Assignment out;
    out.symbols.assign(member().symbols.size(), 0);
    return out;
  }
};

std::string rule(const std::string& before, const std::string& after,
                 const std::string& head = "") {
  return "rule t\n" + head + "before:\n" + before + "\nafter:\n" + after + "\n";
}

std::string refusal(const std::string& text) {
  const auto rules = parse_rules(text, "t.rule");
  if (!rules) return rules.error().text();
  for (const Rewrite& each : *rules)
    if (const auto members = instances(each); !members) return members.error().text();
  return "";
}

TEST(RuleExpr, EvaluatesEveryOperator) {
  const struct {
    const char* text;
    bool value;
  } cases[] = {
      {"1 + 2 * 3 == 7", true},
      {"10 - 3 - 2 == 5", true},
      {"$m & ($m - 1) == 0", true},  // '&' binds tighter than '==': $m is 8
      {"$m | 1 ^ 3 & 2 == 11", true},
      {"1 << 4 + 1 == 32", true},
      {"~0 == 0xffffffff && -1 == 0xffffffff", true},
      {"1 << 32 == 0 && 1 << 31 == 0x80000000 && 1 >> 32 == 0", true},
      {"7 / 2 == 3 && 7 / 0 == 0xffffffff", true},
      {"0x80000000 <s 0 && 0x80000000 >u 0", true},
      {"1 <=s 1 && !(1 <s 1) && 2 >=s 1 && 0 >s -1", true},
      {"popcount(0xff00ff) == 16 && popcount($m) == 1", true},
      {"wide(1, 2) == 0x100000002 && wide(0, $m) <u 0x100000000", true},
      {"wide(1, 0) >> 32 == 1", true},
      {"wide(0x80000000, 0) <s 0", true},
      {"if($m == 8, 3, 4) == 3", true},
      {"$p <=> true", false},  // $p is false
      {"$p => false", true},
      {"!$p && true => $p", false},
      {"any_of() || all_of()", true},
      {"any_of()", false},
      {"any_of($p, !$p) && all_of(!$p, true)", true},
      {"any i < 5: i * i == 16", true},
      {"all i < 5: any j < 5: i + j == 4", true},
      {"any i < 0: true", false},
      {"A == 5 && X == 6 && M[3] == 7 && [16] == 9 && M[$m - 5] == 7", true},
  };
  for (const auto& each : cases) {
    const One one("rule t\nwhere: $m == 8\nwhere: !$p\nbefore: " + std::string(each.text) +
                  "\nafter: true\n");
    ASSERT_FALSE(one.members.empty()) << each.text;
    Assignment assignment = one.zeros();
    for (std::size_t i = 0; i < one.member().symbols.size(); ++i)
      if (one.member().symbols[i].name == "m") assignment.symbols[i] = 8;
    assignment.entry.a = 5;
    assignment.entry.x = 6;
    assignment.entry.m[3] = 7;
    assignment.input.words[4] = 9;
    EXPECT_EQ(value_of(std::get<Expr>(one.member().before), one.member(), assignment) != 0,
              each.value)
        << each.text;
  }
}

TEST(RuleExpr, RefusesMalformedExpressions) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"1", "expected a condition, found a number"},
      {"$a + 1", "expected a condition, found a word"},
      {"$a == 1 && $a", "expected a condition, found a word of 32 bits"},
      {"$a == 0x100000000", "expected 64 bits, found $a"},
      {"wide(1, $a) == $b", "found $b, which has 32"},
      {"1 == 2 == 3", "expected an operator or the end, found '=='"},
      {"($a == 1", "expected ')', found the end"},
      {"popcount($a, $b) == 1", "expected 1 operands, found 2"},
      {"$ == 1", "found '$'"},
      {"any < 3: true", "expected the name of an index, found '<'"},
      {"any i < $a: true", "must not depend on symbols"},
      {"any i < 3: any i < 3: true", "the index 'i' is already in use"},
      {"any A < 3: true", "expected the name of an index, found 'A'"},
      {"$a == 010", "without leading zeros"},
      {"j == 1", "'j' has no value"},
      {"any i < 1000000: $P[i]", "too many parts"},
      {"$a == 99999999999999999999", "expected a number up to 2^64-1"},
      {"$a == 4294967296 - 0", "expected"},
  };
  for (const auto& each : cases) {
    const std::string message =
        refusal("rule t\nbefore: " + std::string(each.text) + "\nafter: true\n");
    EXPECT_NE(message.find(each.says), std::string::npos) << each.text << "\n  says " << message;
    EXPECT_NE(message.find("t.rule:"), std::string::npos) << message;
  }
  std::string deep = "true";
  for (int i = 0; i < 1000; ++i) deep = "(" + deep + ")";
  EXPECT_NE(
      refusal("rule t\nbefore: " + deep + "\nafter: true\n").find("nested deeper than 200 levels"),
      std::string::npos);
  EXPECT_NE(refusal("rule t\nbefore: " + std::string(5000, '!') + "true\nafter: true\n")
                .find("nested deeper than 200 levels"),
            std::string::npos);
  const auto chain = [](const char* first, const std::string& more, int times) {
    std::string out = first;
    for (int i = 0; i < times; ++i) out += more;
    return out;
  };
  for (const std::string& text : {chain("$a", " + 1", 90000) + " == 0",
                                  chain("$p", " <=> $q", 90000), chain("$p", " => $q", 90000)})
    EXPECT_NE(refusal("rule t\nbefore: " + text + "\nafter: true\n").find(" than "),
              std::string::npos);
  EXPECT_EQ(refusal("rule t\nbefore: " + chain("$p", " && $q", 5000) + "\nafter: true\n"), "");
  EXPECT_NE(refusal("rule t\nbefore: " + std::string(5000, '-') + "1 == 0\nafter: true\n")
                .find("nested deeper than 200 levels"),
            std::string::npos);
}

TEST(Rewrite, RefusesMalformedRules) {
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {"", "expected rules ('rule NAME'), found none"},
      {"; only a comment\n", "found none"},
      {"ld #1\n", "t.rule:1: expected 'rule NAME', found 'ld #1'"},
      {"rule two words\n", "of letters, digits"},
      {"rule t\nbefore:\n", "t.rule:1: rule t has no 'after:'"},
      {"rule t\nbefore:\nafter:\nbefore:\n", "t.rule:4: 'before:' is given twice"},
      {rule("ld #1", "ld #1") + rule("ld #1", "ld #1"), "rule t is defined twice"},
      {rule("ld #1", "frob"), "t.rule:5:1: expected an instruction, found 'frob'"},
      {rule("ld #1 ld #2", "ld #2"), "expected one instruction on each line"},
      {rule("ld [61]", "ld #1"), "61"},
      {rule("div #0", "ld #1"), "div"},
      {rule("mod #3", "ld #1"), "ModK"},
      {rule(".raw 6, 0, 0, 0", "ld #1"), "rules cannot contain '.raw'"},
      {rule("ld #(X)", "ld #1"), "cannot depend on registers"},
      {rule("ld #([0])", "ld #1"), "cannot depend on registers"},
      {rule("jset #(M[0] + $a), yes, no", "ld #1"), "cannot depend on registers"},
      {rule("ld #5 /* #$k */", "ld #1"), "t.rule:3: expected a comment that begins with ';'"},
      {rule("jeq #1, source, no\nsource: ret #1", "ld #1"), "'source' is a keyword"},
      {rule("ja for", "ja for"), "t.rule:3: 'for' is a keyword"},
      {rule("jeq #1, a, b", "ld #1"), "t.rule:3: exit 'a' has the name of a register"},
      {rule("add x, #$k", "ld #1"), "t.rule:3"},
      {rule("ld #$k ld #$j", "ld #1"), "t.rule:3"},
      {rule("ld #1", "ld #1", "live: A\nlive: X\n"), "t.rule:3: 'live:' is given twice"},
      {rule("ja far", "ja far", "live far: A\nlive far: X\n"), "'live far:' is given twice"},
      {rule("ld #1", "ld #1", "live:\n"),
       "t.rule:2: expected a list of live registers and words of M[], or 'none'"},
      {rule("ld #1", "ld #1", "for: A in 1..2\n"), "expected 'INDEX in FIRST..LAST'"},
      {rule("ld #1", "ld #1",
            "for: a in 1..1, b in 1..1, c in 1..1, d in 1..1, e in 1..1, f in "
            "1..1, g in 1..1, h in 1..1, i in 1..1\n"),
       "more than 8 indices"},
      {"rule t\nfor: a in 0..30, b in 0..30\nbefore: any i < 40000: $P[i]\nafter: true\n",
       "too many parts"},
      {"rule ../../evil\n", "of letters, digits"},
      {"rule .hidden\n", "of letters, digits"},
      {"rule \x1b[31m\n", "of letters, digits"},
      {rule("ld #1\nmod #3", "ld #1"), "t.rule:4: not_seccomp"},
      {rule("next: ld #1", "ld #1"), "'next' is the exit after the code"},
      {rule("ja far", "far: ld #1"), "'far' is a label in this code, but an exit in the other"},
      {rule("ld M[$i + 1]", "ld #1"), "t.rule:3"},
      {rule("ld #1", "ld #1", "live: B\n"), "expected A, X, M"},
      {rule("ld #1", "ld #1", "live far: A\n"), "'far' is not an exit of this rule"},
      {rule("ld #1", "ld #1", "expect: refuted badly\n"), "expected 'proven', or 'refuted'"},
      {rule("ld #1", "ld #1", "for: n in 3..2\n"), "expected FIRST..LAST"},
      {rule("ld #1", "ld #1", "for: n\n"), "expected 'INDEX in FIRST..LAST'"},
      {rule("ld #1", "ld #1", "for: n in 0..9, m in 0..9, k in 0..19\n"),
       "the family has more than"},
      {rule("ld #1", "ld #1", "where: $a\nwhere: $a == 1\n"),
       "expected a number or a symbol, found a condition"},
      {rule("ld #1", "ld #1", "what: ever\n"), "t.rule:2: expected 'source:'"},
      {rule("ld #1", "ld #1", "source: x\nld #1\n"), "t.rule:3: expected 'source:'"},
      {"rule t\nlive: A\nbefore: true\nafter: true\n",
       "because a condition leaves nothing in registers"},
      {rule("st M[$a]\nst M[$b]\nst M[$c]\nst M[$d]", "ld #1"),
       "more than 3 symbols are used as indices"},
  };
  for (const auto& each : cases) {
    const std::string message = refusal(each.text);
    EXPECT_NE(message.find(each.says), std::string::npos) << each.text << "\n  says " << message;
  }
}

TEST(Rewrite, ReadsPartsAndSymbols) {
  const One one(rule("ld [$o]\nand #($m & 3)\nst M[$i]\njeq #0, yes, no",
                     "ld [$o]\njset #$m, no, yes",
                     "source: here\nlive: M[2], X\nlive yes: none\nwhere: $m != 0\n"));
  ASSERT_FALSE(one.members.empty());
  const Rewrite& r = one.rules.front();
  EXPECT_EQ(r.source, "here");
  EXPECT_EQ(r.exits, (std::vector<std::string>{"next", "no", "yes"}));
  EXPECT_EQ(r.live, (std::vector<Live>{kLiveX | kLiveM << 2, kLiveX | kLiveM << 2, 0}));
  const auto& symbols = one.member().symbols;
  ASSERT_EQ(symbols.size(), 3u);
  EXPECT_EQ(symbols[0].role, Role::kOffset);
  EXPECT_EQ(symbols[1].role, Role::kPlain);
  EXPECT_EQ(symbols[2].role, Role::kIndex);
  const auto& before = std::get<Fragment>(one.member().before);
  EXPECT_EQ(before.size, 4u);
  Assignment values = one.zeros();
  values.symbols = {8, 7, 2};
  const Program code = instantiate(before, one.member(), values);
  EXPECT_EQ(code[0].k, 8u);
  EXPECT_EQ(code[1].k, 3u);
  EXPECT_EQ(code[2].k, 2u);
}

// Returns the kind of counterexample that these values give, or kNone if they give none.
Deviation replayed(const std::string& text, std::vector<std::uint32_t> symbols,
                   std::uint32_t a = 0) {
  const One one(text);
  if (one.members.empty()) return Deviation::kNone;
  Assignment assignment = one.zeros();
  std::ranges::copy(symbols, assignment.symbols.begin());
  assignment.entry.a = a;
  const auto found = replay(one.member(), assignment);
  return found ? found->kind : Deviation::kNone;
}

TEST(Rewrite, ReplayReportsEveryKindOfDeviation) {
  const std::string shift = rule("ld #1", "lsh #$s", "live: none\nwhere: $s <u 40\n");
  EXPECT_EQ(replayed(shift, {31}), Deviation::kNone);
  EXPECT_EQ(replayed(shift, {32}), Deviation::kIllegal);
  EXPECT_EQ(replayed(shift, {40}), Deviation::kNone);  // violates the condition
  const std::string exits = rule("jeq #$k, yes, no", "jgt #$k, yes, no");
  EXPECT_EQ(replayed(exits, {3}, 3), Deviation::kExit);
  EXPECT_EQ(replayed(exits, {3}, 2), Deviation::kNone);
  EXPECT_EQ(replayed(rule("ret #$k", "ret a"), {3}, 4), Deviation::kValue);
  EXPECT_EQ(replayed(rule("ret #$k", "ret a"), {3}, 3), Deviation::kNone);
  EXPECT_EQ(replayed(rule("ret #0", "ja far"), {}), Deviation::kExit);
  EXPECT_EQ(replayed(rule("ldx #0\ndiv x", "ret #0"), {}), Deviation::kNone);
  EXPECT_EQ(replayed(rule("add #$k", ""), {1}), Deviation::kState);
  EXPECT_EQ(replayed(rule("add #$k", "", "live: X, M\n"), {1}), Deviation::kNone);
  EXPECT_EQ(replayed(rule("tax", ""), {}, 1), Deviation::kState);
  EXPECT_EQ(replayed(rule("div #$k", "div #$k"), {0}), Deviation::kNone);  // illegal before
  EXPECT_EQ(replayed(rule("ld [$o]", "ld [$o]"), {2}), Deviation::kNone);
  EXPECT_EQ(replayed(rule("ld #1", "ld [$o]", "live: none\n"), {2}), Deviation::kIllegal);
}

TEST(Rewrite, FindsReadsOfUnwrittenMemory) {
  const auto refused = [](const std::string& before, const std::string& after,
                          const std::string& head = "live: none\n") {
    const One one(rule(before, after, head));
    return one.members.empty() ? std::size_t{999} : memory_refusals(one.member()).size();
  };
  EXPECT_EQ(refused("ld M[3]", "ld M[3]"), 0u);
  EXPECT_EQ(refused("ld M[3]", "ld M[4]"), 1u);
  EXPECT_EQ(refused("st M[4]\nld M[3]", "st M[4]\nld M[4]"), 0u);
  EXPECT_EQ(refused("st M[$i]\nld M[$j]", "ld M[$j]\nst M[$i]"), 16u);  // illegal unless $i is $j
  EXPECT_EQ(refused("st M[$i]\nld M[$j]", "st M[$i]\nld M[$i]"), 0u);
  EXPECT_EQ(refused("ld #1", "ld M[$i]"), 16u);
  EXPECT_EQ(refused("jeq #1, yes, l\nl: ld M[1]", "ld M[1]\njeq #1, yes, next"), 0u);
  // The code after an exit reads what is live there.
  EXPECT_EQ(refused("st M[2]", "ld #1", "live: M[2]\n"), 1u);
  EXPECT_EQ(refused("st M[2]", "ld #1", "live: M[1]\n"), 0u);
  EXPECT_EQ(refused("st M[2]\njeq #1, yes, no", "jeq #1, yes, no", "live: none\nlive yes: M[2]\n"),
            1u);
  EXPECT_EQ(refused("st M[2]\njeq #1, yes, no", "jeq #1, yes, no", "live no: none\nlive: M[2]\n"),
            1u);
  // A condition on a word at the entry implies that the word was written.
  EXPECT_EQ(refused("ld #1", "ld M[4]", "where: M[4] == 1\nlive: none\n"), 0u);
  EXPECT_EQ(refused("ld #1", "ld M[4]", "where: M[5] == 1\nlive: none\n"), 1u);
  EXPECT_EQ(refused("ld #1", "ld M[$i]", "where: M[$i] == 1\nlive: none\n"), 0u);
  EXPECT_EQ(refused("st M[3]", "", "where: M[3] == A\n"), 0u);
  // Exits are separate: a write on the path to one exit does not count at another exit.
  EXPECT_EQ(refused("jeq #1, set, next\nset: st M[5]\nja far",
                    "jeq #1, set, other\nother: jeq #1, far, next\nset: st M[5]\nja far", ""),
            1u);
  EXPECT_EQ(refused("st M[5]\njeq #1, next, far", "jeq #1, next, set\nset: st M[5]\nja far",
                    "live next: A, X\n"),
            0u);
  // A condition implies that the words in it were written, but not that others were.
  const auto of_condition = [](const std::string& condition, const std::string& code) {
    const One one("rule t\nbefore: " + condition + "\nafter:\n" + code + "\n");
    return one.members.empty() ? std::size_t{999} : memory_refusals(one.member()).size();
  };
  EXPECT_EQ(of_condition("[0] == 5", "ld M[$j]\njeq #5, yes, no"), 16u);
  EXPECT_EQ(of_condition("[0] == 5", "st M[$i]\nld M[$j]\njeq #5, yes, no"), 240u);
  EXPECT_EQ(of_condition("M[3] == 5", "ld M[3]\njeq #5, yes, no"), 0u);
  // After a jump, the kernel treats all of M[] as written in the code that follows. After a return
  // it does not.
  EXPECT_EQ(refused("ja far", "ret #0", "live: none\nlive next: M[5]\n"), 1u);
}

TEST(Rewrite, ConditionsDoNotChangeASymbolsRole) {
  const One one(
      rule("ld #$o\njge #64, yes, no", "ld #$o\nja no", "where: $o == $o || [$o] == 1\n"));
  ASSERT_FALSE(one.members.empty());
  EXPECT_EQ(one.member().symbols.front().role, Role::kPlain);
  EXPECT_EQ(
      replayed(rule("ld #$o\njge #64, yes, no", "ld #$o\nja no", "where: $o == $o || [$o] == 1\n"),
               {64}),
      Deviation::kExit);
}

TEST(Rewrite, HandlesManyExitsAndIndices) {
  std::string jumps;
  for (int i = 0; i < 100; ++i)
    jumps += "jeq #" + std::to_string(i) + ", e" + std::to_string(i) + "\n";
  const One one(rule("st M[$i]\nst M[$j]\nst M[$k]\n" + jumps, "st M[$i]\n" + jumps, ""));
  ASSERT_FALSE(one.members.empty());
  // The rewrite is right only if all three indices are equal.
  EXPECT_EQ(memory_refusals(one.member()).size(), 4096u - 16u);
}

TEST(Rewrite, WholeProgramsReturnWhatIsLive) {
  const One one(rule("add #$k\njeq #3, yes, no", "add #($k + 0)\njeq #3, yes, no", "live: A\n"));
  ASSERT_FALSE(one.members.empty());
  EXPECT_EQ(no_programs(one.member()), "");
  Assignment values = one.zeros();
  values.symbols = {5};
  const auto [before, after] = whole_programs(one.member(), values);
  EXPECT_FALSE(refusal_of(before));
  EXPECT_FALSE(refusal_of(after));
  values.symbols = {6};
  const auto [other, same] = whole_programs(one.member(), values);
  Random random(3);
  std::size_t distinguished = 0;
  for (int i = 0; i < 100; ++i) {
    SeccompData input;
    for (std::uint32_t& word : input.words) word = random.word();
    EXPECT_EQ(run(before, input), run(after, input));
    distinguished += run(before, input) != run(other, input) ? 1 : 0;
  }
  EXPECT_EQ(distinguished, 100u);
  EXPECT_NE(no_programs(One("rule t\nbefore: $p\nafter: $p\n").member()), "");
  EXPECT_NE(no_programs(One(rule("ld #1", "ld #1", "where: A == 1\n")).member()), "");
}

}  // namespace
}  // namespace secequiv::rules::rule_test
