// Precompiled filters: patched, they are what a fresh compilation gives, and what depends on a
// value in any other way is refused.
#include "harness/optimize/precompile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/generate/policy.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"

namespace secequiv {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

const Renderer kOptimized = [](const Policy& policy) {
  return optimize(policy, value_blind_passes()).program;
};

std::vector<Policy> policies_with_variables() {
  const std::filesystem::path corpus =
      std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus" / "policies";
  std::vector<std::filesystem::path> files = {corpus / "seed" / "variables.json"};
  for (const auto& entry : std::filesystem::directory_iterator(corpus / "gvisor"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Policy> out;
  for (const auto& file : files) {
    const auto text = read_file(file);
    if (text) out.push_back(policy_from(*text));
  }
  return out;
}

Precompiled precompiled_from(const Policy& policy, const Renderer& render = kOptimized) {
  auto out = precompile(policy, render);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().text();
  return {};
}

Program patched(const Precompiled& precompiled, const Values& values) {
  auto out = patch(precompiled, values);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().text();
  return {};
}

// A policy with the variable `fd` in two places and `pid` in one.
Policy small_policy() {
  return policy_from(R"j({"version": 1, "name": "small", "arches": ["x86_64"],
    "default_action": "errno(1)", "variables": {"fd": 3, "pid": 70000, "unused": 9},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$fd"}}},
      "write": {"args": {"0": {"eq": "$fd"}}},
      "kill": {"args": {"0": {"gt": "$pid"}}}}}]})j");
}

std::string refusal(const Policy& policy, const Renderer& render) {
  const auto out = precompile(policy, render);
  if (out) return "no error";
  EXPECT_EQ(out.error().code, ErrorCode::kPolicy);
  return out.error().text();
}

TEST(Precompile, PatchedIsWhatAFreshCompilationGives) {
  const auto policies = policies_with_variables();
  ASSERT_EQ(policies.size(), 9u);
  Random random(31);
  for (const Policy& policy : policies) {
    const Precompiled precompiled = precompiled_from(policy);
    ASSERT_EQ(precompiled.variables.size(), policy.variables.size());
    EXPECT_EQ(precompiled.policy, policy.name);
    std::size_t places = 0;
    for (const auto& variable : precompiled.variables) places += variable.places.size();
    EXPECT_GE(places, 1u) << policy.name;
    // Values that are no constants of the policy: where both are the same, a fresh compilation may
    // let tests share code.
    for (int i = 0; i < 4; ++i) {
      Values values = policy.variables;
      for (auto& [name, value] : values) value = random.word();
      EXPECT_EQ(write_program(patched(precompiled, values), Form::kRaw),
                write_program(kOptimized(with_values(policy, values)), Form::kRaw))
          << policy.name << " " << i;
    }
  }
}

TEST(Precompile, RandomPoliciesDecideTheSameWithOtherValues) {
  Random random(32);
  int with_places = 0;
  for (int i = 0; i < 200; ++i) {
    const Policy policy = random_policy(random);
    const Precompiled precompiled = precompiled_from(policy);
    for (const auto& variable : precompiled.variables) with_places += !variable.places.empty();
    for (int j = 0; j < 5; ++j) {
      Values values = policy.variables;
      for (auto& [name, value] : values) value = random.one_in(2) ? random.word() : 0x7fffffff;
      const Policy other = with_values(policy, values);
      const Program program = patched(precompiled, values);
      for (int k = 0; k < 50; ++k) {
        const SeccompData data = random_call(random, other);
        ASSERT_EQ(run(program, data), decide(other, data)) << write_policy(other);
      }
    }
  }
  EXPECT_GE(with_places, 50);
}

TEST(Precompile, FindsThePlaces) {
  const Precompiled out = precompiled_from(small_policy(), compile);
  ASSERT_EQ(out.variables.size(), 3u);
  EXPECT_EQ(out.variables[0].name, "fd");
  EXPECT_EQ(out.variables[0].value, 3u);
  EXPECT_EQ(out.variables[0].places.size(), 2u);
  EXPECT_EQ(out.variables[1].name, "pid");
  EXPECT_EQ(out.variables[1].places.size(), 1u);
  EXPECT_TRUE(out.variables[2].places.empty());
  for (const auto& variable : out.variables)
    for (const std::size_t pc : variable.places) EXPECT_EQ(out.program[pc].k, variable.value);
  EXPECT_FALSE(find_fault(out));
}

