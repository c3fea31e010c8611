#include "verify/dd/forward.h"

#include <algorithm>

#include "harness/bpf/flow.h"

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kNoPlace = ~0u;

}  // namespace

struct Forward::Control {
  Words& words;
  std::optional<Condition> condition;
  std::optional<Word> value;

  void next() {}
  void jump(std::uint32_t) {}
  void branch(const Condition& taken, std::uint32_t, std::uint32_t) { condition = taken; }
  void ret(const Word& w) { value = w; }
  bool exit_if_zero(const Word& divisor) {
    condition = words.eq(divisor, words.constant(0));
    return false;
  }
};

Forward::Forward(Words& words, ProgramView program, Detail detail, const Symbols& symbols)
    : words_(words), program_(program), detail_(detail) {
  constexpr std::size_t kStates = sizeof(State) + 32;  // also what Backward keeps
  if (words.diagrams().gives_up(program.size() * (sizeof(Seen) + kStates))) return;
  live_ = live_registers(program, detail == Detail::kEveryOutcome);
  seen_.resize(program.size());
  run(symbols);
}

void Forward::run(const Symbols& symbols) {
  seen_[0].arrivals = 1;
  constexpr std::size_t kBetweenLooks = 1024;
  for (std::size_t pc = 0; pc < program_.size() && !words_.diagrams().exhausted(); ++pc) {
    if (pc % kBetweenLooks == 0 && words_.diagrams().gives_up()) return;
    if (!reached(pc)) continue;
    if (seen_[pc].mixed) resolve(pc);
    execute(pc, symbols);
    leave(pc);
  }
}

void Forward::execute(std::size_t pc, const Symbols& symbols) {
  const Insn& in = program_[pc];
  const auto number = symbols.word(in);
  if (in.code == kRetK && number) returned_at(pc) = words_.load(*number);
  if (in.code == kRetK || in.code == kJa) return;
  const Access access = access_of(in);
  if (is_conditional(in) && in.jt == in.jf && detail_ == Detail::kResult) return;
  const bool wanted =
      access.writes == 0 || (pc + 1 < program_.size() && (live_[pc + 1] & access.writes) != 0);
  if (!wanted && in.code != kDivX) return;
  const std::uint32_t slot = in.k % kMemWords;
  State state = states_[seen_[pc].state];
  machine_.a = state.a;
  machine_.x = state.x;
  if ((access.reads & 0xffff) != 0) machine_.m[slot] = memory(state, slot);
  Control control{words_, {}, {}};
  if (wanted && number) {
    step_with(words_, words_.load(*number), in, machine_, control);
  } else if (wanted) {
    step(words_, in, machine_, control);
  } else {
    control.exit_if_zero(machine_.x);
  }
  if (control.condition) seen_[pc].condition = *control.condition;
  if (in.code == kRetA) returned_at(pc) = *control.value;
  if (access.writes == 0) return;
  state.a = machine_.a;
  state.x = machine_.x;
  if ((access.writes & 0xffff) != 0) {
    memories_.push_back(state.memory == kNoMemory ? Memory{} : memories_[state.memory]);
    state.memory = static_cast<std::uint32_t>(memories_.size() - 1);
    memories_.back()[slot] = machine_.m[slot];
  }
  seen_[pc].state = static_cast<StateId>(states_.size());
  states_.push_back(state);
}

std::optional<Word>& Forward::returned_at(std::size_t pc) {
  if (returned_.empty()) returned_.resize(program_.size());
  return returned_[pc];
}

std::optional<std::size_t> Forward::next(std::size_t pc, bool taken) const {
  const Insn& in = program_[pc];
  if (is_ret(in)) return std::nullopt;
  if (is_conditional(in)) {
    if (in.jt != in.jf && seen_[pc].condition.is(!taken)) return std::nullopt;
    return jump_target(pc, in, taken);
  }
  if (in.code == kDivX && seen_[pc].condition.is(true)) return std::nullopt;
  return in.code == kJa ? jump_target(pc, in, true) : pc + 1;
}

void Forward::leave(std::size_t pc) {
  const Insn& in = program_[pc];
  if (is_conditional(in) && in.jt != in.jf) {
    if (!seen_[pc].condition.is(false)) arrive(jump_target(pc, in, true), seen_[pc].state);
    if (!seen_[pc].condition.is(true)) arrive(jump_target(pc, in, false), seen_[pc].state);
  } else if (const auto only = next(pc, true)) {
    arrive(*only, seen_[pc].state);
  }
}

bool Forward::agree(StateId one, StateId other, std::uint32_t live) const {
  if (one == other) return true;
  const State& a = states_[one];
  const State& b = states_[other];
  if ((live & kLiveA) != 0 && a.a != b.a) return false;
  if ((live & kLiveX) != 0 && a.x != b.x) return false;
  if (a.memory == b.memory || (live & 0xffff) == 0) return true;
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    if ((live >> k & 1) != 0 && memory(a, k) != memory(b, k)) return false;
  return true;
}

