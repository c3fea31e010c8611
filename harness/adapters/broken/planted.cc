#include "harness/adapters/broken/planted.h"

#include <algorithm>
#include <map>

#include "harness/adapters/broken/twins.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"

namespace secequiv::broken {
namespace {

// Wrong passes need not come to a fixpoint.
constexpr int kRounds = 3;

// The standard passes of the twin's kind, in their order, with the twin in place of its pass.
template <class Function>
std::vector<Function> with_twin(const Twin& twin) {
  const auto standard = standard_passes();
  std::vector<Function> out;
  for (const Pass& pass : all_passes()) {
    const auto* run = std::get_if<Function>(&pass.run);
    if (run == nullptr) continue;
    if (pass.name == twin.pass) {
      out.push_back(std::get<Function>(twin.run));
    } else if (std::ranges::find(standard, &pass) != standard.end()) {
      out.push_back(*run);
    }
  }
  return out;
}

Program finished(const Policy& simple) {
  return optimize(render(lay_out(simple, standard_passes()))).program;
}

std::variant<PlantedOptimizer, PlantedCompiler> around(const Twin& twin) {
  if (std::holds_alternative<BytecodePass>(twin.run)) {
    return PlantedOptimizer([passes = with_twin<BytecodePass>(twin)](ProgramView program) {
      Program out(program.begin(), program.end());
      for (int round = 0; round < kRounds; ++round)
        for (const BytecodePass pass : passes) out = pass(out);
      return out;
    });
  }
  if (std::holds_alternative<LayoutPass>(twin.run)) {
    return PlantedCompiler([passes = with_twin<LayoutPass>(twin)](const Policy& policy) {
      Plan plan = make_plan(simplify(policy, standard_passes()).policy);
      for (const LayoutPass pass : passes) plan = pass(plan);
      return optimize(render(plan)).program;
    });
  }
  return PlantedCompiler([passes = with_twin<RulePass>(twin)](const Policy& policy) {
    Policy wrong = policy;
    for (int round = 0; round < kRounds; ++round)
      for (const RulePass pass : passes)
        for (RuleSet& set : wrong.rule_sets)
          for (SyscallRule& entry : set.rules) entry.rule = pass(entry.rule);
    return finished(wrong);
  });
}

std::vector<Planted> all_planted() {
  std::vector<Planted> out;
  std::map<std::string_view, int> seen;
  for (const auto twins : {rule_twins(), layout_twins(), bytecode_twins()}) {
    for (const Twin& twin : twins) {
      const int count = ++seen[twin.pass];
      std::string name = "twin-" + std::string(twin.pass);
      if (count > 1) name += "-" + std::to_string(count);
      out.push_back({std::move(name), twin.bug, around(twin)});
    }
  }
  return out;
}

}  // namespace

std::span<const Planted> planted_optimizers() {
  static const std::vector<Planted> all = all_planted();
  return all;
}

const Planted* find_planted(std::string_view name) {
  const auto all = planted_optimizers();
  const auto found = std::ranges::find(all, name, &Planted::name);
  return found == all.end() ? nullptr : &*found;
}

Program compile_with(const Planted& planted, const Policy& policy) {
  if (const auto* compiler = std::get_if<PlantedCompiler>(&planted.run)) return (*compiler)(policy);
  return std::get<PlantedOptimizer>(planted.run)(compile(policy));
}

}  // namespace secequiv::broken
