#include "harness/generate/policy_frame.h"

#include <array>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::uint32_t kEnosys = SECCOMP_RET_ERRNO | 38;
constexpr std::size_t kX32Answers = 3;

constexpr std::array<std::string_view, 3 * kX32Answers> kNames = {
    "others kill_process",
    "others kill_process, x32 likewise",
    "others kill_process, x32 ENOSYS",
    "others kill_thread",
    "others kill_thread, x32 likewise",
    "others kill_thread, x32 ENOSYS",
    "others as the default",
    "others as the default, x32 likewise",
    "others as the default, x32 ENOSYS",
};

}  // namespace

std::span<const std::string_view> policy_frames() { return kNames; }

void set_frame(Policy& policy, std::size_t frame) {
  const std::array<std::uint32_t, 3> others = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
                                               policy.default_action};
  policy.bad_arch_action = others[frame / kX32Answers];
  policy.default_ranges.clear();
  if (!policy.has_arch(Arch::kX86_64) || policy.has_arch(Arch::kX32)) return;
  policy.x32_action.reset();
  if (frame % kX32Answers == 1) policy.x32_action = policy.bad_arch_action;
  if (frame % kX32Answers == 2) policy.x32_action = kEnosys;
}

}  // namespace secequiv
