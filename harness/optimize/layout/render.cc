// Emits a plan as a program.
#include <algorithm>

#include "harness/optimize/layout/emit.h"
#include "harness/optimize/layout/plan.h"
#include "harness/policy/frame.h"

namespace secequiv {
namespace {

constexpr double kRest = 1e-6;  // share of a tree's weight that all entries divide equally

std::size_t matchers(const Decision& decision) {
  std::size_t out = 0;
  for (const Clause& clause : decision) out += matcher_count(clause.rule);
  return out;
}

class PlanRenderer {
 public:
  explicit PlanRenderer(const Plan& plan) : plan_(plan) {}

  Program run() {
    return detail::choose_by_arch(code_, plan_.arches, &ArchPlan::audit, plan_.bad_arch_action,
                                  [&](const ArchPlan& arch) { emit(arch); });
  }

 private:
  void emit(const ArchPlan& arch) {
    code_.load(kNrWord);
    // Jumps only go forward, so code must come after the last jump to it.
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
        cases.push_back({entry.first, entry.last, labels[entry.code], entry.weight});
      double weight = 0;
      for (const detail::Case& one : cases) weight += one.weight;
      const double least = stage.weighted ? kRest * weight / static_cast<double>(cases.size()) : 0;
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
      detail::emit_search(code_, cases, {stage.tree, stage.pinned, least}, next_stage, after);
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
      if (clause.vsyscall) detail::require_vsyscall(code_, endian, next);
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

Program render(const Plan& plan) { return PlanRenderer(plan).run(); }

}  // namespace secequiv
