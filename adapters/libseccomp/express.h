// Owns the translation of policies into rules that libseccomp can express. It must not know
// libseccomp's functions.
#pragma once

#include <optional>
#include <string>

#include "adapters/libseccomp/filter.h"
#include "harness/adapter/secequiv_normal_form.h"

namespace adapter {

// Translates a policy. Rules stay in the policy's order. Rules with the default action are omitted,
// because libseccomp refuses them and they decide nothing. Returns why libseccomp cannot express
// the policy, or nothing.
std::optional<std::string> express(const secequiv_policy& policy, FilterSpec& spec);

}  // namespace adapter