TEST(Precompile, NoVariablesNoPlaces) {
  const Policy policy = x86_64_policy(R"j({"action": "allow", "rules": {"read": true}})j");
  const Precompiled out = precompiled_from(policy);
  EXPECT_TRUE(out.variables.empty());
  EXPECT_EQ(out.program, kOptimized(policy));
}

TEST(Precompile, WithValuesSetsVariablesAndMatchers) {
  const Policy policy = small_policy();
  const Policy other = with_values(policy, Values{{"fd", 8}});
  EXPECT_EQ(other.variables, (Values{{"fd", 8}, {"pid", 70000}, {"unused", 9}}));
  const Rule* rule = other.rule_sets[0].find(Arch::kX86_64, 0);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->fields[0].value, 8u);
  EXPECT_EQ(other.rule_sets[0].find(Arch::kX86_64, 62)->fields[0].value, 70000u);
  EXPECT_EQ(write_policy(with_values(other, policy.variables)), write_policy(policy));
}

std::uint32_t value_of(const Policy& policy, std::size_t variable) {
  return policy.variables[variable].second;
}

// Renderers that do something else with a value.
TEST(Precompile, RefusesWhatDependsOnTheValue) {
  const Policy policy = small_policy();
  const auto render = [](const std::string& text) {
    return [text](const Policy& p) {
      std::string out = text;
      const auto fill = [&](std::string_view mark, std::uint32_t value) {
        for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark))
          out.replace(at, mark.size(), std::to_string(value));
      };
      fill("FD+1", value_of(p, 0) + 1);
      fill("FD%2", value_of(p, 0) % 2);
      fill("FD|1", value_of(p, 0) | 1);
      fill("FD", value_of(p, 0));
      fill("PID", value_of(p, 1));
      return assemble(out);
    };
  };
  EXPECT_EQ(precompiled_from(policy, render("ld [16]\njeq #FD, y, n\ny: ret #1\nn: ret #PID\n"))
                .variables[1]
                .places,
            std::vector<std::size_t>{3});
  // Changed, but not the value.
  EXPECT_EQ(
      refusal(policy, render("ld [16]\njgt #FD+1, y, n\ny: ret #1\nn: ret #2\n")),
      "small: instruction 1: variable 'fd': with the value 0x9e3779b1 this is "
      "'jgt #0x9e3779b2, L2, L3', with 0x61c8864e 'jgt #0x61c8864f, L2, L3'; expected the value "
      "itself as the operand");
  EXPECT_NE(refusal(policy, render("ld #FD%2\nret #PID\n")), "no error");
  EXPECT_NE(refusal(policy, render("ld #FD|1\nret #PID\n")), "no error") << "right for one of two";
  // An operand that is not free.
  EXPECT_NE(refusal(policy, render("ld [16]\ndiv #FD\nret a\n"))
                .find("expected an instruction that takes any operand"),
            std::string::npos);
}

TEST(Precompile, RefusesOtherInstructionsAndLengths) {
  const Policy policy = small_policy();
  const auto halves = [](const Policy& p) {
    return value_of(p, 1) >> 31 != 0 ? assemble("ld [0]\nret #0\n") : assemble("ld [4]\nret #0\n");
  };
  EXPECT_EQ(
      refusal(policy, halves),
      "small: instruction 0: variable 'pid': with the value 0x9e3879b2 this is 'ld [0]', with "
      "0x61c7864d 'ld [4]'; expected the value itself as the operand");
  const auto codes = [](const Policy& p) {
    return value_of(p, 0) >> 31 != 0 ? assemble("ld #1\nret a\n") : assemble("ldx #1\nret a\n");
  };
  EXPECT_NE(refusal(policy, codes).find("expected the same instruction"), std::string::npos);
  const auto lengths = [](const Policy& p) {
    return value_of(p, 0) >> 31 != 0 ? assemble("ret #1\n") : assemble("ld #1\nret #1\n");
  };
  EXPECT_EQ(refusal(policy, lengths),
            "small: instruction 0: variable 'fd': with the value 0x9e3779b1 this is 'ret #1', "
            "with 0x61c8864e 'ld #1'; expected programs of one length, found 1 and 2 instructions");
}

