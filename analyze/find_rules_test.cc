// Tests the search for rules: it finds planted ones, refutes wrong candidates, reports its limits,
// and rewritten programs decide as before.
#include "analyze/find_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/prove_rules.h"
#include "harness/base/file.h"
#include "harness/bpf/testing.h"
#include "verify/dd/engine.h"
#include "verify/rules/firing.h"
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

// Applies all rules that were found in the corpus, which are more than one program shows.
TEST(FindRules, RewrittenProgramsDecideAsBefore) {
  std::vector<rules::Rewrite> library;
  const std::string folder = SECEQUIV_SOURCE_DIR "/";
  for (const char* name : {"found", "bytecode", "arithmetic"}) {
    const auto text = read_file(folder + "verify/rules/library/" + name + ".rule");
    ASSERT_TRUE(text && add_rules(*text, name, library));
  }
  std::vector<rules::Instance> members;
  for (const rules::Rewrite& rule : library) {
    auto all = rules::instances(rule);
    ASSERT_TRUE(all);
    std::ranges::copy_if(*all, std::back_inserter(members), rules::improves);
  }
  for (const auto& [name, most] :
       {std::pair{"libseccomp/allow306.linear.bpf", 20}, std::pair{"gvisor/kvm.after.bpf", 310}}) {
    const auto bytes = read_file(folder + "corpus/programs/" + name);
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
