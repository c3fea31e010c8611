#include "harness/seccomp/c_names.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::seccomp_c_names_test {
namespace {

std::string read(const std::string& text, Arch arch = Arch::kX86_64) {
  const auto program = read_program(text, "f", Form::kC, c_names(arch));
  return program ? write_program(*program, Form::kDecimal) : program.error().text();
}

// The text follows the kernel's samples/seccomp, which people copy.
TEST(CNames, ReadsAFilterFromCSource) {
  const std::string text = R"(
#include <linux/seccomp.h>
struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offsetof(struct seccomp_data, arch))),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
    BPF_STMT(BPF_RET + BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof( struct seccomp_data , args[ 1 ] ) + 4),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA)),
    {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW},
    {.k = AT_FDCWD, .jf = 0, .jt = 0, .code = 6,},
};
)";
  EXPECT_EQ(read(text),
            "8\n32 0 0 4\n21 1 0 3221225534\n6 0 0 2147483648\n32 0 0 28\n21 0 1 257\n"
            "6 0 0 327681\n6 0 0 2147418112\n6 0 0 4294967196\n");
  EXPECT_EQ(read("{6, 0, 0, __NR_openat}", Arch::kAarch64), "1\n6 0 0 56\n");
  EXPECT_EQ(read("{6, 0, 0, SYS_openat | 1 + 1 & 2}"), "1\n6 0 0 259\n")
      << "+ binds tightest, then &, then |";
  EXPECT_EQ(read("{32, 0, 0, offsetof(struct seccomp_data, instruction_pointer)},"
                 "{32, 0, 0, offsetof(struct seccomp_data, nr)},"
                 "{32, 0, 0, offsetof(struct seccomp_data, args[5])}"),
            "3\n32 0 0 8\n32 0 0 0\n32 0 0 56\n");
}

TEST(CNames, UnknownNamesAreErrors) {
  const std::pair<std::string, std::string> cases[] = {
      {"{6, 0, 0, __NR_opneat}",
       "f:1:11: expected a number from 0 to 2^32-1 or a known name, "
       "found '__NR_opneat'"},
      {"{6, 0, 0, SECCOMP_RET_NO}",
       "f:1:11: expected a number from 0 to 2^32-1 or a known name, "
       "found 'SECCOMP_RET_NO'"},
      {"{6, 0, 0, offsetof(struct seccomp_data, args[6])}",
       "f:1:11: expected a member of struct seccomp_data, found 'offsetof(struct "
       "seccomp_data,args[6])'"},
      {"{6, 0, 0, offsetof(struct seccomp_data, nr}", "f:1:43: expected ')', found '}'"},
      {"{6, 0, 0, offsetof(seccomp_data, nr)}", "f:1:20: expected 'struct', found 's'"},
      {"{.code = 6, .code = 6}", "f:1:13: .code is given twice"},
      {"{.code = 6, .len = 1}", "f:1:13: expected .code, .jt, .jf or .k, found '.len'"},
      {"{.code 6}", "f:1:8: expected '=', found '6'"},
      {"{.code = 6 .k = 1}", "f:1:12: expected '}', found '.'"},
      {"{.jt = 256}", "f:1:12: expected code <= 0xffff and jt, jf <= 0xff, found 0x0, 256, 0"},
      {"{6, 0, 0, (1}", "f:1:13: expected ')', found '}'"},
      {"{6, 0, 0, " + std::string(100, '('), "f:1:76: parentheses nest deeper than 64"},
      {"{6, 0, 0, ", "f:1:11: expected a number or a name"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read(text), expected) << text;
}

TEST(CNames, NumbersAreReadWithoutCNames) {
  EXPECT_TRUE(read_program("{6, 0, 0, 1 | 2}", "f", Form::kC));
  const auto program = read_program("{6, 0, 0, SECCOMP_RET_ALLOW}", "f", Form::kC);
  EXPECT_FALSE(program);
}

}  // namespace
}  // namespace secequiv::seccomp_c_names_test
