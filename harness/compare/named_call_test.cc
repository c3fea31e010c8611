#include "harness/compare/named_call.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/policy/testing.h"

namespace secequiv::named_call_test {
namespace {

// Returns the call that with_named_call() makes of `data` for a filter that `text` describes.
SeccompData named(const char* text, const SeccompData& data) {
  const Pair pair{assemble("ret #1"), assemble(text), Sameness::kRaw};
  const auto shows = [&](const SeccompData& input) { return replay(pair, input); };
  const auto found = shows(data);
  EXPECT_TRUE(found) << text;
  return found ? with_named_call(*found, shows).data : SeccompData();
}

TEST(WithNamedCall, PrefersNamesOfCommonArchitectures) {
  const char* const always = "ret #2";
  EXPECT_EQ(named(always, call(Arch::kX86_64, 7)), call(Arch::kX86_64, 7));
  EXPECT_EQ(named(always, call(Arch::kX86_64, 0x80000000)), call(Arch::kX86_64, 0));
  EXPECT_EQ(named(always, call(Arch::kS390x, 3)), call(Arch::kX86_64, 3));
  const char* const large = "ld [0]\njge #77, l2, l3\nl2: ret #2\nl3: ret #1";
  EXPECT_EQ(named(large, call(Arch::kX86_64, 0x80000000)), call(Arch::kX86_64, 77));
  const char* const compat = "ld [4]\njeq #0x40000003, l2, l3\nl2: ret #2\nl3: ret #1";
  EXPECT_EQ(named(compat, call(Arch::kI386, 0xffff)), call(Arch::kI386, 0));
  const char* const top = "ld [0]\njset #0x80000000, l2, l3\nl2: ret #2\nl3: ret #1";
  EXPECT_EQ(named(top, call(Arch::kX86_64, 0x80000000)), call(Arch::kX86_64, 0x80000000));
}

}  // namespace
}  // namespace secequiv::named_call_test
