// Tests which inputs form a class, and how the bits in which they differ are described.
#include "harness/seccomp/input_class.h"

#include <gtest/gtest.h>

#include "harness/policy/testing.h"
#include "harness/seccomp/arch.h"

namespace secequiv::input_class_test {
namespace {

using Texts = std::vector<std::string>;

SeccompData call_of(Arch arch, std::string_view name, std::initializer_list<std::uint64_t> args) {
  return call(arch, *syscall_nr(arch, name), args);
}

TEST(InputClass, SocketLooksAtTheLowHalvesOfThreeArguments) {
  const SeccompData plain = call_of(Arch::kX86_64, "socket", {38, 5, 0});
  const SeccompData high = call_of(Arch::kX86_64, "socket", {0x100000026, 0x500000005, 0, 1});
  EXPECT_EQ(class_of(high), class_of(plain));
  EXPECT_EQ(class_of(plain), plain);
  EXPECT_NE(class_of(call_of(Arch::kX86_64, "socket", {39, 5, 0})), plain);
  EXPECT_EQ(ignored_differences(plain, high),
            (Texts{"the kernel ignores bits 32 to 63 of arg0",
                   "the kernel ignores bits 32 to 63 of arg1", "the kernel ignores arg3"}));
  EXPECT_TRUE(ignored_differences(plain, plain).empty());
}

TEST(InputClass, PointersCountWhole) {
  const SeccompData one = call_of(Arch::kX86_64, "read", {3, 0x1000, 7});
  const SeccompData two = call_of(Arch::kX86_64, "read", {3, 0x100001000, 7});
  EXPECT_NE(class_of(one), class_of(two));
  EXPECT_TRUE(ignored_differences(one, two).empty());
}

TEST(InputClass, AModeHasSixteenBits) {
  EXPECT_EQ(ignored_differences(call_of(Arch::kX86_64, "chmod", {1, 0755}),
                                call_of(Arch::kX86_64, "chmod", {1, 0x10000 | 0755})),
            (Texts{"the kernel ignores bits 16 to 63 of arg1"}));
}

TEST(InputClass, HalvesHaveTheArchitecturesByteOrder) {
  const SeccompData plain = call_of(Arch::kS390x, "socket", {38});
  const SeccompData high = call_of(Arch::kS390x, "socket", {0x100000026});
  EXPECT_EQ(high.words[4], 1u) << "big endian: the high half comes first";
  EXPECT_EQ(class_of(high), plain);
  const WordMasks masks = seen_words(AUDIT_ARCH_S390X, plain.nr());
  EXPECT_EQ(masks[4], 0u);
  EXPECT_EQ(masks[5], ~0u);
}

TEST(InputClass, UnknownCallsAndOtherFieldsIgnoreNothing) {
  SeccompData unknown;
  unknown.set_arch(AUDIT_ARCH_X86_64);
  unknown.set_nr(99999);
  unknown.words.back() = 7;
  EXPECT_EQ(class_of(unknown), unknown);
  SeccompData moved = call_of(Arch::kX86_64, "socket", {38});
  const SeccompData before = moved;
  moved.set_field(kIpField, 1, Endian::kLittle);
  EXPECT_NE(class_of(moved), class_of(before)) << "the pointer shows which code made the call";
}

}  // namespace
}  // namespace secequiv::input_class_test