// What no variable changes alone.
TEST(Precompile, TheThirdRenderingMustBePredicted) {
  const Policy policy = small_policy();
  const auto top = [](const Policy& p) {
    const bool both = value_of(p, 0) >> 31 == 0 && value_of(p, 1) >> 31 == 0;
    return assemble(both ? "ret #1\n" : "ret #0\n");
  };
  EXPECT_EQ(refusal(policy, top),
            "small: instruction 0: with other values for all variables ('fd' 0xc0ffed, 'pid' "
            "0xc0feec, 'unused' 0xc0fdeb) expected 'ret #0', found 'ret #1'");
}

TEST(Precompile, RefusesNamesThatMeanNothing) {
  Policy policy = small_policy();
  policy.variables.emplace_back("fd", 4);
  EXPECT_EQ(refusal(policy, kOptimized), "small: variable 'fd' is there twice");
  policy.variables = {{"fd", 3}, {"pid", 4}, {"", 5}};
  EXPECT_EQ(refusal(policy, kOptimized), "small: a variable has an empty name");
  policy.variables.clear();
  EXPECT_EQ(refusal(policy, kOptimized), "small: variable 'fd' has no value");
}

TEST(Precompile, RefusesWhatTheKernelWould) {
  const auto out =
      precompile(small_policy(), [](const Policy&) { return Program(5000, Insn{kRetK, 0, 0, 0}); });
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ErrorCode::kRejected);
}

TEST(Precompile, PlaceholdersKeepAwayFromThePolicysConstants) {
  const std::string text = R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
    "variables": {"fd": 3}, "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$fd"}, "1": {"eq": 2654435761}, "2": {"eq": 1640531534},
      "3": {"gt": 12648428}}}}}]})j";
  std::set<std::uint32_t> seen;
  const Precompiled out = precompiled_from(policy_from(text), [&](const Policy& p) {
    EXPECT_TRUE(seen.insert(value_of(p, 0)).second) << "each rendering has another value";
    return kOptimized(p);
  });
  EXPECT_EQ(seen.size(), 3u);
  for (const std::uint32_t constant : {2654435761u, 1640531534u, 12648429u, 3u, 1u, 0u})
    EXPECT_FALSE(seen.contains(constant)) << constant;
  ASSERT_EQ(out.variables.size(), 1u);
  EXPECT_EQ(out.variables[0].places.size(), 1u);
  EXPECT_EQ(out.program, kOptimized(policy_from(text)));
}

TEST(Patch, RefusesUnknownNamesAndRepeatedOnes) {
  const Precompiled out = precompiled_from(small_policy());
  const auto unknown = patch(out, Values{{"fdd", 1}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUsage);
  EXPECT_EQ(unknown.error().text(),
            "fdd: unknown variable; known: fd, pid, unused; did you mean fd?");
  const auto twice = patch(out, Values{{"fd", 1}, {"fd", 1}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().text(), "fd: the variable is given twice");
  const auto none = patch(Precompiled{"p", assemble("ret #0\n"), {}}, Values{{"fd", 1}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), "fd: unknown variable; there are none");
}

TEST(Patch, LeavesTheRestAlone) {
  const Precompiled out = precompiled_from(small_policy());
  const Program program = patched(out, Values{{"fd", 77}});
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const bool place =
        std::ranges::find(out.variables[0].places, pc) != out.variables[0].places.end();
    EXPECT_EQ(program[pc].k, place ? 77 : out.program[pc].k);
  }
  EXPECT_EQ(patched(out, {}), out.program);
}

}  // namespace
}  // namespace secequiv
