// Tests that derived and mutated inputs alone find every planted pass, and that proofs find it too.
#include "adapters/broken/planted_passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/generate/policy.h"
#include "harness/generate/random_program.h"
#include "harness/inputs/cases.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "verify/dd/engine.h"

namespace secequiv::hunt_planted_passes_test {
namespace {

using broken::PlantedPass;

#ifdef SECEQUIV_FULL_TESTS
constexpr int kMutations = 20000;
constexpr int kSubjects = 10;
#else
constexpr int kMutations = 4000;
constexpr int kSubjects = 3;
#endif

// A program, the answer of an optimizer with the planted pass, and inputs derived from both.
struct Subject {
  std::string name;
  Program before;
  Program after;
  std::vector<SeccompData> inputs;
};

// Runs the planted pass alone, or after all earlier passes of its kind. A planted bytecode pass
// runs after all bytecode passes instead.
Program with_planted(const PlantedPass& planted, const Policy& policy, bool alone) {
  std::vector<const Pass*> earlier;
  for (const Pass* pass : standard_passes()) {
    if (alone || pass->name == planted.pass) break;
    if (pass->run.index() == planted.run.index()) earlier.push_back(pass);
  }
  if (const auto* run = std::get_if<RulePass>(&planted.run)) {
    Policy wrong = simplify(policy, earlier).policy;
    for (RuleSet& set : wrong.rule_sets)
      for (SyscallRule& entry : set.rules) entry.rule = (*run)(entry.rule);
    return compile(wrong);
  }
  if (const auto* run = std::get_if<LayoutPass>(&planted.run))
    return render((*run)(lay_out(policy, earlier)));
  const Program program = compile(policy);
  return std::get<BytecodePass>(planted.run)(alone ? program : optimize(program).program);
}

bool proven_different(const Subject& subject) {
  // These limits suffice for real filters, but not for all random programs.
  constexpr dd::Limits kLimits{std::size_t{1} << 18, std::size_t{1} << 18};
  auto proof = dd::prove(Pair{subject.before, subject.after, Sameness::kRaw}, kLimits);
  if (!proof || proof->verdict != Verdict::kDifferent) return false;
  // The engine replays its witness, so the programs must also differ here.
  const SeccompData& data = proof->witness->data;
  EXPECT_NE(run(subject.before, data), run(subject.after, data)) << subject.name;
  return true;
}

// Works like a fuzzer: it runs derived inputs, and then inputs that differ from them in one bit or
// word.
bool found_by_inputs(const Subject& subject, Random& random) {
  for (const SeccompData& data : subject.inputs)
    if (run(subject.before, data) != run(subject.after, data)) return true;
  for (int i = 0; i < kMutations; ++i) {
    SeccompData data = random.pick(subject.inputs);
    for (std::size_t n = random.between(1, 3); n > 0; --n) {
      std::uint32_t& word = data.words[random.below(16)];
      word = random.one_in(2) ? word ^ 1u << random.below(32)
                              : random.pick(subject.inputs).words[random.below(16)];
    }
    if (run(subject.before, data) != run(subject.after, data)) return true;
  }
  return false;
}

Subject of_policy(const PlantedPass& planted, std::string name, const Policy& policy, bool alone) {
  Subject out{std::move(name), compile(policy), with_planted(planted, policy, alone), {}};
  out.inputs = derive_cases(policy, {.per_syscall = 200, .total = 100000}).inputs;
  return out;
}

Subject of_program(const PlantedPass& planted, std::string name, const Program& program) {
  Subject out{std::move(name), program, std::get<BytecodePass>(planted.run)(program), {}};
  constexpr CaseLimits kLimits{.per_syscall = 200, .total = 100000, .steps = 1 << 20};
  out.inputs = derive_cases(program, kLimits).inputs;
  return out;
}

// Visits real policies, then random ones. For bytecode passes, it also visits random programs.
template <class Visit>
void subjects(const PlantedPass& planted, Random& random, const Visit& visit) {
  const std::filesystem::path folder =
      std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus/policies";
  for (const char* name : {"gvisor/systrap.json", "gvisor/kvm-nvproxy.json", "seed/nested.json",
                           "seed/errno-zoo.json", "seed/masked-flags.json", "seed/futex.json"}) {
    const auto text = read_file(folder / name);
    ASSERT_TRUE(text) << name;
    for (const bool alone : {false, true})
      if (visit(of_policy(planted, name, policy_from(*text), alone))) return;
  }
  // These two tests use different masks on one word.
  const Policy masks = x86_64_policy(
      R"j({"action": "allow", "rules": {"mmap": {"any_of": [
          {"args": {"2": {"masked_eq": {"mask": 6, "value": 2}, "bits": 32}}},
          {"args": {"2": {"masked_eq": {"mask": 24, "value": 8}, "bits": 32}}}]}}})j");
  for (const bool alone : {false, true})
    if (visit(of_policy(planted, "masks", masks, alone))) return;
  const bool programs = std::holds_alternative<BytecodePass>(planted.run);
  for (int i = 0; i < 400; ++i) {
    const Policy policy = random_policy(random);
    if (visit(of_policy(planted, "random policy", policy, i % 2 == 0))) return;
    for (int j = 0; programs && j < 5; ++j) {
      const Program program = random_program(random, random.between(3, j == 4 ? 600 : 60));
      if (visit(of_program(planted, "random program", program))) return;
    }
  }
}

