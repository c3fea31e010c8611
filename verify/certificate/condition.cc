#include "verify/certificate/condition.h"

#include "harness/bpf/builder.h"
#include "harness/bpf/comparisons.h"
#include "harness/seccomp/action.h"

namespace secequiv::certificate {
namespace {

using Field = Assumption::Field;
using Condition = Assumption::Node;

// Emits the tests of an assumption. Each function emits code that jumps to `yes` or to `no`.
class Tests {
 public:
  Tests(const Assumption& assumption, Endian endian) : assumption_(assumption), endian_(endian) {}

  Program finish() {
    const Label yes = code_.label();
    const Label no = code_.label();
    if (assumption_.nodes.empty())
      code_.jump(yes);
    else
      emit(assumption_.nodes.back(), yes, no);
    code_.bind(no);
    code_.ret(SECCOMP_RET_KILL_THREAD);
    code_.bind(yes);
    code_.ret(SECCOMP_RET_ALLOW);
    return code_.finish();
  }

 private:
  void emit(const Condition& node, Label yes, Label no) {
    if (node.negated) std::swap(yes, no);
    switch (node.kind) {
      case Condition::Kind::kAll:
      case Condition::Kind::kAny: {
        const bool all = node.kind == Condition::Kind::kAll;
        for (const std::uint32_t child : node.children) {
          const Label next = code_.label();
          emit(assumption_.nodes[child], all ? next : yes, all ? no : next);
          code_.bind(next);
        }
        return code_.jump(all ? yes : no);
      }
      case Condition::Kind::kEq:
        return detail::emit_masked_equal(code_, words(node.field), node.mask, node.value, yes, no);
      case Condition::Kind::kGt:
        return detail::emit_above(code_, words(node.field), kJgtK, node.value, yes, no);
      case Condition::Kind::kGe:
        return detail::emit_above(code_, words(node.field), kJgeK, node.value, yes, no);
      case Condition::Kind::kIn:
        for (const Assumption::Range& range : node.ranges) {
          const Label not_below = code_.label();
          const Label next = code_.label();
          detail::emit_above(code_, words(node.field), kJgeK, range.first, not_below, next);
          code_.bind(not_below);
          detail::emit_above(code_, words(node.field), kJgtK, range.last, next, yes);
          code_.bind(next);
        }
        return code_.jump(no);
    }
  }

  [[nodiscard]] detail::FieldWords words(const Field& field) const {
    return {field.word(false, endian_), field.is_wide() ? field.word(true, endian_) : 0,
            field.is_wide()};
  }

  const Assumption& assumption_;
  Endian endian_;
  Builder code_;
};

}  // namespace

Program condition(const Assumption& assumption, Endian endian) {
  return Tests(assumption, endian).finish();
}

Program guarded(ProgramView condition, ProgramView program) {
  Program out(condition.begin(), condition.end() - 1);
  out.push_back(Insn{kLdImm, 0, 0, 0});
  out.push_back(Insn{kLdxImm, 0, 0, 0});
  out.insert(out.end(), program.begin(), program.end());
  return out;
}

}  // namespace secequiv::certificate
