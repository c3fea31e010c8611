// High-level rule sets: which action for which system call with which arguments. Owns the model and
// its meaning
// (`decide`, the executable definition that everything compiled from a policy is measured against).
// It must not know JSON (json.h), BPF (compile.h) or where the rules came from (import_oci.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// A test on one 64-bit field (an argument or the instruction pointer), unsigned; or on its low 32
// bits only, as an ABI with 32-bit registers means it.
struct Matcher {
  enum class Op : std::uint8_t {
    kAny,            // always
    kEq,             // field == value
    kNe,             // field != value
    kGt,             // field > value
    kGe,             // field >= value
    kLt,             // field < value
    kLe,             // field <= value
    kMaskedEq,       // (field & mask) == value
    kBitsAllowlist,  // (field & ~mask) == 0
    kNonNegativeFd,  // high half 0 and bit 31 clear
  };
  Op op = Op::kAny;
  std::uint64_t value = 0;
  std::uint64_t mask = 0;
  bool low_half = false;  // compare field & 0xffffffff; value and mask are then below 2^32
  std::string variable;   // name of the 32-bit variable `value` came from, or empty

  [[nodiscard]] bool matches(std::uint64_t field) const;
  friend bool operator==(const Matcher&, const Matcher&) = default;
};

// A tree of conditions on one system call.
struct Rule {
  enum class Kind : std::uint8_t {
    kMatchAll,
    kAnyOf,  // at least one child; children not empty
    kAllOf,  // every child; children not empty
    kArgs,   // every matcher of `fields`
  };
  Kind kind = Kind::kMatchAll;
  std::vector<Rule> children;
  std::array<Matcher, 7> fields;  // args[0..5], then the instruction pointer (kIpField)

  [[nodiscard]] bool matches(const SeccompData& data, Endian endian) const;
  friend bool operator==(const Rule&, const Rule&) = default;
};

// any_of or all_of: what has children.
inline bool is_branching(const Rule& rule) {
  return rule.kind == Rule::Kind::kAnyOf || rule.kind == Rule::Kind::kAllOf;
}

// Tests of fields in the whole tree; those that any value passes do not count.
std::size_t matcher_count(const Rule& rule);

struct SyscallRule {
  Arch arch = Arch::kX86_64;
  std::uint32_t nr = 0;
  Rule rule;

  friend bool operator==(const SyscallRule&, const SyscallRule&) = default;
};

// Rules with one action. Sorted by (arch, nr), one entry per system call.
struct RuleSet {
  std::uint32_t action = 0;
  bool vsyscall = false;  // applies only when bit 63 of the instruction pointer is set (the
                          // kernel's half, where the vsyscall page lies)
  std::vector<SyscallRule> rules;

  [[nodiscard]] const Rule* find(Arch arch, std::uint32_t nr) const;
  friend bool operator==(const RuleSet&, const RuleSet&) = default;
};

struct Policy {
  std::string name;
  std::string description;
  std::vector<Arch> arches;  // not empty; the first is the primary one
  std::uint32_t default_action = 0;
  std::uint32_t bad_arch_action = 0;
  // For numbers with the x32 bit (-1 excepted) under AUDIT_ARCH_X86_64 when `arches` lacks x32;
  // without it they are numbers like any other.
  std::optional<std::uint32_t> x32_action;
  std::vector<std::string> hot;  // syscall names, most frequent first
  std::vector<std::pair<std::string, std::uint32_t>> variables;
  std::vector<RuleSet> rule_sets;  // the first that matches decides

  // Distinct AUDIT_ARCH_* values of `arches`, in order.
  [[nodiscard]] std::vector<std::uint32_t> audit_values() const;
  [[nodiscard]] bool has_arch(Arch arch) const;
  friend bool operator==(const Policy&, const Policy&) = default;
};

// Where a policy's answer for one input comes from.
struct Origin {
  enum class Kind : std::uint8_t { kRule, kDefault, kBadArch, kX32 };
  Kind kind = Kind::kDefault;
  std::uint32_t action = 0;
  // Of kRule:
  std::size_t rule_set = 0;
  Arch arch = Arch::kX86_64;
  const Rule* rule = nullptr;  // the system call's whole rule, within the policy
};
Origin origin(const Policy& policy, const SeccompData& data);

// What the policy says about `data`: the definition, written without any concern for speed.
std::uint32_t decide(const Policy& policy, const SeccompData& data);

}  // namespace secequiv
