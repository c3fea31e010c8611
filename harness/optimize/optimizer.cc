#include "harness/optimize/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>

#include "harness/base/text.h"
#include "harness/policy/compile.h"

namespace secequiv {
namespace {

// These passes imitate other compilers' layouts, which are worse than the standard layout.
constexpr std::array<std::string_view, 2> kOthersOnly = {"single-tree", "code-apart"};

std::size_t entries(const Plan& plan) {
  std::size_t out = 0;
  for (const ArchPlan& arch : plan.arches)
    for (const Stage& stage : arch.stages) out += stage.entries.size();
  return out;
}

// Insn has no padding, so equal bytes mean equal fields.
bool same(ProgramView a, ProgramView b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

template <class Function>
std::vector<std::pair<const Pass*, Function>> of_kind(std::span<const Pass* const> passes) {
  std::vector<std::pair<const Pass*, Function>> out;
  out.reserve(passes.size());
  for (const Pass* pass : passes)
    if (const auto* run = std::get_if<Function>(&pass->run)) out.emplace_back(pass, *run);
  return out;
}

// Applies `passes` to `value` in rounds until a round changes nothing. Returns false after
// kMaxRounds.
template <class Function, class Value, class Apply>
bool to_fixpoint(std::span<const Pass* const> passes, Value& value, std::vector<PassStep>& steps,
                 const Apply& apply) {
  const auto mine = of_kind<Function>(passes);
  steps.reserve(steps.size() + 4 * mine.size());  // there are usually three or four rounds
  bool changed = !mine.empty();
  std::size_t unchanged = 0;  // number of steps since the last change
  for (std::size_t round = 1; changed; ++round) {
    if (round > kMaxRounds) return false;
    changed = false;
    for (const auto& [pass, run] : mine) {
      PassStep step{pass->name, pass->kind(), round, 0, 0, false};
      if (unchanged < mine.size()) {
        apply(*pass, run, value, step);
      } else {  // this pass has already run on this value and left it unchanged
        step.before = step.after = steps.back().after;
      }
      unchanged = step.changed ? 0 : unchanged + 1;
      changed = changed || step.changed;
      steps.push_back(step);
    }
  }
  return true;
}

Result<const Pass*> pass_named(std::string_view name, Subject subject) {
  if (const Pass* pass = find_pass(name)) return pass;
  return usage_error(subject,
                     fmt::format("unknown pass '{}'{}", name,
                                 did_you_mean(similar_names(
                                     name, all_passes() | std::views::transform(&Pass::name)))));
}

}  // namespace

Result<std::vector<const Pass*>> named_passes(const std::vector<std::string>& names) {
  if (names.empty()) return standard_passes();
  std::vector<const Pass*> out;
  if (names.size() == 1 && names[0] == "none") return out;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(auto pass, pass_named(name, Subject::kPasses));
    out.push_back(pass);
  }
  return out;
}

Status stop_after(std::string_view last, std::vector<const Pass*>& passes) {
  ASSIGN_OR_RETURN(const auto pass, pass_named(last, Subject::kLastPass));
  const auto at = std::ranges::find(passes, pass);
  if (at == passes.end())
    return usage_error(Subject::kLastPass,
                       fmt::format("'{}' is not one of the passes that run", last));
  passes.erase(at + 1, passes.end());
  return Ok{};
}

std::vector<const Pass*> standard_passes() {
  std::vector<const Pass*> out;
  for (const Pass& pass : all_passes())
    if (std::ranges::find(kOthersOnly, pass.name) == kOthersOnly.end()) out.push_back(&pass);
  return out;
}

std::vector<const Pass*> value_blind_passes() {
  auto out = standard_passes();
  std::erase_if(out, [](const Pass* pass) { return pass->reads_values; });
  return out;
}

Optimized optimize(ProgramView program, std::span<const Pass* const> passes, const Watch& watch) {
  Optimized out{Program(program.begin(), program.end()), {}, true};
  out.fixpoint = to_fixpoint<BytecodePass>(
      passes, out.program, out.steps,
      [&](const Pass& pass, BytecodePass run, Program& current, PassStep& step) {
        step.before = step.after = current.size();
        if (pass.may_change != nullptr && !pass.may_change(current)) return;
        Program next = run(current);
        step.after = next.size();
        step.changed = !same(next, current);
        current = std::move(next);
        if (step.changed && watch) watch(step.pass, current);
      });
  return out;
}

Optimized optimize(ProgramView program) {
  static const std::vector<const Pass*> passes = standard_passes();
  return optimize(program, passes);
}

Simplified simplify(const Policy& policy, std::span<const Pass* const> passes) {
  Simplified out{policy, {}, true};
  out.fixpoint =
      to_fixpoint<RulePass>(passes, out.policy, out.steps,
                            [](const Pass&, RulePass run, Policy& current, PassStep& step) {
                              for (RuleSet& set : current.rule_sets) {
                                for (SyscallRule& entry : set.rules) {
                                  Rule next = run(entry.rule);
                                  step.before += matcher_count(entry.rule);
                                  step.after += matcher_count(next);
                                  step.changed = step.changed || next != entry.rule;
                                  entry.rule = std::move(next);
                                }
                              }
                            });
  return out;
}

Plan lay_out(const Policy& policy, std::span<const Pass* const> passes,
             std::span<const SyscallCount> profile, std::vector<PassStep>* steps) {
  Plan plan = make_plan(policy, profile);
  for (const auto& [pass, run] : of_kind<LayoutPass>(passes)) {
    Plan next = run(plan);
    if (steps != nullptr)
      steps->push_back({pass->name, pass->kind(), 1, entries(plan), entries(next), next != plan});
    plan = std::move(next);
  }
  return plan;
}

Optimized optimize(const Policy& policy, std::span<const Pass* const> passes,
                   std::span<const SyscallCount> profile) {
  Simplified rules = simplify(policy, passes);
  const bool planned =
      std::ranges::any_of(passes, [](const Pass* p) { return p->kind() == Pass::Kind::kLayout; });
  const Program before = planned ? render(lay_out(rules.policy, passes, profile, &rules.steps))
                                 : compile(rules.policy);
  Optimized out = optimize(before, passes);
  out.steps.insert(out.steps.begin(), rules.steps.begin(), rules.steps.end());
  out.fixpoint = out.fixpoint && rules.fixpoint;
  return out;
}

Optimized optimize(const Policy& policy) { return optimize(policy, standard_passes()); }

}  // namespace secequiv
