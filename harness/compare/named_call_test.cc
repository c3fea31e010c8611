#include "harness/compare/named_call.h"

#include <gtest/gtest.h>

#include "harness/policy/testing.h"

namespace secequiv::named_call_test {
namespace {

SeccompData first_of(const SeccompData& data) { return with_named_calls(data).front(); }

TEST(WithNamedCalls, KeepsTheNumberIfItHasAName) {
  EXPECT_TRUE(with_named_calls(call(Arch::kX86_64, 7)).empty());
  EXPECT_EQ(first_of(call(Arch::kS390x, 3)), call(Arch::kX86_64, 3));
  EXPECT_EQ(first_of(call(Arch::kX86_64, 0x80000000)), call(Arch::kX86_64, 0));
  const auto all = with_named_calls(call(Arch::kI386, 0xffff));
  EXPECT_GT(all.size(), 1000u);
  for (const SeccompData& data : all)
    EXPECT_TRUE(with_named_calls(data).empty()) << data.arch() << ' ' << data.nr();
}

}  // namespace
}  // namespace secequiv::named_call_test
