#include "harness/seccomp/cache.h"

#include <algorithm>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

// This is __ARM_NR_BASE. The bitmap does not cover higher numbers.
constexpr std::uint32_t kArmPrivate = 0x0f0000;

// Runs the filter until it needs more than nr and arch. X and M[] are not emulated, because every
// instruction that could set them ends the emulation.
bool constant_allow(ProgramView program, std::uint32_t nr, std::uint32_t audit) {
  std::uint32_t a = 0;
  for (std::uint64_t pc = 0; pc < program.size();) {
    const Insn& in = program[pc];
    bool taken = false;
    switch (in.code) {
      case kLdWAbs:
        if (in.k != 4 * kNrWord && in.k != 4 * kArchWord) return false;
        a = in.k == 4 * kNrWord ? nr : audit;
        break;
      case kAndK:
        a &= in.k;
        break;
      case kJa:
        break;
      case kJeqK:
        taken = a == in.k;
        break;
      case kJgtK:
        taken = a > in.k;
        break;
      case kJgeK:
        taken = a >= in.k;
        break;
      case kJsetK:
        taken = (a & in.k) != 0;
        break;
      case kRetK:
        return in.k == SECCOMP_RET_ALLOW;
      default:
        return false;
    }
    pc = is_jump(in) ? jump_target(pc, in, taken) : pc + 1;
  }
  return false;
}

}  // namespace

std::uint32_t cached_numbers(Arch arch) {
  if (arch == Arch::kX32 || arch == Arch::kMips64) return 0;
  std::uint32_t count = 0;
  for (const SyscallEntry& entry : arch_info(arch).syscalls)
    if (arch != Arch::kArm || entry.nr < kArmPrivate) count = std::max(count, entry.nr + 1);
  return count;
}

std::vector<bool> cacheable(ProgramView program, Arch arch) {
  return cacheable({&program, 1}, arch);
}

std::vector<bool> cacheable(std::span<const ProgramView> filters, Arch arch) {
  return cacheable(filters, arch, cached_numbers(arch));
}

std::vector<bool> cacheable(std::span<const ProgramView> filters, Arch arch,
                            std::uint32_t numbers) {
  std::vector<bool> out(numbers);
  for (std::uint32_t nr = 0; nr < numbers; ++nr)
    out[nr] = std::ranges::all_of(filters, [&](ProgramView filter) {
      return constant_allow(filter, nr, arch_info(arch).audit);
    });
  return out;
}

}  // namespace secequiv
