// A plan as a program.
#include <algorithm>

#include "harness/bpf/builder.h"
#include "harness/optimize/layout/emit.h"
#include "harness/optimize/layout/plan.h"

namespace secequiv {
namespace {

constexpr std::uint32_t kVsyscallIpBit = 0x80000000;  // of the instruction pointer's high half

std::size_t matchers(const Decision& decision) {
  std::size_t out = 0;
  for (const Clause& clause : decision) out += matcher_count(clause.rule);
  return out;
}

class Renderer {
 public:
  explicit Renderer(const Plan& plan) : plan_(plan) {}

  Program run() {
    code_.load(kArchWord);
    for (const ArchPlan& arch : plan_.arches) {
      const Label mine = code_.label();
      const Label other = code_.label();
      code_.branch(kJeqK, arch.audit, mine, other);
      code_.bind(mine);
      emit(arch);
      code_.bind(other);
    }
    code_.jump(code_.returning(plan_.bad_arch_action));
    return code_.finish();
  }

 private:
  void emit(const ArchPlan& arch) {
    code_.load(kNrWord);
    // Code stands behind the last jump to it.
    std::vector<std::size_t> uses(arch.codes.size(), 0);
    std::vector<Label> labels;
    for (const Decision& decision : arch.codes) {
      const auto constant = constant_action(plan_, decision);
      labels.push_back(constant ? code_.returning(*constant) : code_.label());
    }
    for (const Stage& stage : arch.stages)
      for (const Entry& entry : stage.entries) ++uses[entry.code];
    std::vector<std::size_t> apart;
    for (const Stage& stage : arch.stages) {
      const Label next_stage = code_.label();
      std::vector<detail::Case> cases;
      cases.reserve(stage.entries.size());
      for (const Entry& entry : stage.entries)
        cases.push_back({entry.first, entry.last, labels[entry.code]});
      const auto after = [&](std::span<const detail::Case> here) {
        for (const detail::Case& one : here) {
          const std::size_t index =
              stage.entries[static_cast<std::size_t>(&one - cases.data())].code;
          if (--uses[index] != 0 || constant_action(plan_, arch.codes[index])) continue;
          if (matchers(arch.codes[index]) > stage.in_place) {
            apart.push_back(index);
          } else {
            emit(arch, arch.codes[index], labels[index]);
          }
        }
      };
      detail::emit_search(code_, cases, {stage.tree, stage.pinned}, next_stage, after);
      code_.bind(next_stage);
    }
    code_.jump(code_.returning(plan_.default_action));
    for (const std::size_t index : apart) emit(arch, arch.codes[index], labels[index]);
  }

  void emit(const ArchPlan& arch, const Decision& decision, Label label) {
    const Endian endian = endian_of(arch.audit);
    code_.bind(label);
    for (const Clause& clause : decision) {
      const Label next = code_.label();
      if (clause.vsyscall) {
        const Label inside = code_.label();
        code_.load(half_word(kIpField, true, endian));
        code_.branch(kJsetK, kVsyscallIpBit, inside, next);
        code_.bind(inside);
      }
      detail::RuleEmitter(code_, endian, arch.value_trees)
          .rule(clause.rule, code_.returning(clause.action), next);
      code_.bind(next);
    }
    code_.jump(code_.returning(plan_.default_action));
  }

  const Plan& plan_;
  Builder code_;
};

}  // namespace

Program render(const Plan& plan) { return Renderer(plan).run(); }

}  // namespace secequiv
