// Tests that the forms of rules for the optimizer's search decide as the rules do.
#include "analyze/rule_forms.h"

#include <gtest/gtest.h>

#include "analyze/proven.h"
#include "harness/generate/policy.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::analyze_rule_forms_test {
namespace {

// Returns the only rule of each form.
std::vector<std::string> forms_of(const std::string& rule) {
  std::vector<std::string> out;
  for (const Policy& form :
       forms_for_search(x86_64_policy(R"j({"action": "allow", "rules": {"read": )j" + rule + "}}")))
    out.push_back(write_rule(form.rule_sets.at(0).rules.at(0).rule));
  return out;
}

TEST(RuleForms, RangesBecomeValuesAndConditionsAlternatives) {
  using Forms = std::vector<std::string>;
  EXPECT_EQ(forms_of("true"), Forms{});
  EXPECT_EQ(forms_of(R"j({"args":{"0":{"eq":5}}})j"), Forms{});
  EXPECT_EQ(forms_of(R"j({"all_of":[{"args":{"0":{"ge":1}}},{"args":{"0":{"le":2}}}]})j"),
            Forms{R"j({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"0":{"eq":2}}}]})j"});
  const std::string tests = R"j([{"args":{"1":{"eq":7}}},{"args":{"2":{"ne":0}}}])j";
  EXPECT_EQ(forms_of(R"j({"all_of":[{"args":{"0":{"eq":5}}},{"any_of":)j" + tests + "}]}"),
            Forms{R"j({"any_of":[{"args":{"0":{"eq":5},"1":{"eq":7}}},)j"
                  R"j({"args":{"0":{"eq":5},"2":{"ne":0}}}]})j"});
}

TEST(RuleForms, DecideAsTheRules) {
  Random random(1);
  int forms = 0;
  for (int i = 0; i < 300; ++i) {
    const Policy policy = generate_policy(random);
    const Program program = compile(policy);
    const ProgramView before = program;
    for (const Policy& form : forms_for_search(policy)) {
      ++forms;
      const auto same = expect_same({&before, 1}, compile(form), "", "a form", {});
      if (!same) ASSERT_EQ(same.error().code, ErrorCode::kBudget) << same.error().text();
    }
  }
  EXPECT_GT(forms, 10);
}

}  // namespace
}  // namespace secequiv::analyze_rule_forms_test
