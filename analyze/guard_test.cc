#include "analyze/guard.h"

#include <gtest/gtest.h>

#include "harness/policy/compile.h"
#include "harness/policy/testing.h"

namespace secequiv::analyze_guard_test {
namespace {

// Whatever the limit, the answer is complete or unknown. The search for doors comes last.
TEST(Guard, ASearchThatReachesALimitIsUnknown) {
  GuardJob job;
  job.stack.filters.emplace_back().program = compile(policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow", "x32_action": "log", "rule_sets":
          [{"action": "errno(1)", "rules": {"socket": {"args": {"0": {"eq": 38}}}, "swapon": true}}]})j"));
  const auto all = guard(job);
  ASSERT_TRUE(all && all->unknown.empty());
  ASSERT_TRUE(all->holes.size() == 1 && !all->doors.empty());
  const auto with = [&](std::size_t steps) {
    job.limits.steps = steps;
    return *guard(job);
  };
  std::size_t enough = job.limits.steps;
  for (std::size_t few = 1; few + 1 < enough;) {
    const std::size_t middle = (few + enough) / 2;
    (with(middle).doors.size() == all->doors.size() ? enough : few) = middle;
  }
  EXPECT_EQ(with(enough).unknown, "");
  const GuardReport partial = with(enough - 1);
  EXPECT_EQ(partial.holes.size(), 1u) << "the limit must be reached in the search for doors";
  EXPECT_EQ(partial.unknown, dd::exhausted_text());
}

}  // namespace
}  // namespace secequiv::analyze_guard_test
