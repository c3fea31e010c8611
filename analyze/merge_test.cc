// Tests merged policies against runs of their filters, which share no code with the diagrams that
// found and proved the policies. SECEQUIV_PAIRS sets the number of random pairs.
#include "analyze/merge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "analyze/proven.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/inputs/cases.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::merge_test {
namespace {

MergeJob job_for(const std::vector<Policy>& policies, Combination combination) {
  MergeJob job;
  job.combination = combination;
  for (const Policy& policy : policies) {
    Source source{fmt::format("{}.json", job.filters.size()), compile(policy), policy};
    job.filters.push_back(std::move(source));
  }
  return job;
}

// The value's place in the kernel's order of actions, from the strictest on.
std::size_t place(std::uint32_t value) {
  static constexpr std::array<std::uint32_t, 8> kOrder = {
      0x80000000, 0, 0x30000, 0x50000, 0x7fc00000, 0x7ff00000, 0x7ffc0000, 0x7fff0000};
  const auto* const at = std::ranges::find(kOrder, value & 0xffff0000);
  return at == kOrder.end() ? 0 : static_cast<std::size_t>(at - kOrder.begin());
}

std::uint32_t expected(const MergeJob& job, const SeccompData& data) {
  if (job.combination == Combination::kStack) return run_stack(views(job.filters), data);
  std::uint32_t out = run(job.filters[0].program, data);
  for (const Source& filter : job.filters)
    if (const std::uint32_t value = run(filter.program, data); place(value) > place(out))
      out = value;
  return out;
}

// Inputs derived from all filters of the job and from the result.
std::vector<SeccompData> inputs(Random& random, const MergeJob& job, const Policy& merged) {
  constexpr CaseLimits kFew{.per_syscall = 20, .total = 300, .steps = 10'000};
  std::vector<SeccompData> out = derive_cases(merged, kFew).inputs;
  for (const Source& filter : job.filters) {
    const Cases cases = derive_cases(*filter.policy, kFew);
    out.insert(out.end(), cases.inputs.begin(), cases.inputs.end());
    for (int i = 0; i < 50; ++i) out.push_back(random_call(random, *filter.policy));
  }
  return out;
}

void expect_decisions(Random& random, const MergeJob& job, const Policy& merged) {
  const Program program = compile(merged);
  for (const SeccompData& data : inputs(random, job, merged)) {
    const std::uint32_t value = expected(job, data);
    ASSERT_EQ(decide(merged, data), value) << describe(data) << "\n" << write_policy(merged);
    ASSERT_EQ(run(program, data), value) << describe(data);
    if (job.combination == Combination::kStack)
      for (const Source& filter : job.filters)
        ASSERT_LE(place(value), place(run(filter.program, data))) << describe(data);
  }
}

// Returns what prevents a merge, without names and numbers.
std::string kind(const Error& error) {
  if (error.code == ErrorCode::kBudget) return "a limit was reached";
  const std::string& text = error.detail;
  const std::string prefix = "no policy can express this combination of filters: ";
  if (!text.starts_with(prefix)) return text.substr(0, text.find(':'));
  return text.substr(prefix.size(), std::min(text.find(','), text.find(';')) - prefix.size());
}

TEST(Merge, RandomPairsDecideAsRunsOfTheirFilters) {
  const char* const given = std::getenv("SECEQUIV_PAIRS");
  const int pairs = given != nullptr ? std::atoi(given) : std::max(10, of_cases(60));
  Random random(11);
  std::map<std::string, int> refused;
  int merged = 0;
  for (int i = 0; i < pairs; ++i) {
    const std::vector<Policy> policies = {generate_policy(random), generate_policy(random)};
    for (const Combination combination : {Combination::kStack, Combination::kLoosest}) {
      const MergeJob job = job_for(policies, combination);
      const auto found = merge(job);
      if (found) {
        ++merged;
        expect_decisions(random, job, found->policy);
        if (HasFatalFailure()) return;
        continue;
      }
      const ErrorCode code = found.error().code;
      ASSERT_TRUE(code == ErrorCode::kBudget || code == ErrorCode::kPolicy)
          << found.error().text() << write_policy(policies[0]) << write_policy(policies[1]);
      ++refused[kind(found.error())];
    }
  }
  EXPECT_GT(merged, pairs / 2);
  if (given == nullptr) return;
  fmt::print("{} of {} merged\n", merged, 2 * pairs);
  for (const auto& [reason, count] : refused) fmt::print("{:6} {}\n", count, reason);
}

TEST(Merge, TheFirstOfEqualActionsGivesTheData) {
  const auto one = [](const char* action) {
    return x86_64_policy(fmt::format(R"j({{"action": "{}", "rules": {{"read": true}}}})j", action));
  };
  const auto action_of_read = [&](const char* a, const char* b, Combination combination) {
    const auto merged = merge(job_for({one(a), one(b)}, combination));
    EXPECT_TRUE(merged) << merged.error().text();
    return merged ? decide(merged->policy, call(Arch::kX86_64, 0)) : 0;
  };
  EXPECT_EQ(action_of_read("errno(5)", "errno(7)", Combination::kStack), 0x50005u);
  EXPECT_EQ(action_of_read("errno(5)", "errno(7)", Combination::kLoosest), 0x50005u);
  EXPECT_EQ(action_of_read("trap(5)", "errno(7)", Combination::kStack), 0x30005u);
  EXPECT_EQ(action_of_read("trap(5)", "errno(7)", Combination::kLoosest), 0x50007u);
  EXPECT_EQ(action_of_read("kill_process", "kill_thread", Combination::kLoosest), 0u);
}

TEST(Merge, TheProofOfAUnionRefusesWrongResults) {
  const auto returning = [](const char* read, const char* others) {
    return assemble(fmt::format("ld [0]\njeq #0, r, o\nr: ret #{}\no: ret #{}\n", read, others));
  };
  const std::vector<Program> filters = {returning("0x50001", "0x50001"),
                                        returning("0x7fff0000", "0x50002")};
  const std::vector<ProgramView> programs(filters.begin(), filters.end());
  const auto proven = [&](const char* read, const char* others) {
    const Program made = returning(read, others);
    const auto status = expect_loosest(programs, made, "both", "merge", {});
    if (!status) EXPECT_EQ(status.error().code, ErrorCode::kInternal);
    return static_cast<bool>(status);
  };
  EXPECT_TRUE(proven("0x7fff0000", "0x50001"));
  EXPECT_FALSE(proven("0x50001", "0x50001")) << "stricter than a filter";
  EXPECT_FALSE(proven("0x7fff0000", "0x7ffc0000")) << "more permissive than both";
  EXPECT_FALSE(proven("0x7fff0000", "0x50002")) << "the second filter's data";
  EXPECT_FALSE(proven("0x7fff0000", "0x50003")) << "no filter's data";
}

TEST(Merge, ThreePoliciesBecomeOne) {
  const auto one = [](const char* rules) {
    return x86_64_policy(fmt::format(R"j({{"action": "allow", "rules": {{{}}}}})j", rules));
  };
  const std::vector<Policy> all = {one(R"("read": true, "write": true)"),
                                   one(R"("read": true, "close": true)"),
                                   one(R"("read": {"args": {"0": {"eq": 3}}})")};
  Random random(12);
  for (const Combination combination : {Combination::kStack, Combination::kLoosest}) {
    const MergeJob job = job_for(all, combination);
    const auto merged = merge(job);
    ASSERT_TRUE(merged) << merged.error().text();
    EXPECT_EQ(merged->calls, combination == Combination::kStack ? 1u : 3u);
    expect_decisions(random, job, merged->policy);
  }
}

TEST(Merge, AnActionUnknownToTheKernelMayNotLoosenTheIntersection) {
  // In a stack, ERRNO wins against 0x70000, although the kernel would kill for 0x70000 alone.
  const auto one = [](const char* action) {
    return x86_64_policy(fmt::format(R"j({{"action": {}, "rules": {{"read": true}}}})j", action));
  };
  const std::vector<Policy> policies = {one(R"j("0x70000")j"), one(R"j("errno(7)")j")};
  const auto both = merge(job_for(policies, Combination::kStack));
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::kPolicy);
  EXPECT_NE(both.error().text().find("0.json: the intersection would be more permissive than this "
                                     "filter: for nr=0 (read)"),
            std::string::npos)
      << both.error().text();
  const auto either = merge(job_for(policies, Combination::kLoosest));
  ASSERT_TRUE(either) << either.error().text();
  EXPECT_EQ(decide(either->policy, call(Arch::kX86_64, 0)), 0x50007u);
}

TEST(Merge, TheResultKeepsNamesAndHotCalls) {
  const auto one = [](const char* name, const char* arches, const char* hot) {
    return policy_from(fmt::format(
        R"j({{"version": 1, "name": "{}", "arches": [{}], "default_action": "allow", "hot": [{}],
            "rule_sets": []}})j",
        name, arches, hot));
  };
  const std::vector<Policy> policies = {
      one("web", R"("x86_64")", R"("read", "open")"),
      one("", R"("x86_64", "aarch64")", R"("futex", "read", "aarch64:close")")};
  const auto both = merge(job_for(policies, Combination::kStack));
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->policy.name, "web and 1.json");
  EXPECT_EQ(both->policy.arches, std::vector{Arch::kX86_64});
  EXPECT_EQ(both->policy.hot, (std::vector<std::string>{"read", "open", "futex"}));
  const auto either = merge(job_for(policies, Combination::kLoosest));
  ASSERT_TRUE(either) << either.error().text();
  EXPECT_EQ(either->policy.name, "web or 1.json");
  EXPECT_EQ(either->policy.hot,
            (std::vector<std::string>{"read", "open", "futex", "aarch64:close"}));
}

