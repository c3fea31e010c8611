#include "harness/policy/compile.h"

#include <algorithm>

#include "harness/bpf/comparisons.h"
#include "harness/policy/frame.h"

namespace secequiv {
namespace {

class Compiler {
 public:
  explicit Compiler(const Policy& policy) : policy_(policy) {}

  Program compile() {
    return detail::choose_by_arch(code_, policy_.audit_values(), std::identity(),
                                  policy_.bad_arch_action,
                                  [&](std::uint32_t audit) { emit_arch(audit); });
  }

 private:
  void emit_arch(std::uint32_t audit) {
    endian_ = endian_of(audit);
    if (policy_.has_x32_action(audit)) {
      const Label suspect = code_.label();
      const Label regular = code_.label();
      code_.load(kNrWord);
      code_.branch(kJsetK, kX32Bit, suspect, regular);
      code_.bind(suspect);
      code_.branch(kJeqK, 0xffffffff, regular, code_.returning(*policy_.x32_action));
      code_.bind(regular);
    }
    for (const RuleSet& set : policy_.rule_sets) {
      const Label next_set = code_.label();
      if (set.vsyscall) detail::require_vsyscall(code_, endian_, next_set);
      code_.load(kNrWord);
      for (const SyscallRule& entry : set.rules) {
        if (arch_info(entry.arch).audit != audit || !policy_.has_arch(entry.arch)) continue;
        const Label mine = code_.label();
        const Label other = code_.label();
        code_.branch(kJeqK, entry.nr, mine, other);
        code_.bind(mine);
        if (listed_again(set, entry)) {
          const Label retry = code_.label();
          emit_rule(entry.rule, code_.returning(set.action), retry);
          code_.bind(retry);
          code_.load(kNrWord);
        } else {
          emit_rule(entry.rule, code_.returning(set.action), next_set);
        }
        code_.bind(other);
      }
      code_.bind(next_set);
    }
    emit_defaults(audit);
  }

  void emit_defaults(std::uint32_t audit) {
    const auto ranges = policy_.default_ranges_of(audit);
    if (!ranges.empty()) code_.load(kNrWord);
    for (const DefaultRange& range : ranges) {
      const Label above = code_.label();
      const Label next = code_.label();
      code_.branch(kJgeK, range.first, above, next);
      code_.bind(above);
      code_.branch(kJgtK, range.last, next, code_.returning(range.action));
      code_.bind(next);
    }
    code_.jump(code_.returning(policy_.default_action));
  }

  // Returns whether a later entry of `set` has the same number on another architecture with the
  // same audit value (x32 numbers listed for x86_64). If this entry's rule does not match, the
  // later one may.
  bool listed_again(const RuleSet& set, const SyscallRule& entry) const {
    return std::ranges::any_of(policy_.arches, [&](Arch arch) {
      return arch > entry.arch && arch_info(arch).audit == arch_info(entry.arch).audit &&
             set.find(arch, entry.nr) != nullptr;
    });
  }

  // Emits jumps to `yes` if the rule matches, else to `no`.
  void emit_rule(const Rule& rule, Label yes, Label no) {
    switch (rule.kind) {
      case Rule::Kind::kMatchAll:
        return code_.jump(yes);
      case Rule::Kind::kAnyOf:
        for (const Rule& child : rule.children) {
          const Label next = code_.label();
          emit_rule(child, yes, next);
          code_.bind(next);
        }
        return code_.jump(no);
      case Rule::Kind::kAllOf:
        for (const Rule& child : rule.children) {
          const Label next = code_.label();
          emit_rule(child, next, no);
          code_.bind(next);
        }
        return code_.jump(yes);
      case Rule::Kind::kArgs:
        for (int field = 0; field <= kIpField; ++field) {
          const Label next = code_.label();
          emit_matcher(rule.fields[static_cast<std::size_t>(field)], field, next, no);
          code_.bind(next);
        }
        return code_.jump(yes);
    }
  }

  void emit_matcher(const Matcher& m, int field, Label yes, Label no) {
    const detail::FieldWords f{half_word(field, false, endian_), half_word(field, true, endian_),
                               !m.low_half};
    switch (m.op) {
      case Matcher::Op::kAny:
        return code_.jump(yes);
      case Matcher::Op::kEq:
        return detail::emit_masked_equal(code_, f, ~std::uint64_t{0}, m.value, yes, no);
      case Matcher::Op::kNe:
        return detail::emit_masked_equal(code_, f, ~std::uint64_t{0}, m.value, no, yes);
      case Matcher::Op::kGt:
        return detail::emit_above(code_, f, kJgtK, m.value, yes, no);
      case Matcher::Op::kGe:
        return detail::emit_above(code_, f, kJgeK, m.value, yes, no);
      case Matcher::Op::kLt:
        return detail::emit_above(code_, f, kJgeK, m.value, no, yes);
      case Matcher::Op::kLe:
        return detail::emit_above(code_, f, kJgtK, m.value, no, yes);
      case Matcher::Op::kMaskedEq:
        return detail::emit_masked_equal(code_, f, m.mask, m.value, yes, no);
      case Matcher::Op::kBitsAllowlist:
        return emit_no_bits(f, ~m.mask, yes, no);
      case Matcher::Op::kNonNegativeFd:
        return emit_no_bits(f, ~std::uint64_t{0x7fffffff}, yes, no);
    }
  }

  // Emits (field & bits) == 0.
  void emit_no_bits(const detail::FieldWords& f, std::uint64_t bits, Label yes, Label no) {
    if (f.wide) {
      const Label low = code_.label();
      code_.load(f.high);
      code_.branch(kJsetK, static_cast<std::uint32_t>(bits >> 32), no, low);
      code_.bind(low);
    }
    code_.load(f.low);
    code_.branch(kJsetK, static_cast<std::uint32_t>(bits), no, yes);
  }

  const Policy& policy_;
  Builder code_;
  Endian endian_ = Endian::kLittle;
};

}  // namespace

Program compile(const Policy& policy) { return Compiler(policy).compile(); }

}  // namespace secequiv
