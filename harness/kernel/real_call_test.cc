// Tests real calls with filters: what a process observes, and which calls are never made.
#include "harness/kernel/real_call.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "harness/bpf/text.h"
#include "harness/kernel/testing.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/arch.h"

namespace secequiv::kernel::real_call_test {
namespace {

SeccompData call_of(std::string_view name, std::initializer_list<std::uint64_t> args = {},
                    Arch arch = kTestHost) {
  return call(arch, *syscall_nr(arch, name), args);
}

// Returns a filter that returns `value` for socket() if the low half of the family is 38, and that
// allows all other calls.
Program refusing_alg(const char* value) {
  const std::string text = "ld [0]\njeq #" + std::to_string(*syscall_nr(kTestHost, "socket")) +
                           ", f, ok\nf: ld [16]\njeq #38, no, ok\nok: ret #0x7fff0000\nno: ret #" +
                           value + "\n";
  auto out = read_program(text, "test");
  EXPECT_TRUE(out) << out.error().text();
  return *out;
}

Result<Answer> with(const Program& program, const SeccompData& call) {
  const ProgramView view = program;
  return real_call({&view, 1}, call);
}

constexpr Answer kReturned{};
Answer error_of(int number) { return {Answer::Kind::kError, number}; }

TEST(RealCall, WithoutFiltersTheKernelAnswers) {
  const auto closed = real_call({}, call_of("close", {0}));
  SKIP_WITHOUT_KERNEL(closed);
  ASSERT_TRUE(closed) << closed.error().text();
  EXPECT_EQ(*closed, error_of(EBADF)) << "all descriptors are closed";
  EXPECT_EQ(*real_call({}, call_of("getpid")), kReturned);
  EXPECT_EQ(*real_call({}, call_of("socket", {1, 1, 0})), kReturned);
  EXPECT_EQ(*real_call({}, call_of("socket", {~0ULL, 1, 0})), error_of(EAFNOSUPPORT));
}

TEST(RealCall, AFiltersRefusalIsSeen) {
  for (const auto& [text, value] : {std::pair{"0x50001", 0x50001u},
                                    {"0x50000", 0x50000u},
                                    {"0x5ffff", 0x5ffffu},
                                    {"0x30000", 0x30000u},
                                    {"0", 0u},
                                    {"0x80000000", 0x80000000u}}) {
    const auto refused = with(refusing_alg(text), call_of("socket", {38}));
    SKIP_WITHOUT_KERNEL(refused);
    ASSERT_TRUE(refused) << refused.error().text();
    EXPECT_EQ(*refused, refusal(value)) << text;
    EXPECT_EQ(*with(refusing_alg(text), call_of("close", {7})), error_of(EBADF)) << text;
  }
  EXPECT_EQ(refusal(0x50000), kReturned);
  EXPECT_EQ(refusal(0x5ffff), error_of(4095));
  EXPECT_EQ(refusal(0x30000).text(), "SIGSYS");
  EXPECT_EQ(error_of(EPERM).text(), "EPERM");
  EXPECT_EQ(error_of(4095).text(), "errno 4095");
  EXPECT_EQ(kReturned.text(), "ran");
}

TEST(RealCall, AllBitsOfArgumentsReachTheFilter) {
  const std::string text = "ld [0]\njeq #" + std::to_string(*syscall_nr(kTestHost, "socket")) +
                           ", f, ok\nf: ld [20]\njeq #0xabcdef01, no, ok\n"
                           "ok: ret #0x7fff0000\nno: ret #0x5000d\n";
  const Program program = *read_program(text, "test");
  const auto refused = with(program, call_of("socket", {0xabcdef0100000001, 1}));
  SKIP_WITHOUT_KERNEL(refused);
  EXPECT_EQ(*refused, error_of(EACCES));
  EXPECT_EQ(*with(program, call_of("socket", {0xabcdef0200000001, 1})), kReturned);
}

TEST(RealCall, AFilterThatRefusesEveryCallEndsTheProcess) {
  const Program all = *read_program("ret #0x50001\n", "test");
  const auto refused = with(all, call_of("close", {0}));
  SKIP_WITHOUT_KERNEL(refused);
  EXPECT_EQ(*refused, error_of(EPERM)) << "although exit_group() was refused, too";
}

TEST(RealCall, TheNewestFilterOfAStackComesFirst) {
  const Program enoent = refusing_alg("0x50002");
  const Program eperm = refusing_alg("0x50001");
  const ProgramView stack[] = {enoent, eperm};
  const auto refused = real_call(stack, call_of("socket", {38}));
  SKIP_WITHOUT_KERNEL(refused);
  EXPECT_EQ(*refused, error_of(ENOENT));
}

TEST(RealCall, AStackThatCannotBeInstalledIsUnavailable) {
  const Program all = *read_program("ret #0x50001\n", "test");
  const Program allow = *read_program("ret #0x7fff0000\n", "test");
  const ProgramView stack[] = {allow, all};
  SKIP_WITHOUT_KERNEL(with(allow, call_of("close", {0})));
  const auto refused = real_call(stack, call_of("close", {0}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().detail,
            "filter 1 of 2 cannot be installed after the older ones: Operation not permitted");
}

TEST(RealCall, CallsThatAreNotHarmlessAreNotMade) {
  EXPECT_EQ(why_not_real(call_of("socket", {0x100000026, 99, 99})), "");
  EXPECT_EQ(why_not_real(call_of("ioctl", {0, 0x5412})), "");
  EXPECT_EQ(why_not_real(call_of("openat", {0, 0, 0x40})), "");
  EXPECT_EQ(why_not_real(call_of("openat", {0, 0x1000})),
            "openat is harmless to run only if arg1 is 0");
  for (const char* name : {"reboot", "kill", "mount", "clone", "execve", "ptrace", "unshare",
                           "futex", "pause", "init_module", "bpf", "setrlimit", "fsopen"})
    if (const auto nr = syscall_nr(kTestHost, name); nr)
      EXPECT_EQ(why_not_real(call_of(name)),
                std::string(name) + " is not on the list of calls that are harmless to run");
  EXPECT_EQ(why_not_real(call_of("socket", {}, Arch::kS390x)),
            "the call belongs to another architecture than this program's");
  EXPECT_NE(why_not_real(call_of("socket", {}, Arch::kX32)), "");
  SeccompData unknown;
  unknown.set_arch(arch_info(kTestHost).audit);
  unknown.set_nr(99999);
  EXPECT_NE(why_not_real(unknown), "");
}

}  // namespace
}  // namespace secequiv::kernel::real_call_test
