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
#include "harness/base/random.h"
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

// For these numbers, a shorter piece of code is right, but the facts about them do not imply that.
TEST(FindRules, ProofsRefuteWrongCandidates) {
  const FoundRules found =
      found_in(job_for("ld [0]\nand #12\njeq #4, y, m\nm: jeq #8, y, n\ny: ret #1\nn: ret #0"));
  EXPECT_GE(found.refuted, 1u);
  EXPECT_EQ(found.refuted, found.candidates);
  EXPECT_TRUE(found.rules.empty());
  EXPECT_EQ(found.verdict(), Verdict::kPass);
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

// Returns values that meet the condition: small numbers, which are often neighbours, or any others.
std::vector<rules::Assignment> small_values(const rules::Instance& instance) {
  Random random(1);
  std::vector<rules::Assignment> out;
  for (int i = 0; i < 20000 && out.size() < 8; ++i) {
    rules::Assignment values;
    for (std::size_t k = 0; k < instance.symbols.size(); ++k)
      values.symbols.push_back(static_cast<std::uint32_t>(random.below(12)));
    for (std::size_t k = 0; k < instance.symbols.size(); ++k)
      if (instance.symbols[k].role == rules::Role::kOffset) values.symbols[k] *= 4;
    if (rules::value_of(instance.condition, instance, values) != 0) out.push_back(values);
  }
  if (!out.empty()) return out;
  auto some = smt::some_assignments(instance, 2, 1, 60);
  EXPECT_TRUE(some && !some->empty()) << instance.rule->name;
  return some ? *some : out;
}

// If a rule were an instance of another, the other would fire in every program made from it.
TEST(FindRules, NoFoundRuleIsAnInstanceOfAnother) {
  constexpr std::size_t kEntry = 3;  // instructions of whole_programs() before the code
  const auto found = library({"found"});
  const auto all = library({"found", "bytecode", "arithmetic"});
  const auto members = improving(all);
  EXPECT_GE(found.size(), 30u);
  const auto size = [](const rules::Instance& instance) {
    return std::get<rules::Fragment>(instance.before).size;
  };
  for (const rules::Rewrite& rule : found) {
    const std::vector<rules::Rewrite> one = {rule};
    const auto mine = improving(one);
    ASSERT_EQ(mine.size(), 1u) << rule.name;
    const bool alone =
        std::ranges::any_of(small_values(mine[0]), [&](const rules::Assignment& each) {
          const Program whole = rules::whole_programs(mine[0], each).first;
          const rules::Scene scene(whole);
          EXPECT_TRUE(rules::fires_at(mine[0], scene, kEntry)) << rule.name;
          return std::ranges::none_of(members, [&](const rules::Instance& other) {
            bool fires = false;
            for (std::size_t pc = kEntry; pc + size(other) <= kEntry + size(mine[0]); ++pc)
              fires = fires || rules::fires_at(other, scene, pc);
            return fires && other.rule->name != rule.name;
          });
        });
    EXPECT_TRUE(alone) << rule.text;
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
