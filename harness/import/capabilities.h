// Names of capabilities, as in container profiles and `--cap`. Owns the list. It must not know what
// a capability grants.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace secequiv {

// Returns the names in linux/capability.h, up to CAP_CHECKPOINT_RESTORE.
std::span<const std::string_view> capability_names();

bool is_capability(std::string_view name);

// Converts a name that a user typed to the form in the list: "sys_admin" becomes "CAP_SYS_ADMIN",
// as in Docker's --cap-add.
std::string capability_name(std::string_view text);

// Returns the problem with a capability's name or with the name of a set, or "" if there is none.
std::string capability_problem(std::string_view name);

// Replaces names of sets by their capabilities. "CAP_ALL" is the set of all, as in Docker's
// --cap-add; "CAP_DOCKER" has those that Docker grants by default. Precondition: no name has a
// problem.
std::vector<std::string> granted_capabilities(std::span<const std::string> names);

// Returns "no capabilities", "all capabilities", "Docker's default capabilities" or the names.
std::string capabilities_text(std::span<const std::string> granted);

}  // namespace secequiv
