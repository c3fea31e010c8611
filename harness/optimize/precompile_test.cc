// Tests programs with names in place of a policy's variables. After values are filled in, they must
// equal a new compilation. Compilers that use a value in any other way must be refused.
#include "harness/optimize/precompile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/base/file.h"
#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/generate/policy.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "harness/policy/variables.h"

namespace secequiv::optimize_precompile_test {
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

SymbolicProgram compiled(const Policy& policy, const Renderer& render = kOptimized) {
  auto out = compile_with_names(policy, render);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().text();
  return {};
}

Program filled(SymbolicProgram program, const Values& values) {
  fill(program, values);
  EXPECT_TRUE(program.uses.empty());
  return std::move(program.program);
}

std::vector<std::size_t> places_of(const SymbolicProgram& program, std::string_view name) {
  std::vector<std::size_t> out;
  for (const SymbolUse& use : program.uses)
    if (use.name == name) out.push_back(use.pc);
  return out;
}

// Returns a policy with the variable `fd` in two places and `pid` in one.
Policy small_policy() {
  return policy_from(R"j({"version": 1, "name": "small", "arches": ["x86_64"],
    "default_action": "errno(1)", "variables": {"fd": 3, "pid": 70000, "unused": 9},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$fd"}}},
      "write": {"args": {"0": {"eq": "$fd"}}},
      "kill": {"args": {"0": {"gt": "$pid"}}}}}]})j");
}

std::string refusal(const Policy& policy, const Renderer& render) {
  const auto out = compile_with_names(policy, render);
  if (out) return "no error";
  EXPECT_EQ(out.error().code, ErrorCode::kPolicy);
  return out.error().text();
}

TEST(Precompile, FillingInValuesEqualsCompilingWithThem) {
  const auto policies = policies_with_variables();
  ASSERT_EQ(policies.size(), 9u);
  Random random(31);
  for (const Policy& policy : policies) {
    const SymbolicProgram program = compiled(policy);
    EXPECT_GE(program.uses.size(), 1u) << policy.name;
    // The values are not constants of the policy. Otherwise a new compilation could let equal tests
    // share code.
    for (int i = 0; i < 4; ++i) {
      Values values = policy.variables;
      for (auto& [name, value] : values) value = random.word();
      EXPECT_EQ(write_program(filled(program, values), Form::kRaw),
                write_program(kOptimized(with_values(policy, values)), Form::kRaw))
          << policy.name << " " << i;
    }
  }
}

TEST(Precompile, FilledProgramsDecideAsThePolicyWithThoseValues) {
  Random random(32);
  int with_places = 0;
  for (int i = 0; i < of_cases(200); ++i) {
    const Policy policy = random_policy(random);
    const SymbolicProgram precompiled = compiled(policy);
    for (const auto& [name, value] : policy.variables)
      with_places += !places_of(precompiled, name).empty();
    for (int j = 0; j < 5; ++j) {
      Values values = policy.variables;
      for (auto& [name, value] : values) value = random.one_in(2) ? random.word() : 0x7fffffff;
      const Policy other = with_values(policy, values);
      const Program program = filled(precompiled, values);
      for (int k = 0; k < 50; ++k) {
        const SeccompData data = random_call(random, other);
        ASSERT_EQ(run(program, data), decide(other, data)) << write_policy(other);
      }
    }
  }
  EXPECT_GE(with_places, of_cases(50));
}

TEST(Precompile, FindsTheInstructionsOfEachVariable) {
  const SymbolicProgram out = compiled(small_policy(), compile);
  EXPECT_EQ(places_of(out, "fd").size(), 2u);
  EXPECT_EQ(places_of(out, "pid").size(), 1u);
  EXPECT_TRUE(places_of(out, "unused").empty());
  EXPECT_TRUE(std::ranges::is_sorted(out.uses, {}, &SymbolUse::pc));
  for (const SymbolUse& use : out.uses) EXPECT_EQ(out.program[use.pc].k, kPlaceholder);
  EXPECT_FALSE(refusal_of(out.program));
}

TEST(Precompile, WritesAndReadsBack) {
  for (const Policy& policy : policies_with_variables()) {
    const SymbolicProgram program = compiled(policy);
    const auto read = read_symbolic(write_symbolic(program), "written", Form::kAsm);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->program, program.program) << policy.name;
    ASSERT_EQ(read->uses.size(), program.uses.size()) << policy.name;
    for (std::size_t i = 0; i < program.uses.size(); ++i) {
      EXPECT_EQ(read->uses[i].pc, program.uses[i].pc);
      EXPECT_EQ(read->uses[i].name, program.uses[i].name);
    }
  }
}

