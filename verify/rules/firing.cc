#include "verify/rules/firing.h"

#include <algorithm>

#include "harness/base/interrupt.h"
#include "harness/bpf/liveness.h"

namespace secequiv::rules {
namespace {

// Finds the values of symbols for which code is `before`. Operands that are a symbol give its
// value; other operands can only be compared once all their symbols are known.
class Binding {
 public:
  explicit Binding(const Instance& instance)
      : instance_(instance), known_(instance.symbols.size(), 0) {
    assignment_.symbols.resize(instance.symbols.size());
  }

  bool bind(const Expr& operand, std::uint32_t value) {
    switch (operand.op) {
      case Op::kSymbol:
        return set(operand.name, value);
      case Op::kInvert:
        return operand.args[0].op != Op::kSymbol || set(operand.args[0].name, ~value);
      case Op::kNeg:
        return operand.args[0].op != Op::kSymbol || set(operand.args[0].name, 0u - value);
      default:
        return true;
    }
  }
  // Returns whether all symbols have values.
  [[nodiscard]] bool complete() const { return std::ranges::find(known_, 0) == known_.end(); }
  [[nodiscard]] const Assignment& assignment() const { return assignment_; }

 private:
  bool set(const std::string& name, std::uint32_t value) {
    const auto at = std::ranges::find(instance_.symbols, name, &Symbol::name);
    const auto i = static_cast<std::size_t>(at - instance_.symbols.begin());
    if (known_[i] != 0) return assignment_.symbols[i] == value;
    known_[i] = 1;
    assignment_.symbols[i] = value;
    return true;
  }

