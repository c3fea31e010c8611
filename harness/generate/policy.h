// Random policies made of what compilers of policies got wrong, and changes to given ones. Owns the
// shapes and the changes. It must not know BPF.
#pragma once

#include <string_view>

#include "harness/base/random.h"
#include "harness/policy/policy.h"

namespace secequiv {

enum class PolicyShape : std::uint8_t {
  kPlain,      // random_policy's
  kManyCalls,  // numbers in a row with gaps, more than a list holds, in several sets
  kMatchers,   // one or two fields: masks and values of 0, signs, both halves at their boundaries
  kRanges,     // between two values; sets of values that differ in few bits; values by the hundred
  kProducts,   // the same few conditions of several arguments in many combinations
  kArches,     // several architectures that share numbers or values of arch, x32, pseudo numbers
  kPriority,   // the same calls in many sets, empty sets, sets for the vsyscall page
  kCommon,  // what compilers of every make can express: one architecture, whose foreign calls are
            // killed, one action beside the default, alternatives of conjunctions of arguments
};
inline constexpr std::size_t kPolicyShapes = 8;

// "plain", ...
std::string_view shape_name(PolicyShape shape);

// A policy that read_policy could have made. Actions may be equal, and often differ in data bits
// only.
Policy generate_policy(Random& random);
Policy generate_policy(Random& random, PolicyShape shape);

}  // namespace secequiv
