// The proof for all values: right precompiled filters are proven, and whatever is wrong with one is
// shown by values and an input.
#include "verify/decide/precompiled.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

const Renderer kPlain = [](const Policy& policy) { return compile(policy); };
const Renderer kOptimized = [](const Policy& policy) {
  return optimize(policy, value_blind_passes()).program;
};

PrecompiledProof proof_of(const Policy& policy, const Precompiled& precompiled,
                          double timeout = 60) {
  auto proof = prove(policy, precompiled, timeout);
  if (proof) return std::move(*proof);
  ADD_FAILURE() << proof.error().text();
  return {};
}

Precompiled precompiled_from(const Policy& policy, const Renderer& render = kOptimized) {
  auto out = precompile(policy, render);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().text();
  return {};
}

// A proof that must find a difference; the witness is run once more, by hand.
PrecompiledWitness difference(const Policy& policy, const Precompiled& precompiled) {
  const auto proof = proof_of(policy, precompiled);
  EXPECT_EQ(proof.verdict, Verdict::kDifferent);
  if (!proof.witness) return {};
  const PrecompiledWitness& witness = *proof.witness;
  const SeccompData& data = witness.input.data;
  EXPECT_EQ(decide(with_values(policy, witness.values), data), witness.input.before);
  EXPECT_EQ(run(*patch(precompiled, witness.values), data), witness.input.after);
  EXPECT_NE(witness.input.before, witness.input.after);
  EXPECT_EQ(witness.values.size(), policy.variables.size());
  return witness;
}

// Puts the variables' values where their places are, as after a wrong search for places.
Precompiled consistent(Precompiled precompiled) {
  for (auto& variable : precompiled.variables) {
    std::ranges::sort(variable.places);
    for (const std::size_t pc : variable.places) precompiled.program[pc].k = variable.value;
  }
  EXPECT_FALSE(find_fault(precompiled));
  return precompiled;
}

Policy small_policy() {
  return policy_from(R"j({"version": 1, "name": "small", "arches": ["x86_64"],
    "default_action": "errno(1)", "variables": {"fd": 3, "pid": 70000},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$fd"}}},
      "write": {"args": {"0": {"eq": "$fd"}}},
      "kill": {"args": {"0": {"gt": "$pid"}}}}}]})j");
}

// One number, compared with the low half of the first argument of any x86_64 call `read`.
Policy one_comparison(const std::string& op) {
  return policy_from(R"j({"version": 1, "name": "one", "arches": ["x86_64"],
    "default_action": "errno(1)", "bad_arch_action": "errno(1)", "variables": {"v": 5},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {")j" +
                     op + R"j(": "$v", "bits": 32}}}}}]})j");
}

// `body` runs for `read` on x86_64; "yes" and "no" are its labels.
Program read_only(const std::string& body) {
  return assemble("ld [4]\njne #0xc000003e, no\nld [0]\njne #0, no\n" + body +
                  "yes: ret #0x7fff0000\nno: ret #0x50001\n");
}

TEST(Precompiled, TheCorpusIsProven) {
  const std::filesystem::path corpus =
      std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus" / "policies";
  std::vector<std::filesystem::path> files = {corpus / "seed" / "variables.json"};
  for (const auto& entry : std::filesystem::directory_iterator(corpus / "gvisor"))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 9u);
  int plain = 0;
  for (const auto& file : files) {
    const auto text = read_file(file);
    ASSERT_TRUE(text);
    const Policy policy = policy_from(*text);
    const auto proof = proof_of(policy, precompiled_from(policy));
    EXPECT_EQ(proof.verdict, Verdict::kEquivalent) << file << " " << proof.detail;
    if (check(compile(policy))) continue;  // too long
    EXPECT_EQ(proof_of(policy, precompiled_from(policy, kPlain)).verdict, Verdict::kEquivalent);
    ++plain;
  }
  EXPECT_GE(plain, 5);
}

TEST(Precompiled, RandomPoliciesAreProven) {
  Random random(41);
  int with_places = 0;
  for (int i = 0; i < 120; ++i) {
    const Policy policy = random_policy(random);
    const Precompiled precompiled = precompiled_from(policy, i % 2 == 0 ? kOptimized : kPlain);
    EXPECT_EQ(proof_of(policy, precompiled).verdict, Verdict::kEquivalent) << write_policy(policy);
    with_places +=
        std::ranges::any_of(precompiled.variables, [](const auto& v) { return !v.places.empty(); });
  }
  EXPECT_GE(with_places, 15);
}