  const Instance& instance_;
  std::vector<std::uint8_t> known_;
  Assignment assignment_;
};

// Binds the exits that jumps of `before` use. Jumps inside must have the same shape.
bool bind_jumps(const Fragment& before, const Scene& scene, std::size_t pc, Firing& out) {
  const auto lead = [&](std::uint64_t rule_target, std::uint64_t target) {
    if (rule_target < before.size) return target == pc + rule_target;
    auto& places = out.exits[rule_target - before.size];
    if (!places.empty() && !scene.same_place(places.front(), target)) return false;
    places.push_back(target);
    return true;
  };
  for (std::size_t i = 0; i < before.size; ++i) {
    const Insn& mine = before.program[i];
    const Insn& theirs = scene.program()[pc + i];
    if (!is_jump(mine)) continue;
    for (const bool taken : {true, false})
      if (!lead(jump_target(i, mine, taken), jump_target(pc + i, theirs, taken))) return false;
  }
  return true;
}

bool condition_holds(const Expr& condition, const Instance& instance, const Scene& scene,
                     std::size_t pc, const Assignment& assignment) {
  return std::ranges::all_of(condition.args, [&](const Expr& part) {
    if (of_symbols(part)) return value_of(part, instance, assignment) != 0;
    return part.op == Op::kEq && part.args[0].op == Op::kA && part.args[1].op == Op::kLoad &&
           of_symbols(part.args[1].args[0]) &&
           scene.holds_word(pc, value_of(part.args[1].args[0], instance, assignment));
  });
}

}  // namespace

Scene::Scene(ProgramView program)
    : program_(program),
      live_(live_registers(program, false)),
      first_jump_(program.size(), program.size()),
      flow_(accumulator_flow(program)) {
  for (std::size_t pc = program.size(); pc-- > 0;) {
    if (!is_jump(program[pc])) continue;
    for (const bool taken : {true, false}) first_jump_[jump_target(pc, program[pc], taken)] = pc;
  }
}

Live live_of(std::uint32_t registers) {
  return ((registers & secequiv::kLiveA) != 0 ? kLiveA : 0) |
         ((registers & secequiv::kLiveX) != 0 ? kLiveX : 0) | (registers & 0xffff) * kLiveM;
}

Live Scene::live(std::size_t pc) const { return live_of(live_[pc]); }

bool Scene::single_entry(std::size_t first, std::size_t size) const {
  for (std::size_t pc = first + 1; pc < first + size; ++pc)
    if (first_jump_[pc] < first) return false;
  return true;
}

bool Scene::same_place(std::size_t a, std::size_t b) const {
  if (a == b) return true;
  const Insn& one = program_[a];
  return is_ret(one) && one.code == program_[b].code &&
         (one.code == kRetA || one.k == program_[b].k);
}

bool Scene::holds_word(std::size_t pc, std::uint64_t offset) const {
  return flow_[pc].is_word(static_cast<std::uint32_t>(offset / 4));
}

bool improves(const Instance& instance) {
  const auto* before = std::get_if<Fragment>(&instance.before);
  const auto* after = std::get_if<Fragment>(&instance.after);
  if (before == nullptr || after == nullptr || after->size > before->size) return false;
  const auto tests = [](const Fragment& code) {
    return std::count_if(code.program.begin(),
                         code.program.begin() + static_cast<std::ptrdiff_t>(code.size),
                         is_conditional);
  };
  return after->size < before->size || tests(*after) < tests(*before);
}

std::optional<Firing> fires_at(const Instance& instance, const Scene& scene, std::size_t pc) {
  const auto& before = std::get<Fragment>(instance.before);
  const ProgramView program = scene.program();
  if (pc + before.size >= program.size()) return std::nullopt;
  Binding binding(instance);
  for (std::size_t i = 0; i < before.size; ++i) {
    const Insn& in = program[pc + i];
    if (in.code != before.program[i].code) return std::nullopt;
    if (before.operands[i] && !binding.bind(*before.operands[i], in.k)) return std::nullopt;
  }
  if (!binding.complete() || !scene.single_entry(pc, before.size)) return std::nullopt;
  const Program exact = instantiate(before, instance, binding.assignment());
  for (std::size_t i = 0; i < before.size; ++i)
    if ((!is_jump(exact[i]) || is_conditional(exact[i])) && exact[i].k != program[pc + i].k)
      return std::nullopt;
  Firing out{pc, binding.assignment().symbols, {}};
  out.exits.resize(instance.rule->exits.size());
  out.exits[0].push_back(pc + before.size);  // "next"
  if (!bind_jumps(before, scene, pc, out)) return std::nullopt;
  const Insn& last = before.program[before.size - 1];
  if (out.exits[0].size() == 1 && (is_jump(last) || is_ret(last))) out.exits[0].clear();  // unused
  for (std::size_t exit = 0; exit < out.exits.size(); ++exit)
    for (const std::size_t place : out.exits[exit])
      if ((scene.live(place) & ~instance.rule->live[exit]) != 0) return std::nullopt;
  if (!condition_holds(instance.condition, instance, scene, pc, binding.assignment()))
    return std::nullopt;
  return out;
}

std::optional<Program> apply(const Instance& instance, const Firing& firing, ProgramView program) {
  const auto& before = std::get<Fragment>(instance.before);
  const auto& after = std::get<Fragment>(instance.after);
  const std::size_t removed = before.size - after.size;
  const std::size_t end = firing.pc + before.size;
  const auto moved = [&](std::size_t pc) { return pc <= firing.pc ? pc : pc - removed; };
  Assignment values;
  values.symbols = firing.symbols;
  const Program code = instantiate(after, instance, values);
  Program out(program.begin(), program.begin() + static_cast<std::ptrdiff_t>(firing.pc));
  out.insert(out.end(), code.begin(), code.begin() + static_cast<std::ptrdiff_t>(after.size));
  out.insert(out.end(), program.begin() + static_cast<std::ptrdiff_t>(end), program.end());
  bool reached = true;
  const auto lead = [&](std::size_t pc, bool taken, std::size_t to) {
    const std::size_t distance = to - pc - 1;
    if (out[pc].code == kJa) {
      out[pc].k = static_cast<std::uint32_t>(distance);
    } else if (distance > kJumpReach) {
      reached = false;
    } else {
      (taken ? out[pc].jt : out[pc].jf) = static_cast<std::uint8_t>(distance);
    }
  };
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!is_jump(program[pc]) || (pc >= firing.pc && pc < end)) continue;
    for (const bool taken : {true, false})
      lead(moved(pc), taken, moved(jump_target(pc, program[pc], taken)));
  }
  for (std::size_t i = 0; i < after.size; ++i) {
    if (!is_jump(after.program[i])) continue;
    for (const bool taken : {true, false}) {
      const std::size_t target = jump_target(i, after.program[i], taken);
      if (target < after.size) {
        lead(firing.pc + i, taken, firing.pc + target);
        continue;
      }
      const auto& places = firing.exits[target - after.size];
      if (places.empty()) return std::nullopt;
      lead(firing.pc + i, taken, moved(std::ranges::min(places)));
    }
  }
  if (!reached || refusal_of(ProgramView(out), LengthRule::kUnlimited)) return std::nullopt;
  return out;
}

Rewritten rewrite(ProgramView program, const std::vector<Instance>& instances) {
  Rewritten out{{program.begin(), program.end()}, std::vector<std::size_t>(instances.size(), 0)};
  std::size_t pc = 0;
  const auto step = [&](const Scene& scene) {
    for (; pc < out.program.size() && !stop_wanted(); ++pc)
      for (std::size_t i = 0; i < instances.size(); ++i) {
        const auto firing = fires_at(instances[i], scene, pc);
        if (!firing) continue;
        auto next = apply(instances[i], *firing, out.program);
        if (!next) continue;
        out.program = std::move(*next);
        ++out.fired[i];
        return true;
      }
    return false;
  };
  // A shorter piece may be the beginning of more code before it that now fires, or shorten a jump.
  for (bool changed = true; changed;) {
    changed = false;
    pc = 0;
    while (step(Scene(out.program))) {
      changed = true;
      pc -= std::min<std::size_t>(pc, 8);
    }
  }
  return out;
}

}  // namespace secequiv::rules
