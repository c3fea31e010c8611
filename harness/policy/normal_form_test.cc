#include "harness/policy/normal_form.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::policy_normal_form_test {
namespace {

using nlohmann::json;

json normal(const Policy& policy) {
  const auto text = write_normal_form(policy);
  EXPECT_TRUE(text) << text.error().text();
  return json::parse(*text);
}

bool holds(const json& condition, const SeccompData& data, Endian endian) {
  const std::uint64_t low = condition["bits"] == 32 ? 0xffffffff : ~std::uint64_t{0};
  const std::uint64_t field = data.field(condition["field"].get<int>(), endian) & low;
  const auto value = condition["value"].get<std::uint64_t>();
  const auto mask = condition["mask"].get<std::uint64_t>();
  const auto op = condition["op"].get<std::string>();
  EXPECT_TRUE(op == "masked_eq" || mask == low);
  if (op == "masked_eq") return (field & mask) == value;
  if (op == "eq") return field == value;
  if (op == "ne") return field != value;
  if (op == "gt") return field > value;
  if (op == "ge") return field >= value;
  if (op == "lt") return field < value;
  EXPECT_EQ(op, "le");
  return field <= value;
}

// Decides as PROTOCOL.md states, and shares no code with the writer.
std::uint32_t decided(const json& form, const SeccompData& data) {
  const json* arch = nullptr;
  for (const json& each : form["arches"])
    if (each["audit"] == data.arch()) arch = &each;
  if (arch == nullptr) return form["bad_arch_action"];
  for (const json& range : form["ranges"])
    if (range["audit"] == data.arch() && range["first"] <= data.nr() && data.nr() <= range["last"])
      return range["action"];
  const Endian endian = (*arch)["big_endian"] ? Endian::kBig : Endian::kLittle;
  for (const json& rule : form["rules"]) {
    if (rule["audit"] != data.arch() || rule["nr"] != data.nr()) continue;
    for (const json& all_of : rule["any_of"])
      if (std::ranges::all_of(all_of, [&](const json& c) { return holds(c, data, endian); }))
        return rule["action"];
  }
  return form["default_action"];
}

TEST(NormalForm, HasNumbersAndAlternatives) {
  const Policy policy = policy_from(R"j({
    "version": 1, "name": "n\"", "arches": ["amd64", "i386"], "default_action": "errno(EPERM)", "x32_action": "log",
    "hot": ["read", "x86_64:openat"], "variables": {"fd": 7},
    "rule_sets": [
      {"action": "allow", "rules": {
        "x86_64:read": {"any_of": [true, {"args": {"0": {"eq": 1}}}]},
        "x86_64:openat": {"all_of": [
          {"any_of": [{"args": {"0": {"eq": "$fd"}, "1": "any"}}, {"args": {"ip": {"bits_allowlist": 6}}}]},
          {"args": {"2": "non_negative_fd", "0": {"eq": "$fd"}}}]},
        "i386:1": {"args": {"0": {"masked_eq": {"mask": "O_CLOEXEC", "value": 0}, "bits": 32}}}}},
      {"action": "trap(2)", "vsyscall": true, "rules": {"x86_64:time": true}}]})j");
  EXPECT_EQ(normal(policy), json::parse(R"j({
    "normal_form": 1, "name": "n\"", "default_action": 327681, "bad_arch_action": 2147483648,
    "arches": [{"name": "x86_64", "audit": 3221225534, "big_endian": false},
               {"name": "i386", "audit": 1073741827, "big_endian": false}],
    "ranges": [{"audit": 3221225534, "first": 1073741824, "last": 2147483647, "action": 2147221504},
               {"audit": 3221225534, "first": 3221225472, "last": 4294967294, "action": 2147221504}],
    "hot": [{"audit": 3221225534, "nr": 0}, {"audit": 1073741827, "nr": 3}, {"audit": 3221225534, "nr": 257}],
    "rules": [
      {"action": 2147418112, "audit": 3221225534, "nr": 0, "any_of": [[]]},
      {"action": 2147418112, "audit": 3221225534, "nr": 257, "any_of": [
        [{"field": 0, "bits": 64, "op": "eq", "mask": 18446744073709551615, "value": 7},
         {"field": 2, "bits": 64, "op": "masked_eq", "mask": 18446744071562067968, "value": 0}],
        [{"field": 6, "bits": 64, "op": "masked_eq", "mask": 18446744073709551609, "value": 0},
         {"field": 0, "bits": 64, "op": "eq", "mask": 18446744073709551615, "value": 7},
         {"field": 2, "bits": 64, "op": "masked_eq", "mask": 18446744071562067968, "value": 0}]]},
      {"action": 2147418112, "audit": 1073741827, "nr": 1, "any_of": [
        [{"field": 0, "bits": 32, "op": "masked_eq", "mask": 524288, "value": 0}]]},
      {"action": 196610, "audit": 3221225534, "nr": 201, "any_of": [
        [{"field": 6, "bits": 64, "op": "masked_eq", "mask": 9223372036854775808, "value": 9223372036854775808}]]}]})j"));
}

// Other tools have strict readers of the normal form, so even empty members are present.
TEST(NormalForm, HasEveryMember) {
  const json form = normal(policy_from(
      R"j({"version": 1, "arches": ["x32", "x86_64"], "default_action": "allow", "rule_sets": []})j"));
  EXPECT_EQ(form, json::parse(R"j({
    "normal_form": 1, "name": "", "default_action": 2147418112, "bad_arch_action": 2147483648,
    "arches": [{"name": "x86_64", "audit": 3221225534, "big_endian": false}],
    "ranges": [], "hot": [], "rules": []})j"));
}

TEST(NormalForm, KeepsTheDecisionsOfRandomPolicies) {
  Random random(1);
  for (int i = 0; i < of_cases(300); ++i) {
    const Policy policy = random_policy(random);
    const json form = normal(policy);
    for (int j = 0; j < 40; ++j) {
      const SeccompData data = random_call(random, policy);
      ASSERT_EQ(decided(form, data), decide(policy, data)) << write_policy(policy);
    }
  }
}

TEST(NormalForm, RefusesMoreAlternativesThanAFilterHasInstructions) {
  const auto nested = [](int levels) {
    std::string pairs;
    for (int i = 0; i < levels; ++i)
      pairs += std::string(i == 0 ? "" : ", ") + R"({"any_of": [{"args": {"0": {"ne": )" +
               std::to_string(2 * i) + R"(}}}, {"args": {"1": {"ne": )" +
               std::to_string(2 * i + 1) + "}}}]}";
    return policy_from(
        R"j({"version": 1, "arches": ["aarch64"], "default_action": "allow", "rule_sets": [{"action": "log",
             "rules": {"read": {"all_of": [)j" +
        pairs + "]}}}]}");
  };
  EXPECT_EQ(normal(nested(12))["rules"][0]["any_of"].size(), 4096u);
  const auto refused = write_normal_form(nested(13));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "expected at most 4096 alternatives in a rule, found 8192 or more");
}

}  // namespace
}  // namespace secequiv::policy_normal_form_test