TEST(Precompile, PolicyWithoutVariablesCompilesAsUsual) {
  const Policy policy = x86_64_policy(R"j({"action": "allow", "rules": {"read": true}})j");
  const SymbolicProgram out = compiled(policy);
  EXPECT_TRUE(out.uses.empty());
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

// These compilers use a value other than as a free operand.
TEST(Precompile, RefusesCodeThatDependsOnTheValue) {
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
  EXPECT_EQ(places_of(compiled(policy, render("ld [16]\njeq #FD, y, n\ny: ret #1\nn: ret #PID\n")),
                      "pid"),
            std::vector<std::size_t>{3});
  // The operand depends on the value but differs from it.
  EXPECT_EQ(refusal(policy, render("ld [16]\njgt #FD+1, y, n\ny: ret #1\nn: ret #2\n")),
            "small: instruction 1: variable 'fd': this instruction is 'jgt #0x9e3779b2, L2, L3' "
            "for the value 0x9e3779b1 and 'jgt #0x61c8864f, L2, L3' for 0x61c8864e; expected the "
            "value of the variable as the operand");
  EXPECT_NE(refusal(policy, render("ld #FD%2\nret #PID\n")), "no error");
  EXPECT_NE(refusal(policy, render("ld #FD|1\nret #PID\n")), "no error")
      << "right for only one of two values";
  // DIV does not accept every operand.
  EXPECT_NE(refusal(policy, render("ld [16]\ndiv #FD\nret a\n"))
                .find("expected an instruction that takes any operand"),
            std::string::npos);
}

TEST(Precompile, RefusesIfAVariableChangesOpcodesOrTheLength) {
  const Policy policy = small_policy();
  const auto halves = [](const Policy& p) {
    return value_of(p, 1) >> 31 != 0 ? assemble("ld [0]\nret #0\n") : assemble("ld [4]\nret #0\n");
  };
  EXPECT_EQ(
      refusal(policy, halves),
      "small: instruction 0: variable 'pid': this instruction is 'ld [0]' for the value 0x9e3879b2 "
      "and 'ld [4]' for 0x61c7864d; expected the value of the variable as the operand");
  const auto codes = [](const Policy& p) {
    return value_of(p, 0) >> 31 != 0 ? assemble("ld #1\nret a\n") : assemble("ldx #1\nret a\n");
  };
  EXPECT_NE(refusal(policy, codes).find("expected a difference only in the operand"),
            std::string::npos);
  const auto lengths = [](const Policy& p) {
    return value_of(p, 0) >> 31 != 0 ? assemble("ret #1\n") : assemble("ld #1\nret #1\n");
  };
  EXPECT_EQ(
      refusal(policy, lengths),
      "small: instruction 0: variable 'fd': this instruction is 'ret #1' for the value 0x9e3779b1 "
      "and 'ld #1' for 0x61c8864e; expected programs of equal length, found 1 and 2 instructions");
}

// The program differs only if bit 31 of both values is clear.
TEST(Precompile, RefusesCodeThatDependsOnSeveralValues) {
  const Policy policy = small_policy();
  const auto top = [](const Policy& p) {
    const bool both = value_of(p, 0) >> 31 == 0 && value_of(p, 1) >> 31 == 0;
    return assemble(both ? "ret #1\n" : "ret #0\n");
  };
  EXPECT_EQ(refusal(policy, top),
            "small: instruction 0: with different values for all variables ('fd' 0xc0ffed, 'pid' "
            "0xc0feec, 'unused' 0xc0fdeb), expected 'ret #0', found 'ret #1'");
}

TEST(Precompile, RefusesInvalidNames) {
  Policy policy = small_policy();
  policy.variables.emplace_back("fd", 4);
  EXPECT_EQ(refusal(policy, kOptimized), "small: variable 'fd' is defined twice");
  for (const char* name : {"", "a=b", "1st", "a.b", "\n"}) {
    policy.variables = {{"fd", 3}, {"pid", 4}, {name, 5}};
    EXPECT_NE(refusal(policy, kOptimized)
                  .find("': expected a name of letters, digits and '_' that does not begin with"),
              std::string::npos)
        << name;
  }
  policy.variables.clear();
  EXPECT_EQ(refusal(policy, kOptimized), "small: variable 'fd' has no value");
}

TEST(Precompile, RefusesProgramsThatTheKernelRefuses) {
  const auto out = compile_with_names(
      small_policy(), [](const Policy&) { return Program(5000, Insn{kRetK, 0, 0, 0}); });
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, ErrorCode::kRejected);
}

TEST(Precompile, PlaceholdersDifferFromThePolicysConstants) {
  const std::string text = R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
    "variables": {"fd": 3}, "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$fd"}, "1": {"eq": 2654435761}, "2": {"eq": 1640531534},
      "3": {"gt": 12648428}}}}}]})j";
  std::set<std::uint32_t> seen;
  const SymbolicProgram out = compiled(policy_from(text), [&](const Policy& p) {
    EXPECT_TRUE(seen.insert(value_of(p, 0)).second) << "each rendering has another value";
    return kOptimized(p);
  });
  EXPECT_EQ(seen.size(), 3u);
  for (const std::uint32_t constant : {2654435761u, 1640531534u, 12648429u, 3u, 1u, 0u})
    EXPECT_FALSE(seen.contains(constant)) << constant;
  EXPECT_EQ(out.uses.size(), 1u);
  EXPECT_EQ(filled(out, {{"fd", 3}}), kOptimized(policy_from(text)));
}

}  // namespace
}  // namespace secequiv::optimize_precompile_test