TEST(Precompiled, AMissingPlace) {
  const Policy policy = small_policy();
  Precompiled broken = precompiled_from(policy, kPlain);
  ASSERT_EQ(broken.variables[0].places.size(), 2u);
  broken.variables[0].places.pop_back();
  const auto witness = difference(policy, broken);
  EXPECT_NE(witness.values[0].second, 3u) << "with the policy's own value it is right";
  EXPECT_EQ(witness.values[1].second, 70000u) << "what does not matter is the policy's own";
  EXPECT_EQ(witness.input.data.arch(), AUDIT_ARCH_X86_64);
}

TEST(Precompiled, AllPlacesMissing) {
  const Policy policy = small_policy();
  Precompiled broken = precompiled_from(policy);
  for (auto& variable : broken.variables) variable.places.clear();
  difference(policy, broken);
}

TEST(Precompiled, SwappedVariables) {
  const Policy policy = small_policy();
  Precompiled broken = precompiled_from(policy);
  std::swap(broken.variables[0].places, broken.variables[1].places);
  difference(policy, consistent(broken));
}

// Named the other way round, the places themselves are right.
TEST(Precompiled, SwappedNames) {
  const Policy policy = small_policy();
  Precompiled broken = precompiled_from(policy);
  std::swap(broken.variables[0].name, broken.variables[1].name);
  difference(policy, broken);
}

// The order of variables means nothing.
TEST(Precompiled, AnotherOrderIsFine) {
  const Policy policy = small_policy();
  Precompiled other = precompiled_from(policy);
  std::swap(other.variables[0], other.variables[1]);
  EXPECT_EQ(proof_of(policy, other).verdict, Verdict::kEquivalent);
}

TEST(Precompiled, EveryWrongPlaceIsFound) {
  const Policy policy = small_policy();
  const Precompiled right = precompiled_from(policy);
  int tried = 0;
  for (std::size_t pc = 0; pc < right.program.size(); ++pc) {
    if (!has_free_operand(right.program[pc])) continue;
    if (std::ranges::any_of(right.variables, [&](const auto& v) {
          return std::ranges::find(v.places, pc) != v.places.end();
        }))
      continue;
    for (std::size_t i = 0; i < 2; ++i) {
      Precompiled moved = right;
      moved.variables[i].places.back() = pc;
      difference(policy, consistent(moved));
      Precompiled added = right;
      added.variables[i].places.push_back(pc);
      difference(policy, consistent(added));
      ++tried;
    }
  }
  EXPECT_GE(tried, 10);
}

struct Shape {
  const char* op;
  const char* body;
  std::vector<std::size_t> places;  // after the four instructions in front
  bool right;
};

TEST(Precompiled, OtherShapesOfProgram) {
  const Shape shapes[] = {
      {"eq", "ld [16]\njeq #5, yes, no\n", {5}, true},
      {"eq", "ld [16]\nsub #5\njeq #0, yes, no\n", {5}, true},
      {"eq", "ld [16]\nxor #5\njeq #0, yes, no\n", {5}, true},
      {"eq", "ld [16]\nldx #5\njeq x, yes, no\n", {5}, true},
      {"eq", "ld [16]\nldx #5\nadd x\ndiv x\njeq #2, yes, no\n", {5}, false},
      {"ne", "ld [16]\njeq #5, no, yes\n", {5}, true},
      {"ne", "ld [16]\njeq #5, yes, no\n", {5}, false},
      {"gt", "ld [16]\njgt #5, yes, no\n", {5}, true},
      {"gt", "ld [16]\njge #5, yes, no\n", {5}, false},
      {"ge", "ld [16]\njge #5, yes, no\n", {5}, true},
      {"lt", "ld [16]\njge #5, no, yes\n", {5}, true},
      {"le", "ld [16]\njgt #5, no, yes\n", {5}, true},
      // A sum that wraps for some values only.
      {"gt", "ldx #5\nld #1\nadd x\ntax\nld [16]\njge x, yes, no\n", {4}, false},
      // The value treated as a signed number.
      {"gt", "ld #5\nxor #0x80000000\ntax\nld [16]\nxor #0x80000000\njgt x, yes, no\n", {4}, false},
      {"lt", "ld #5\nxor #0x80000000\ntax\nld [16]\nxor #0x80000000\njge x, no, yes\n", {4}, false},
      // One bit of the value left out.
      {"eq", "ld #5\nand #0x7fffffff\ntax\nld [16]\njeq x, yes, no\n", {4}, false},
      {"eq", "ld [16]\njset #5, yes, no\n", {5}, false},
      // Right for its own value alone.
      {"eq", "ld [16]\njeq #5, yes, no\n", {}, false},
      // The upper half is asked about too.
      {"eq", "ld [16]\njeq #5, more, no\nmore: ld [20]\njeq #0, yes, no\n", {5}, false},
  };
  for (const Shape& shape : shapes) {
    const Policy policy = one_comparison(shape.op);
    const Precompiled precompiled{"one", read_only(shape.body), {{"v", 5, shape.places}}};
    ASSERT_FALSE(find_fault(precompiled)) << shape.body << find_fault(precompiled)->detail;
    if (shape.right)
      EXPECT_EQ(proof_of(policy, precompiled).verdict, Verdict::kEquivalent) << shape.body;
    else
      difference(policy, precompiled);
    if (HasFailure()) {
      ADD_FAILURE() << shape.op << "\n" << shape.body;
      return;
    }
  }
}

