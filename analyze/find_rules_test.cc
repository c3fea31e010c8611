// Tests the search for rules: it finds planted ones, refutes wrong candidates, reports its limits,
// and rewritten programs decide as before.
#include "analyze/find_rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "analyze/prove_rules.h"
#include "harness/base/file.h"
#include "harness/bpf/testing.h"
#include "verify/dd/engine.h"
#include "verify/rules/firing.h"
#include "verify/rules/whole.h"
#include "verify/smt/rules.h"

namespace secequiv::find_rules_test {
namespace {

FindRulesJob job_for(std::string_view text) {
  FindRulesJob job;
  job.programs.push_back({"planted", assemble(text)});
  return job;
}

FoundRules found_in(const FindRulesJob& job) {
  auto found = find_rules(job);
  if (found) return std::move(*found);
  ADD_FAILURE() << found.error().text();
  return {};
}

std::vector<rules::Rewrite> parsed(const FoundRules& found) {
  std::vector<rules::Rewrite> out;
  for (const FoundRules::Rule& rule : found.rules) {
    const Status added = add_rules(rule.text, "found", out);
    EXPECT_TRUE(added) << rule.text;
  }
  return out;
}

constexpr std::string_view kMasked =
    "ld [16]\nand #0xf0\njeq #0, y, n\ny: ret #0x7fff0000\nn: ret #0";

TEST(FindRules, FindsAKnownRuleInAPlantedProgram) {
  const FoundRules found = found_in(job_for(kMasked));
  ASSERT_EQ(found.rules.size(), 1u);
  EXPECT_EQ(found.rules[0].text,
            "rule and-jeq\n  source: found by find-rules in planted\n  live: X, M\n"
            "  before:\n    and #$a\n    jeq #0, yes, no\n  after:\n    jset #$a, no, yes\n");
  EXPECT_EQ(found.rules[0].fires, std::vector<std::size_t>{1});
  EXPECT_EQ(found.programs[0].before, 5u);
  EXPECT_EQ(found.programs[0].after, 4u);
  EXPECT_EQ(found.verdict(), Verdict::kPass);
}

TEST(FindRules, LeavesOutWhatKnownRulesDo) {
  FindRulesJob job = job_for(kMasked);
  job.known = parsed(found_in(job));
  const FoundRules again = found_in(job);
  EXPECT_TRUE(again.rules.empty());
  EXPECT_GE(again.known, 1u);
}

// Here A is live at one exit, so the window has no shorter form.
TEST(FindRules, RespectsWhatIsLive) {
  EXPECT_TRUE(
      found_in(job_for("ld [16]\nand #0xf0\njeq #0, y, n\ny: ret #1\nn: ret a")).rules.empty());
}

TEST(FindRules, ReportsItsLimits) {
  FindRulesJob job = job_for(kMasked);
  job.max_tries = 3;
  const FoundRules found = found_in(job);
  EXPECT_GE(found.unfinished, 1u);
  EXPECT_EQ(found.verdict(), Verdict::kUnknown);
}

// The numbers suggest rewrites that are right only for them, or only for a few values of A.
TEST(FindRules, ProofsRefuteWrongCandidates) {
  const FoundRules found =
      found_in(job_for("ld [0]\njge #0x2e, a1, b1\na1: jgt #0x30, n, y\nb1: jset #0x12, c1, n\n"
                       "c1: jeq #0x12, y, d1\nd1: jeq #0x13, y, n\ny: ret #1\nn: ret #0"));
  EXPECT_GE(found.refuted, 1u);
  const auto all = parsed(found);
  EXPECT_FALSE(all.empty());
  for (const rules::Rewrite& rule : all) {
    const auto proof = smt::prove_rule(rule, 60);
    ASSERT_TRUE(proof);
    EXPECT_EQ(proof->verdict, Verdict::kEquivalent) << rule.text;
  }
}

std::vector<rules::Rewrite> library(std::initializer_list<const char*> names) {
  std::vector<rules::Rewrite> out;
  for (const char* name : names) {
    const auto text =
        read_file(fmt::format("{}/verify/rules/library/{}.rule", SECEQUIV_SOURCE_DIR, name));
    EXPECT_TRUE(text && add_rules(*text, name, out));
  }
  return out;
}

std::vector<rules::Instance> improving(const std::vector<rules::Rewrite>& all) {
  std::vector<rules::Instance> out;
  for (const rules::Rewrite& rule : all) {
    auto members = rules::instances(rule);
    EXPECT_TRUE(members);
    std::ranges::copy_if(*members, std::back_inserter(out), rules::improves);
  }
  return out;
}

// In a program made from a found rule, no other rule fires within its code.
TEST(FindRules, NoFoundRuleIsAnInstanceOfAnother) {
  constexpr std::size_t kEntry = 3;  // instructions of whole_programs() before the code
  const auto found = library({"found"});
  const auto all = library({"found", "bytecode", "arithmetic"});
  const auto members = improving(all);
  EXPECT_GE(found.size(), 40u);
  for (const rules::Rewrite& rule : found) {
    const auto mine = improving({rule});
    ASSERT_EQ(mine.size(), 1u) << rule.name;
    const auto values = smt::some_assignments(mine[0], 1, 1, 60);
    ASSERT_TRUE(values && !values->empty()) << rule.name;
    const Program whole = rules::whole_programs(mine[0], values->front()).first;
    const rules::Scene scene(whole);
    EXPECT_TRUE(rules::fires_at(mine[0], scene, kEntry)) << rule.name;
    const std::size_t end = kEntry + std::get<rules::Fragment>(mine[0].before).size;
    for (const rules::Instance& other : members)
      for (std::size_t pc = kEntry; pc + std::get<rules::Fragment>(other.before).size <= end &&
                                    other.rule->name != rule.name;
           ++pc)
        EXPECT_FALSE(rules::fires_at(other, scene, pc)) << other.rule->name << " in " << rule.text;
  }
}

// Applies all rules that were found in the corpus, which are more than one program shows.
TEST(FindRules, RewrittenProgramsDecideAsBefore) {
  const auto all = library({"found", "bytecode", "arithmetic"});
  const auto members = improving(all);
  for (const auto& [name, most] :
       {std::pair{"libseccomp/allow306.linear.bpf", 20}, std::pair{"gvisor/kvm.after.bpf", 310}}) {
    const auto bytes = read_file(fmt::format("{}/corpus/programs/{}", SECEQUIV_SOURCE_DIR, name));
    ASSERT_TRUE(bytes);
    const auto before = read_program(*bytes, name);
    ASSERT_TRUE(before);
    const Program after = rules::rewrite(*before, members).program;
    EXPECT_LE(after.size(), static_cast<std::size_t>(most)) << name;
    const auto proof = dd::prove(Pair{*before, after, Sameness::kRaw}, dd::Limits{});
    ASSERT_TRUE(proof);
    EXPECT_EQ(proof->verdict, Verdict::kEquivalent) << name;
  }
}

}  // namespace
}  // namespace secequiv::find_rules_test
