// Random policies made of constructs that policy compilers got wrong, and random calls for them. A
// seed gives the same results on every platform. Owns the shapes. It must not know BPF.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/base/random.h"
#include "harness/policy/policy.h"

namespace secequiv {

enum class PolicyShape : std::uint8_t {
  kPlain,      // everything that a policy can express (see random_policy)
  kManyCalls,  // consecutive numbers with gaps, too many for a list, in several sets
  kMatchers,   // one or two fields: masks and values of 0, signs, both halves at their boundaries
  // Values between two bounds; sets of values that differ in few bits; hundreds of values.
  kRanges,
  kProducts,  // the same few conditions or values of arguments in many combinations
  kArches,    // several architectures that share numbers or values of arch, x32, pseudo numbers
  kPriority,  // the same calls in many sets, empty sets, sets for the vsyscall page
  // Policies that every compiler can express: one architecture, KILL for all others, one action
  // besides the default. Each rule is an any_of whose branches are conjunctions of argument tests.
  kCommon,
  kLong,  // like kCommon, with 100 to 600 calls, or values of one argument
};
inline constexpr std::size_t kPolicyShapes = 9;

// Returns "plain", ...
std::string_view shape_name(PolicyShape shape);

// Generates a policy that read_policy() could return. Its actions may be equal and often differ
// only in data bits; in kPlain they are distinct.
Policy generate_policy(Random& random);  // seldom kLong

// What policies may contain.
struct PolicyLimits {
  std::vector<Arch> arches = {};  // empty: all
  bool low_halves = true;         // tests of only the low 32 bits
  std::size_t rules = 12;         // limit for the rules of kCommon
};
Policy generate_policy(Random& random, PolicyShape shape, const PolicyLimits& limits = {});

// Returns the names of features that some compilers do not support: "several architectures", "low
// halves", ...
std::span<const std::string_view> policy_features();

// Returns the indices of the policy's features, each once.
std::vector<std::uint16_t> describe_policy(const Policy& policy);

// Generates a kPlain policy. It has one to three architectures (big-endian ones too), up to four
// rule sets (some only for the vsyscall page), every matcher on every field, nested any_of and
// all_of, numbers that no table lists, x32 actions, variables and hot calls. Its actions are
// distinct, so that a wrong branch is visible.
Policy random_policy(Random& random);

// Generates a call near the tests of `policy`: with its numbers, its architectures, and values next
// to those of its matchers.
SeccompData random_call(Random& random, const Policy& policy);

}  // namespace secequiv
