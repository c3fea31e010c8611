// What libseccomp makes of the conditions of an entry in a container profile on one architecture,
// and of the numbers of x32. It must not know profiles (import_oci.h).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

// Returns the rule as libseccomp reads it on `arch`: on 32-bit ABIs it compares only the low halves
// of arguments.
Rule oci_rule_on(Arch arch, Rule rule);

// Returns the rule that libseccomp also adds to socketcall or ipc, for a rule of the call that does
// `operation`: the operation replaces the test of the first argument, and the other tests stay.
// Those are wrong: socketcall takes the arguments of the call from memory.
Rule multiplexed_rule(const Rule& rule, std::uint32_t operation);

// The test of each argument in a rule whose tests all must hold; Op::kAny: none that libseccomp
// keeps.
using ArgTests = std::array<Matcher, kArgCount>;
// Returns the tests of each rule that libseccomp makes of the entry: of one rule, or of one for
// each test if one of them suffices.
std::vector<ArgTests> rules_of_entry(const Rule& entry);
// Returns whether `b` has all tests of `a`, and more.
bool has_fewer_tests(const ArgTests& a, const ArgTests& b);
// Returns whether libseccomp takes rules with these tests for the same: the last tests are equal,
// and it compares the upper halves of the arguments in the same way in those before.
bool ends_alike(const ArgTests& a, const ArgTests& b);
// Returns whether `b` begins with the tests of `a`, or with tests of which libseccomp compares the
// upper half of the argument in the same way, and has more tests.
bool begins_like(const ArgTests& a, const ArgTests& b);

// Returns whether the rule tests no bit, for example because its only masks are 0. libseccomp
// treats such a rule as one without conditions.
bool always_holds(const Rule& rule);

// Returns whether tests of one argument show that `a` and `b` never hold together, in a form that
// libseccomp 2.5.4 compiles rightly. Precondition: entries of a profile gave both rules. May return
// false for rules that exclude each other.
bool exclude_each_other(const Rule& a, const Rule& b);

// If the policy has x86_64 without x32, gives the action for other architectures to all numbers
// that libseccomp takes for x32 calls: those from 0x40000000 on, except -1.
void refuse_x32(Policy& policy);

}  // namespace secequiv
