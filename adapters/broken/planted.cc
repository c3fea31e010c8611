#include "adapters/broken/planted.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "adapters/broken/planted_parts.h"
#include "adapters/broken/planted_passes.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"

namespace secequiv::broken {
namespace {

// Wrong passes may never reach a fixpoint, so the rounds are limited.
constexpr int kRounds = 3;

template <class Function>
struct Named {
  std::string_view name;
  Function run;
};

// Returns the standard passes of `wrong`'s kind in order, with `wrong` in place of the correct
// pass.
template <class Function>
std::vector<Named<Function>> with_planted(const PlantedPass& wrong) {
  const auto standard = standard_passes();
  std::vector<Named<Function>> out;
  for (const Pass& pass : all_passes()) {
    const auto* run = std::get_if<Function>(&pass.run);
    if (run == nullptr) continue;
    if (pass.name == wrong.pass) {
      out.push_back({pass.name, std::get<Function>(wrong.run)});
    } else if (std::ranges::find(standard, &pass) != standard.end()) {
      out.push_back({pass.name, *run});
    }
  }
  return out;
}

// Precondition: `wrong` is a bytecode pass.
WatchedOptimizer optimizer_around(const PlantedPass& wrong) {
  return [passes = with_planted<BytecodePass>(wrong)](ProgramView program, const Watch& watch) {
    Program out(program.begin(), program.end());
    for (int round = 0; round < kRounds; ++round) {
      for (const auto& [name, run] : passes) {
        Program next = run(out);
        const bool changed = watch && next != out;
        out = std::move(next);
        if (changed) watch(name, out);
      }
    }
    return out;
  };
}

// Precondition: `wrong` is a pass over rules or layouts.
PlantedCompiler compiler_around(const PlantedPass& wrong) {
  if (std::holds_alternative<LayoutPass>(wrong.run)) {
    return [passes = with_planted<LayoutPass>(wrong)](const Policy& policy) {
      Plan plan = make_plan(simplify(policy, standard_passes()).policy);
      for (const auto& pass : passes) plan = pass.run(plan);
      return optimize(render(plan)).program;
    };
  }
  // Runs the wrong pass on the original rules first, because other passes may remove the rules that
  // it treats wrongly.
  auto passes = with_planted<RulePass>(wrong);
  passes.insert(passes.begin(), {wrong.pass, std::get<RulePass>(wrong.run)});
  return [passes](const Policy& policy) {
    Policy changed = policy;
    for (int round = 0; round < kRounds; ++round)
      for (const auto& pass : passes)
        for (RuleSet& set : changed.rule_sets)
          for (SyscallRule& entry : set.rules) entry.rule = pass.run(entry.rule);
    return optimize(render(lay_out(changed, standard_passes()))).program;
  };
}

std::vector<Planted> with_planted_passes() {
  std::vector<Planted> out;
  std::map<std::string_view, int> seen;
  for (const auto passes :
       {planted_rule_passes(), planted_layout_passes(), planted_bytecode_passes()}) {
    for (const PlantedPass& wrong : passes) {
      const int count = ++seen[wrong.pass];
      std::string name = "twin-" + std::string(wrong.pass);
      if (count > 1) name += "-" + std::to_string(count);
      Planted& one = out.emplace_back(Planted{std::move(name), wrong.bug, {}});
      if (std::holds_alternative<BytecodePass>(wrong.run)) {
        one.watched = optimizer_around(wrong);
        one.run = [run = one.watched](ProgramView program) { return run(program, {}); };
      } else {
        one.run = compiler_around(wrong);
      }
    }
  }
  return out;
}

// Additional names of bug classes. Each names a wrong pass that is an example of the class.
struct Alias {
  const char* name;
  std::string_view bug_class;
  std::string_view name_of_wrong;
};
constexpr std::array kAliases = {
    Alias{"accumulator-left-out-of-hash",
          "different blocks are merged because the hash ignores the accumulator",
          "twin-merge-equal-code"},
    Alias{"live-sub-tree-pruned", "a sub-tree is pruned although it still mattered",
          "twin-extract-common"},
    Alias{"jump-offset-truncated", "a jump offset is truncated to 8 bits",
          "twin-thread-conditional-jumps"},
    Alias{"return-data-dropped", "the data bits of a return value are dropped",
          "twin-replace-jumps-to-returns"},
    Alias{"live-block-dropped", "dead-code removal drops a live block", "twin-remove-unreachable"},
};

std::vector<Planted> all_planted() {
  std::vector<Planted> passes = with_planted_passes();
  std::vector<Planted> out;
  for (auto part : {planted_in_rules(), planted_in_layout(), planted_in_bytecode()})
    std::ranges::move(part, std::back_inserter(out));
  for (const Alias& alias : kAliases) {
    const Planted& wrong = *std::ranges::find(passes, alias.name_of_wrong, &Planted::name);
    out.push_back({alias.name, alias.bug_class, wrong.run, wrong.watched});
  }
  std::ranges::move(passes, std::back_inserter(out));
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
