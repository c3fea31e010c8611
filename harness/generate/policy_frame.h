// A frame is what a policy does with other architectures and with x32 calls. Many compilers support
// only one frame, and random policies seldom have it. Owns the list of frames. It must not know
// rules.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "harness/policy/policy.h"

namespace secequiv {

// Returns the frames' names: "others kill_thread, x32 likewise", ...
std::span<const std::string_view> policy_frames();

// Gives the policy the frame with this index. Policies that do not list x86_64, and policies that
// list x32, keep their answer to x32 calls.
void set_frame(Policy& policy, std::size_t frame);

}  // namespace secequiv
