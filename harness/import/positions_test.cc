// Tests the positions of rules that each importer reports. Each line of the texts has one element,
// so that a reader can count the lines.
#include <gtest/gtest.h>

#include "harness/import/import.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::import_positions_test {
namespace {

Import imported(std::string_view text, const ImportOptions& options = {}) {
  auto result = import_policy(text, "file", std::nullopt, options);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().text() << "\n" << text;
  return {};
}

// Collects the positions in the rules for `nr` on x86_64 in every rule set, from the outside in.
void collect(const Rule& rule, std::vector<std::string>& out) {
  if (rule.position.at != nullptr) out.push_back(rule.position.at->text());
  for (const Rule& child : rule.children) collect(child, out);
}
std::vector<std::string> positions(const Policy& policy, std::uint32_t nr) {
  std::vector<std::string> out;
  for (const RuleSet& set : policy.rule_sets)
    if (const Rule* rule = set.find(Arch::kX86_64, nr)) collect(*rule, out);
  return out;
}

using Texts = std::vector<std::string>;

constexpr std::string_view kOwn = R"j({"version": 1, "arches": ["x86_64"],
  "default_action": "errno(1)",
  "rule_sets": [
    {"action": "allow", "rules": {
      "read": true,
      "write": {"any_of": [
        {"args": {"0": {"eq": 1}}},
        {"args": {"0": {"eq": 2}}}]}}},
    {"action": "log",
     "rules": {"write": {"args": {"1": {"eq": 12}}},
               "close": true}}]}
)j";

TEST(Positions, AreCorrectInOurFormat) {
  const Policy policy = imported(kOwn).policy;
  EXPECT_EQ(positions(policy, 0), Texts{"file:5 (rule_sets[0].rules.read)"});
  EXPECT_EQ(positions(policy, 1),
            (Texts{"file:6 (rule_sets[0].rules.write)", "file:7 (rule_sets[0].rules.write)",
                   "file:8 (rule_sets[0].rules.write)", "file:10 (rule_sets[1].rules.write)"}));
  EXPECT_EQ(policy.default_position.at->text(), "file:2 (default_action)");
  EXPECT_EQ(positions(policy, 3), Texts{"file:11 (rule_sets[1].rules.close)"})
      << "the rule follows a number, whose token ends one character early";
}

TEST(Positions, AreCorrectForTheOtherActionsOfOurFormat) {
  constexpr std::string_view kHead = R"j({"version": 1, "arches": ["x86_64"], "rule_sets": [],
  "default_action": "allow")j";
  const Policy policy =
      imported(std::string(kHead) + ",\n\"bad_arch_action\": \"trap\",\n\"x32_action\": \"log\"}")
          .policy;
  EXPECT_EQ(policy.bad_arch_position.at->text(), "file:3 (bad_arch_action)");
  EXPECT_EQ(policy.x32_position.at->text(), "file:4 (x32_action)");
  const Policy without = imported(std::string(kHead) + "}").policy;
  EXPECT_EQ(without.bad_arch_position.at, nullptr) << "the file does not set it";
}

TEST(Positions, DoNotAffectAPolicysMeaning) {
  const Policy policy = imported(kOwn).policy;
  const Policy moved = imported("\n\n" + std::string(kOwn)).policy;
  EXPECT_NE(positions(policy, 0), positions(moved, 0));
  EXPECT_EQ(policy, moved);
  const auto edited = read_policy_tree(policy_tree(moved), "tree");
  ASSERT_TRUE(edited) << edited.error().text();
  EXPECT_EQ(*edited, policy);
  EXPECT_TRUE(positions(*edited, 0).empty()) << "a document without text has no lines";
}

TEST(Positions, ErrorsNameTheLine) {
  const auto bad = read_policy("{\"version\": 1,\n \"arches\": [\"x86_64\",\n \"vax\"]}", "file");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where, "file:1#/") << "a missing key has no line of its own";
  const auto found = import_policy(
      "{\n\"defaultAction\": \"SCMP_ACT_ERRNO\",\n\"syscalls\": [\n1]}", "file", std::nullopt, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().where, "file:4#/syscalls/0");
}

constexpr std::string_view kProfile = R"j({
  "defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
  "syscalls": [
    {"names": ["read",
               "write"], "action": "SCMP_ACT_ALLOW"},
    {"name": "bpf",
     "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"], "minKernel": "4.8"}},
    {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 5, "op": "SCMP_CMP_EQ"}],
     "excludes": {"caps": ["CAP_BPF", "CAP_PERFMON"], "arches": ["s390x"]}},
    {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 6, "op": "SCMP_CMP_EQ"}]}
  ]})j";