TEST(Precompiled, SignedComparisonsDifferForSigns) {
  const Policy policy = one_comparison("gt");
  const auto witness = difference(
      policy, {"one",
               read_only("ld #5\nxor #0x80000000\ntax\nld [16]\nxor #0x80000000\njgt x, yes, no\n"),
               {{"v", 5, {4}}}});
  ASSERT_EQ(witness.values.size(), 1u);
  EXPECT_NE(witness.values[0].second >> 31, witness.input.data.words[4] >> 31);
}

// Constants that no instruction asks for stay what they are, even if the last instruction is a
// place.
TEST(Precompiled, DivisionByZeroReturnsZero) {
  const Policy policy = policy_from(R"j({"version": 1, "name": "one", "arches": ["x86_64"],
    "default_action": "kill_thread", "bad_arch_action": "kill_thread", "variables": {"v": 5},
    "rule_sets": [{"action": "allow", "rules": {"read": {"args": {"0": {"gt": 4294967295}}}}}]})j");
  const Precompiled precompiled{
      "one",
      assemble("ld [4]\njne #0xc000003e, no\nld [0]\njne #0, no\nld [20]\ntax\nld #1\n"
               "jeq #2, never\ndiv x\nret #0x7fff0000\nno: ret #0\nnever: ret #5\n"),
      {{"v", 5, {11}}}};
  EXPECT_EQ(proof_of(policy, precompiled).verdict, Verdict::kEquivalent);
}

// What does not concern variables is proven too.
TEST(Precompiled, AWrongProgramIsDifferentWithItsOwnValues) {
  const Policy policy = small_policy();
  Precompiled broken = precompiled_from(policy);
  for (Insn& in : broken.program)
    if (in.code == kRetK && in.k == 0x50001) in.k = 0x50002;
  const auto witness = difference(policy, broken);
  EXPECT_EQ(witness.values, policy.variables);
}

TEST(Precompiled, RunningOutOfTimeIsUnknown) {
  const Policy policy = small_policy();
  const auto proof = proof_of(policy, precompiled_from(policy), 1e-9);
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_EQ(proof.detail, "time limit of 1e-09 s reached");
  EXPECT_FALSE(proof.witness);
}

TEST(Precompiled, VariablesMustBeTheSame) {
  const auto refused = [](const Policy& policy, const Precompiled& precompiled) {
    const auto proof = prove(policy, precompiled, 10);
    if (proof) return std::string("no error");
    EXPECT_EQ(proof.error().code, ErrorCode::kPolicy);
    return proof.error().text();
  };
  const Policy policy = small_policy();
  const Precompiled right = precompiled_from(policy);
  Precompiled fewer = right;
  fewer.variables.pop_back();
  EXPECT_EQ(refused(policy, fewer), "small: the precompiled program has no variable 'pid'");
  Precompiled more = right;
  more.variables.push_back({"uid", 0, {}});
  EXPECT_EQ(refused(policy, more), "small: the policy has no variable 'uid'");
  Policy nameless = policy;
  nameless.variables.erase(nameless.variables.begin());
  EXPECT_EQ(refused(nameless, right), "small: the policy has no variable 'fd'");
  Precompiled faulty = right;
  faulty.variables[0].places = {9999};
  EXPECT_NE(refused(policy, faulty).find("found 9999"), std::string::npos);
}

TEST(Precompiled, ReplayTellsDifferencesFromNone) {
  const Policy policy = small_policy();
  const Precompiled right = precompiled_from(policy);
  const SeccompData data = call(Arch::kX86_64, 0, {8});
  EXPECT_FALSE(replay(policy, right, Values{{"fd", 8}, {"pid", 1}}, data));
  Precompiled broken = right;
  broken.variables[0].places.clear();
  const auto witness = replay(policy, broken, Values{{"fd", 8}, {"pid", 1}}, data);
  ASSERT_TRUE(witness);
  EXPECT_EQ(witness->input.before, SECCOMP_RET_ALLOW);
  EXPECT_EQ(witness->input.after, 0x50001u);
}

}  // namespace
}  // namespace secequiv
