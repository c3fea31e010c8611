// Owns helpers for tests that need the running kernel, and kernels that exist only in tests. It
// must not know any test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "harness/kernel/kernel.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// The architecture of this program's calls.
#ifdef __aarch64__
inline constexpr Arch kTestHost = Arch::kAarch64;
#else
inline constexpr Arch kTestHost = Arch::kX86_64;
#endif

namespace kernel {

// A kernel whose answers our interpreter gives. Its callers have arguments of 32 or 64 bits.
class InterpretedKernel : public Kernel {
 public:
  explicit InterpretedKernel(Endian endian = Endian::kLittle, unsigned argument_bits = 64)
      : entries_{{"fake", AUDIT_ARCH_ARM, endian, argument_bits, 20}} {}

  [[nodiscard]] std::string release() const override { return "4.9.0-fake"; }
  [[nodiscard]] std::string booted_as() const override { return "fake"; }
  [[nodiscard]] std::span<const Entry> entries() const override { return entries_; }
  Result<std::vector<bool>> accepts(std::span<const Program> programs) override {
    std::vector<bool> out;
    for (const Program& program : programs) out.push_back(!refusal_of(program));
    return out;
  }
  Result<std::vector<std::vector<Reply>>> ask(std::span<const Asked> programs,
                                              const Entry& entry) override {
    std::vector<std::vector<Reply>> out;
    for (const Asked& asked : programs) {
      ++installed;
      std::vector<Reply>& replies = out.emplace_back();
      for (const SeccompData& call : asked.calls) {
        const std::uint32_t value = run(asked.program, seen(call, entry));
        replies.push_back({static_cast<std::uint16_t>(value), value == 0});
      }
    }
    return out;
  }
  Result<std::uint64_t> instruction_pointer(const Entry&) override { return kPointer; }
  Status unfiltered() override { return Ok{}; }

  static constexpr std::uint64_t kPointer = 0x7654321089abcdef;
  std::size_t installed = 0;  // programs

 private:
  static SeccompData seen(const SeccompData& call, const Entry& entry) {
    SeccompData out = call;
    out.words[1] = entry.audit;
    const bool big = entry.endian == Endian::kBig;
    out.words[2] = static_cast<std::uint32_t>(big ? kPointer >> 32 : kPointer);
    out.words[3] = static_cast<std::uint32_t>(big ? kPointer : kPointer >> 32);
    if (entry.argument_bits == 32)
      for (std::size_t word = big ? 4 : 5; word < 16; word += 2) out.words[word] = 0;
    return out;
  }

  std::vector<Entry> entries_;
};

// A kernel that refuses all programs except the shortest.
class RefusingKernel final : public InterpretedKernel {
 public:
  Result<std::vector<std::vector<Reply>>> ask(std::span<const Asked> programs,
                                              const Entry& entry) override {
    for (const Asked& asked : programs)
      if (asked.program.size() > 1) return make_error(ErrorCode::kRejected, "kernel", "no");
    return InterpretedKernel::ask(programs, entry);
  }
};

}  // namespace kernel
}  // namespace secequiv

// scripts/tests/may_skip.txt lists the tests that use it.
#define SKIP_WITHOUT_KERNEL(result)                                  \
  if (!(result) && (result).error().code == ErrorCode::kUnavailable) \
  GTEST_SKIP() << (result).error().text()