TEST(Positions, AreCorrectInContainerProfiles) {
  const Policy policy = imported(kProfile).policy;
  EXPECT_EQ(policy.default_position.at->text(), "file:2 (defaultAction)");
  EXPECT_EQ(positions(policy, 0), Texts{"file:4 (syscalls[0])"});
  EXPECT_EQ(positions(policy, 1), Texts{"file:5 (syscalls[0])"})
      << "the position is that of the name in the list";
  EXPECT_EQ(positions(policy, 321),
            (Texts{"file:8 (syscalls[2], excludes CAP_BPF CAP_PERFMON, excludes s390x)",
                   "file:10 (syscalls[3])"}));
  ImportOptions admin;
  admin.oci.capabilities = {"CAP_SYS_ADMIN"};
  const Import all = imported(kProfile, admin);
  EXPECT_EQ(positions(all.policy, 321),
            Texts{"file:6 (syscalls[1], includes CAP_SYS_ADMIN, includes kernel >= 4.8)"})
      << "only the entry without conditions has an effect";
  EXPECT_EQ(all.capabilities, (Texts{"CAP_SYS_ADMIN", "CAP_BPF", "CAP_PERFMON"}));
}

TEST(Positions, AreCorrectInSeccompilerFiles) {
  const Policy policy = imported(R"j({"vmm": {"mismatch_action": "trap", "match_action": "allow",
    "filter": [
      {"syscall": "read"},
      {
        "syscall": "write", "args": [{"index": 0, "type": "dword", "op": "eq", "val": 1}]},
      {"syscall": "write", "args": [{"index": 0, "type": "dword", "op": "eq", "val": 2},
                                    {"index": 1, "type": "dword", "op": "eq", "val": 2}]}]}})j")
                            .policy;
  EXPECT_EQ(policy.default_position.at->text(), "file:1 (vmm.mismatch_action)");
  EXPECT_EQ(positions(policy, 0), Texts{"file:3 (vmm.filter[0])"});
  EXPECT_EQ(positions(policy, 1), (Texts{"file:5 (vmm.filter[1])", "file:6 (vmm.filter[2])"}));
}

TEST(Positions, AreCorrectInMinijailPolicies) {
  ImportOptions options;
  options.read_file = [](const std::string&) -> Result<std::string> {
    return std::string("\nclose: 1\n");
  };
  const Policy policy =
      imported("# head\nread: 1\nwrite: arg0 == 1; return EPERM\n@include ./more\n", options)
          .policy;
  EXPECT_EQ(positions(policy, 0), Texts{"file:2"});
  EXPECT_EQ(positions(policy, 1), (Texts{"file:3", "file:3"}));
  EXPECT_EQ(positions(policy, 3), Texts{"./more:2"});
  const Policy compiler =
      imported("read: {arg0 == 1; log,\\\n arg0 == 2; trap,\\\n kill}\n").policy;
  EXPECT_EQ(positions(compiler, 0), (Texts{"file:1", "file:2", "file:3"}));
  EXPECT_EQ(compiler.default_position.at, nullptr) << "no line of the file sets the default action";
  const Policy with_default = imported("# head\n@default trap\nread: allow\n").policy;
  EXPECT_EQ(with_default.default_position.at->text(), "file:2 (@default)");
}

TEST(Positions, AreCorrectInPseudoCode) {
  const Policy policy =
      imported(
          "# filter for arch x86_64 (3221225534)\nif ($arch == 3221225534)\n"
          "  if ($syscall == 1)\n    if ($a0.hi32 == 0)\n      if ($a0.lo32 == 2)\n"
          "        action ALLOW;\n    action LOG;\n  action ERRNO(1);\naction KILL;\n")
          .policy;
  EXPECT_EQ(positions(policy, 1), (Texts{"file:6", "file:7"}));
  EXPECT_EQ(policy.default_position.at->text(), "file:8 (default)");
  EXPECT_EQ(policy.bad_arch_position.at->text(), "file:9 (invalid architecture)");
  EXPECT_EQ(policy.x32_position.at->text(), "file:9 (invalid architecture)");
}

}  // namespace
}  // namespace secequiv::import_positions_test
