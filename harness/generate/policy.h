// Random policies made of the constructs that policy compilers got wrong, and random calls for
// them: the same on every platform for one seed. Owns the shapes. It must not know BPF.
#pragma once

#include <string_view>

#include "harness/base/random.h"
#include "harness/policy/policy.h"

namespace secequiv {

enum class PolicyShape : std::uint8_t {
  kPlain,      // everything that a policy can express (see random_policy)
  kManyCalls,  // consecutive numbers with gaps, too many for a list, in several sets
  kMatchers,   // one or two fields: masks and values of 0, signs, both halves at their boundaries
  kRanges,     // between two values; sets of values that differ in few bits; values by the hundred
  kProducts,   // the same few conditions of several arguments in many combinations
  kArches,     // several architectures that share numbers or values of arch, x32, pseudo numbers
  kPriority,   // the same calls in many sets, empty sets, sets for the vsyscall page
  kCommon,     // every compiler can express it: one architecture, foreign calls are killed, one
               // action beside the default, alternatives of conjunctions of arguments
};
inline constexpr std::size_t kPolicyShapes = 8;

// "plain", ...
std::string_view shape_name(PolicyShape shape);

// A policy that read_policy() could return. Actions may be equal, and often differ in data bits
// only, except in kPlain.
Policy generate_policy(Random& random);
Policy generate_policy(Random& random, PolicyShape shape);

// A kPlain policy: one to three architectures (big-endian ones too), up to four rule sets (some for
// the vsyscall page only), every matcher on every field, any_of and all_of nested, numbers that no
// table lists, x32 actions, variables, hot calls. Its actions are distinct, so that a wrong branch
// is visible.
Policy random_policy(Random& random);

// A call near what `policy` tests: its numbers, its architectures, values next to its matchers'.
SeccompData random_call(Random& random, const Policy& policy);

}  // namespace secequiv