void Forward::arrive(std::size_t pc, StateId state) {
  Seen& there = seen_[pc];
  if (there.arrivals++ == 0) {
    there.state = state;
  } else if (!there.mixed && !agree(there.state, state, live_[pc])) {
    there.mixed = true;
  }
}

void Forward::find_predecessors() {
  if (!predecessors_.empty()) return;
  predecessors_.resize(program_.size());
  for (std::uint32_t pc = 0; pc < program_.size(); ++pc) {
    std::size_t to[2];
    const std::size_t count = successors(program_, pc, to);
    for (std::size_t i = 0; i < count; ++i) predecessors_[to[i]].push_back(pc);
  }
}

// Finds the immediate dominator of each instruction up to `pc`: the last earlier instruction that
// every path to it contains.
void Forward::find_dominators(std::size_t pc) {
  if (dominators_.empty()) {
    dominators_.push_back(0);
    depths_.push_back(0);
  }
  for (auto at = static_cast<std::uint32_t>(dominators_.size()); at <= pc; ++at) {
    std::uint32_t common = kNoPlace;
    for (const std::uint32_t from : predecessors_[at]) {
      if (!reached(from) || (next(from, true) != at && next(from, false) != at)) continue;
      std::uint32_t other = from;
      if (common == kNoPlace) common = other;
      while (common != other) {
        if (depths_[common] >= depths_[other]) {
          common = dominators_[common];
        } else {
          other = dominators_[other];
        }
      }
    }
    dominators_.push_back(common == kNoPlace ? 0 : common);
    depths_.push_back(common == kNoPlace ? 0 : depths_[common] + 1);
  }
}

// Returns a diagram of choices. For an input that passes `from`, the leaf is the `choice` of the
// source through which the input reaches `pc`. The leaf is arbitrary for inputs that do not reach
// `pc`.
NodeId Forward::selection(std::size_t pc, std::size_t from, const std::vector<std::size_t>& sources,
                          const std::vector<std::uint32_t>& choice) {
  Diagrams& diagrams = words_.diagrams();
  std::vector<NodeId> value(pc - from, kNoPlace);
  std::size_t source = sources.size();
  for (std::size_t at = pc; at-- > from && !diagrams.exhausted();) {
    if (!reached(at)) continue;
    const bool is_source = source > 0 && sources[source - 1] == at;
    if (is_source) --source;
    const auto there = [&](bool taken) {
      const auto to = next(at, taken);
      if (!to || *to > pc) return kNoPlace;
      if (*to == pc) return is_source ? diagrams.leaf(choice[source]) : kNoPlace;
      return value[*to - from];
    };
    const NodeId yes = there(true);
    const NodeId no = there(false);
    if (yes == no || no == kNoPlace) {
      value[at - from] = yes;
    } else if (yes == kNoPlace) {
      value[at - from] = no;
    } else {
      value[at - from] = words_.branch(seen_[at].condition, yes, no);
    }
  }
  return value[0];
}

// Paths meet at `pc` with different registers. Each register becomes a choice that depends on the
// path taken from the immediate dominator.
void Forward::resolve(std::size_t pc) {
  find_predecessors();
  find_dominators(pc);
  const std::uint32_t live = live_[pc];
  std::vector<std::size_t> sources;
  std::vector<std::uint32_t> choice;
  std::vector<StateId> distinct;
  for (const std::uint32_t from : predecessors_[pc]) {
    if (!reached(from) || (next(from, true) != pc && next(from, false) != pc)) continue;
    const auto known = std::ranges::find_if(
        distinct, [&](StateId state) { return agree(state, seen_[from].state, live); });
    sources.push_back(from);
    choice.push_back(static_cast<std::uint32_t>(known - distinct.begin()));
    if (known == distinct.end()) distinct.push_back(seen_[from].state);
  }
  Diagrams& diagrams = words_.diagrams();
  const NodeId by = selection(pc, dominators_[pc], sources, choice);
  State joined = states_[distinct[0]];
  Memory slots{};
  for (std::uint32_t k = 0; k < kMemWords; ++k) slots[k] = memory(joined, k);
  for (std::uint32_t i = 1; i < distinct.size() && !diagrams.exhausted(); ++i) {
    const NodeId mine = diagrams.leaf(i);
    const Condition chosen = words_.condition(diagrams.substitute(
        by, [&](NodeId leaf) { return leaf == mine ? Diagrams::kOne : Diagrams::kZero; }));
    const State& other = states_[distinct[i]];
    if ((live & kLiveA) != 0) joined.a = words_.choose(chosen, other.a, joined.a);
    if ((live & kLiveX) != 0) joined.x = words_.choose(chosen, other.x, joined.x);
    for (std::uint32_t k = 0; k < kMemWords; ++k)
      if ((live >> k & 1) != 0) slots[k] = words_.choose(chosen, memory(other, k), slots[k]);
  }
  if ((live & 0xffff) != 0) {
    memories_.push_back(slots);
    joined.memory = static_cast<std::uint32_t>(memories_.size() - 1);
  }
  seen_[pc].state = static_cast<StateId>(states_.size());
  states_.push_back(joined);
}

}  // namespace secequiv::dd
