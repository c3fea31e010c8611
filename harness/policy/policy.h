// Policies: the action for each system call and its arguments. Owns the model and its meaning:
// `decide` is the executable definition against which all compiled code is checked. It must not
// know JSON (json.h), BPF (compile.h) or where the rules came from (harness/import).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// The name of a variable, or no name. Policies have very many matchers, and hardly any has a name,
// so it takes only one pointer.
class VariableName {
 public:
  VariableName() = default;
  template <std::convertible_to<std::string_view> Text>
  VariableName(const Text& name) {  // NOLINT(google-explicit-constructor)
    if (const std::string_view text = name; !text.empty())
      name_ = std::make_unique<const std::string>(text);
  }
  VariableName(const VariableName& other) : VariableName(other.text()) {}
  VariableName(VariableName&&) = default;
  VariableName& operator=(const VariableName& other) { return *this = VariableName(other); }
  VariableName& operator=(VariableName&&) = default;
  ~VariableName() = default;

  [[nodiscard]] bool empty() const { return name_ == nullptr; }
  [[nodiscard]] const std::string& text() const {
    static const std::string none;
    return empty() ? none : *name_;
  }
  friend bool operator==(const VariableName& a, const VariableName& b) {
    return a.text() == b.text();
  }

 private:
  std::unique_ptr<const std::string> name_;
};

// An unsigned test of one 64-bit field (an argument or the instruction pointer), or of its low 32
// bits only, which suits ABIs with 32-bit registers.
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
  bool low_half = false;  // compare field & 0xffffffff; value and mask are below 2^32
  VariableName variable;  // of the 32-bit variable that gave `value`

  [[nodiscard]] bool matches(std::uint64_t field) const;
  friend bool operator==(const Matcher&, const Matcher&) = default;
};

// Where the reader of a policy found a rule or another action.
struct RulePosition {
  std::string file;
  std::size_t line = 0;        // from 1
  std::string path = {};       // "syscalls[14]"; empty for formats in which the line is enough
  std::string condition = {};  // what selected the rule: "includes CAP_SYS_ADMIN"; may be empty
  // Entries with the same action that have no effect because this entry exists.
  std::vector<RulePosition> superfluous = {};
  bool added = false;  // the file has no such rule; its runtime adds the rule to the one here

  // "docker-default.json:812 (syscalls[14], includes CAP_SYS_ADMIN)"
  [[nodiscard]] std::string text() const;
};

// A rule's position, if it has one. Positions do not affect the meaning of a rule, so they all
// compare equal.
struct PositionRef {
  std::shared_ptr<const RulePosition> at;

  friend bool operator==(const PositionRef&, const PositionRef&) { return true; }
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
  PositionRef position = {};

  [[nodiscard]] bool matches(const SeccompData& data, Endian endian) const;
  friend bool operator==(const Rule&, const Rule&) = default;
};

// Returns whether the rule has children: any_of or all_of.
inline bool is_branching(const Rule& rule) {
  return rule.kind == Rule::Kind::kAnyOf || rule.kind == Rule::Kind::kAllOf;
}

// One alternative of a rule; reports name the alternative that decides. A nested any_of adds its
// own alternatives to the list, and the first alternative that matches decides.
struct Alternative {
  const Rule* rule;
  const PositionRef* position;  // its own, or that of the any_of around it
};
// Returns the alternatives of `rule`, which must outlive them. A rule that is not an any_of is its
// own only alternative.
std::vector<Alternative> alternatives(const Rule& rule);
// Precondition: the rule matches.
Alternative matching_alternative(const Rule& rule, const SeccompData& data);

// Returns the first position in the tree: an any_of may stand for several entries of a file, and
// then only its children have positions.
PositionRef first_position(const Rule& rule);
// Gives `rule` a position.
Rule positioned(Rule rule, PositionRef position);
Rule positioned(Rule rule, RulePosition position);