std::vector<PlantedPass> all_planted_passes() {
  std::vector<PlantedPass> out;
  for (const auto planted_passes : {broken::planted_rule_passes(), broken::planted_layout_passes(),
                                    broken::planted_bytecode_passes()})
    out.insert(out.end(), planted_passes.begin(), planted_passes.end());
  return out;
}

TEST(PlantedPasses, EveryPassHasAPlantedVariant) {
  const auto planted_passes = all_planted_passes();
  for (const Pass& pass : all_passes()) {
    const auto planted = std::ranges::find(planted_passes, pass.name, &PlantedPass::pass);
    ASSERT_NE(planted, planted_passes.end()) << pass.name;
    EXPECT_EQ(planted->run.index(), pass.run.index()) << pass.name;
    EXPECT_FALSE(planted->bug.empty());
  }
  EXPECT_GE(planted_passes.size(), all_passes().size());
}

class EveryPlantedPass : public testing::TestWithParam<PlantedPass> {};

TEST_P(EveryPlantedPass, IsFoundByProof) {
  Random random(90);
  bool found = false;
  subjects(GetParam(), random, [&](const Subject& subject) {
    EXPECT_FALSE(refusal_of(subject.after, LengthRule::kUnlimited)) << subject.name;
    found = proven_different(subject);
    return found;
  });
  EXPECT_TRUE(found) << GetParam().bug;
}

TEST_P(EveryPlantedPass, IsFoundByInputsAlone) {
  Random random(91);
  bool found = false;
  subjects(GetParam(), random, [&](const Subject& subject) {
    // The pass changed nothing, so there is nothing to find.
    if (subject.after == subject.before) return false;
    found = found_by_inputs(subject, random);
    return found;
  });
  EXPECT_TRUE(found) << GetParam().bug;
}

// Inputs must not differ if the programs are proven equivalent.
TEST_P(EveryPlantedPass, InputsAndProofAgree) {
  Random random(92);
  int seen = 0;
  subjects(GetParam(), random, [&](const Subject& subject) {
    const bool by_inputs = found_by_inputs(subject, random);
    EXPECT_TRUE(!by_inputs || proven_different(subject)) << subject.name;
    return ++seen == kSubjects;
  });
}

INSTANTIATE_TEST_SUITE_P(Passes, EveryPlantedPass, testing::ValuesIn(some_of(all_planted_passes())),
                         [](const auto& parameter) {
                           std::string name(parameter.param.pass);
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + std::to_string(parameter.index);
                         });

}  // namespace
}  // namespace secequiv::hunt_planted_passes_test
