// Names of capabilities, as container profiles and `--cap` write them. It must not know what any of
// them grants.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace secequiv {

// linux/capability.h, up to CAP_CHECKPOINT_RESTORE.
std::span<const std::string_view> capability_names();

bool is_capability(std::string_view name);

// What is wrong with a capability's name; empty if it is one.
std::string capability_problem(std::string_view name);

}  // namespace secequiv