TEST(Merge, AComputedValueMayBeConstantWhereItCounts) {
  // The first filter returns the number, which is KILL_THREAD for all numbers below 0x30000.
  const std::string start = "ld [4]\njeq #0xc000003e, on, deny\non: ld [0]\n";
  const Program number = assemble(start + "jge #0x30000, deny, n\nn: ret a\ndeny: ret #0x50001\n");
  const Program log = assemble("ret #0x7ffc0000\n");
  const Program few = assemble(start + "jge #5, deny, n\nn: ret #0x50002\ndeny: ret #0x50003\n");
  for (const Program& other : {log, few}) {
    MergeJob job = job_for({}, Combination::kLoosest);
    job.filters = {{"nr.asm", number, std::nullopt}, {"other.asm", other, std::nullopt}};
    const auto merged = merge(job);
    ASSERT_TRUE(merged) << merged.error().text();
    for (const std::uint32_t nr : {0U, 4U, 5U, 0x2ffffU, 0x30000U, 0xffffffffU}) {
      const SeccompData data = call(Arch::kX86_64, nr);
      EXPECT_EQ(decide(merged->policy, data), expected(job, data)) << nr;
    }
  }
}

TEST(Merge, WhatNoPolicyCanExpressIsRefused) {
  MergeJob job = job_for({x86_64_policy("")}, Combination::kLoosest);
  job.filters.push_back({"nr.asm", assemble("ld [0]\nret a\n"), std::nullopt});
  const auto merged = merge(job);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, ErrorCode::kPolicy);
  EXPECT_EQ(merged.error().where, "0.json, nr.asm");
}

}  // namespace
}  // namespace secequiv::merge_test
