#include "harness/seccomp/data.h"

// clang-format off
#include "harness/seccomp/action.h"  // before the kernel's header, whose macros have the same names
// clang-format on
#include <gtest/gtest.h>
#include <linux/seccomp.h>

#include <bit>
#include <cstring>

#include "harness/seccomp/arch.h"

namespace secequiv::seccomp_data_test {
namespace {

// Compares with the kernel's own structure, in the byte order of the build machine.
TEST(SeccompData, LayoutMatchesTheKernel) {
  const Endian native = std::endian::native == std::endian::little ? Endian::kLittle : Endian::kBig;
  seccomp_data kernel{};
  kernel.nr = 257;
  kernel.arch = AUDIT_ARCH_X86_64;
  kernel.instruction_pointer = 0x7f00aabbccddeeff;
  for (std::uint64_t i = 0; i < 6; ++i) kernel.args[i] = 0x0123456789abcdef + (i << 32) + i;
  SeccompData data;
  static_assert(sizeof(data.words) == sizeof(kernel));
  std::memcpy(data.words.data(), &kernel, sizeof kernel);
  EXPECT_EQ(data.nr(), 257u);
  EXPECT_EQ(data.arch(), AUDIT_ARCH_X86_64);
  EXPECT_EQ(data.field(kIpField, native), kernel.instruction_pointer);
  for (int i = 0; i < kArgCount; ++i) EXPECT_EQ(data.field(i, native), kernel.args[i]);
  SeccompData made;
  made.set_nr(257);
  made.set_arch(AUDIT_ARCH_X86_64);
  made.set_field(kIpField, kernel.instruction_pointer, native);
  for (int i = 0; i < kArgCount; ++i) made.set_field(i, kernel.args[i], native);
  EXPECT_EQ(made, data);
}

TEST(SeccompData, HalvesFollowTheByteOrder) {
  SeccompData little;
  little.set_field(1, 0x1111111122222222, Endian::kLittle);
  EXPECT_EQ(little.words[6], 0x22222222u) << "offset 24: the low half first";
  EXPECT_EQ(little.words[7], 0x11111111u);
  SeccompData big;
  big.set_field(1, 0x1111111122222222, Endian::kBig);
  EXPECT_EQ(big.words[6], 0x11111111u) << "offset 24: the high half first";
  EXPECT_EQ(big.words[7], 0x22222222u);
  EXPECT_EQ(big.field(1, Endian::kBig), 0x1111111122222222u);
  EXPECT_EQ(half_word(kIpField, false, Endian::kLittle), 2u);
  EXPECT_EQ(half_word(kIpField, true, Endian::kLittle), 3u);
  EXPECT_EQ(half_word(kIpField, false, Endian::kBig), 3u);
  EXPECT_EQ(half_word(0, true, Endian::kBig), 4u);
  EXPECT_EQ(half_word(5, true, Endian::kLittle), 15u);
}

// Every word belongs to exactly one half of one field.
TEST(SeccompData, WordNamesFollowTheByteOrder) {
  std::string little;
  std::string big;
  for (std::uint32_t word = 0; word < 16; ++word) {
    little += word_name(word, Endian::kLittle) + " ";
    big += word_name(word, Endian::kBig) + " ";
  }
  EXPECT_EQ(little,
            "nr arch ip.lo ip.hi args[0].lo args[0].hi args[1].lo args[1].hi args[2].lo args[2].hi "
            "args[3].lo args[3].hi "
            "args[4].lo args[4].hi args[5].lo args[5].hi ");
  EXPECT_EQ(big,
            "nr arch ip.hi ip.lo args[0].hi args[0].lo args[1].hi args[1].lo args[2].hi args[2].lo "
            "args[3].hi args[3].lo "
            "args[4].hi args[4].lo args[5].hi args[5].lo ");
  for (const Endian endian : {Endian::kLittle, Endian::kBig})
    for (int field = 0; field <= kIpField; ++field)
      for (const bool high : {false, true})
        EXPECT_TRUE(
            word_name(half_word(field, high, endian), endian).ends_with(high ? ".hi" : ".lo"));
}

TEST(SeccompData, DescribesOneSystemCallPerLine) {
  SeccompData data;
  data.set_arch(AUDIT_ARCH_X86_64);
  data.set_nr(257);
  data.set_field(kIpField, 0x401000, Endian::kLittle);
  data.set_field(0, 0xffffffffffffff9c, Endian::kLittle);
  data.set_field(2, 0x241, Endian::kLittle);
  EXPECT_EQ(
      describe(data),
      "nr=257 (openat) arch=0xc000003e (x86_64) ip=0x401000 args=[0xffffffffffffff9c, 0x0, 0x241]");
  data.words.fill(0);
  data.set_arch(AUDIT_ARCH_S390X);
  data.set_nr(4);
  data.set_field(0, 1, Endian::kBig);
  EXPECT_EQ(describe(data), "nr=4 (write) arch=0x80000016 (s390x) ip=0x0 args=[0x1]");
  data.words.fill(0);
  data.set_nr(0xffffffff);
  EXPECT_EQ(describe(data), "nr=4294967295 arch=0x0 (unknown) ip=0x0 args=[]");
  data.set_arch(AUDIT_ARCH_X86_64);
  data.set_nr(kX32Bit + 1);
  EXPECT_EQ(describe(data), "nr=1073741825 (write) arch=0xc000003e (x32) ip=0x0 args=[]");
}

}  // namespace
}  // namespace secequiv::seccomp_data_test