// Counts the tests of fields in the whole tree, without those that accept every value (kAny).
std::size_t matcher_count(const Rule& rule);

struct SyscallRule {
  Arch arch = Arch::kX86_64;
  std::uint32_t nr = 0;
  Rule rule;

  friend bool operator==(const SyscallRule&, const SyscallRule&) = default;
};

// The rules for one action, sorted by (arch, nr), with one entry per system call.
struct RuleSet {
  std::uint32_t action = 0;
  // It applies only if bit 63 of the instruction pointer is set (the kernel's half of the address
  // space, where the vsyscall page lies).
  bool vsyscall = false;
  std::vector<SyscallRule> rules;

  [[nodiscard]] const Rule* find(Arch arch, std::uint32_t nr) const;
  friend bool operator==(const RuleSet&, const RuleSet&) = default;
};

// The default action for the numbers first..last of an architecture, instead of the policy's.
struct DefaultRange {
  Arch arch = Arch::kX86_64;  // never x32, whose numbers belong to x86_64
  std::uint32_t first = 0;
  std::uint32_t last = 0xffffffff;
  std::uint32_t action = 0;
  PositionRef position = {};

  friend bool operator==(const DefaultRange&, const DefaultRange&) = default;
};

// Returns the parts of the range between these numbers, in ascending order.
std::vector<DefaultRange> parts_without(const DefaultRange& range,
                                        const std::set<std::uint32_t>& numbers);

struct Policy {
  std::string name;
  std::string description;
  std::vector<Arch> arches;  // not empty; the first is the primary one
  std::uint32_t default_action = 0;
  PositionRef default_position = {};
  std::vector<DefaultRange> default_ranges;  // sorted by (arch, first); they do not overlap
  std::uint32_t bad_arch_action = 0;
  PositionRef bad_arch_position = {};
  // The action for numbers with the x32 bit (except -1) under AUDIT_ARCH_X86_64 if `arches` lacks
  // x32. Without this action, the rules decide these numbers too.
  std::optional<std::uint32_t> x32_action;
  PositionRef x32_position = {};
  std::vector<std::string> hot;  // syscall names, most frequent first
  std::vector<std::pair<std::string, std::uint32_t>> variables;
  std::vector<RuleSet> rule_sets;  // the first match decides

  // Returns the distinct AUDIT_ARCH_* values of `arches`, in order.
  [[nodiscard]] std::vector<std::uint32_t> audit_values() const;
  [[nodiscard]] bool has_arch(Arch arch) const;
  // Returns whether x32_action applies to an AUDIT_ARCH_* value, and whether it decides `nr` there.
  [[nodiscard]] bool has_x32_action(std::uint32_t audit) const;
  [[nodiscard]] bool x32_action_decides(std::uint32_t audit, std::uint32_t nr) const;
  // Returns the ranges for an AUDIT_ARCH_* value, without the numbers that x32_action decides.
  [[nodiscard]] std::vector<DefaultRange> default_ranges_of(std::uint32_t audit) const;
  // Returns the range that contains `nr`, or null.
  [[nodiscard]] const DefaultRange* default_range(std::uint32_t audit, std::uint32_t nr) const;
  friend bool operator==(const Policy&, const Policy&) = default;
};

// The part of a policy that decides one input.
struct Origin {
  enum class Kind : std::uint8_t { kRule, kDefault, kBadArch, kX32 };
  Kind kind = Kind::kDefault;
  std::uint32_t action = 0;
  const DefaultRange* range = nullptr;  // for kDefault, if a range decides; the policy owns it
  // The other members are set for kRule only.
  std::size_t rule_set = 0;
  Arch arch = Arch::kX86_64;
  const Rule* rule = nullptr;  // the system call's whole rule; the policy owns it
};
Origin origin(const Policy& policy, const SeccompData& data);

// Returns the action for `data`. This function defines policies, so it is simple rather than fast.
std::uint32_t decide(const Policy& policy, const SeccompData& data);

}  // namespace secequiv
