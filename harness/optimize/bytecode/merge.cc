// Passes that let jumps share code.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "harness/bpf/flow.h"
#include "harness/optimize/bytecode/edit.h"
#include "harness/optimize/bytecode/passes.h"

namespace secequiv::detail {
namespace {

// Equal numbers: whatever the registers hold, the program does the same from there on. 0: not
// known.
using Class = std::uint32_t;

// One jump edge: which side of which jump.
struct Edge {
  std::size_t pc;
  bool taken;
};

// A class's places, and the edges that lead to them.
struct Shared {
  std::vector<std::size_t> places;
  std::vector<Edge> edges;
};

// Lets the edges to each class share as few of its places as their reach allows.
Program share(ProgramView program, std::span<const Class> classes) {
  Program out(program.begin(), program.end());
  const auto reached = reachable(program);
  // A place that the instruction before it runs into cannot go away; jumps may then as well use it.
  std::vector<bool> fixed(program.size(), false);
  std::map<Class, Shared> shared;
  const auto add_edge = [&](std::size_t pc, bool taken) {
    const Class target = classes[jump_target(pc, program[pc], taken)];
    if (target != 0) shared[target].edges.push_back({pc, taken});
  };
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!reached[pc]) continue;
    const Insn& in = program[pc];
    if (classes[pc] != 0) shared[classes[pc]].places.push_back(pc);
    if (is_ret(in)) continue;
    if (!is_jump(in)) {
      fixed[pc + 1] = true;
    } else {
      add_edge(pc, true);
      if (is_conditional(in)) add_edge(pc, false);
    }
  }
  for (const auto& [target, here] : shared) {
    const auto& places = here.places;
    std::vector<bool> kept(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) kept[i] = fixed[places[i]];
    // Places up to where an edge reaches, as an index past the last.
    const auto end_of = [&](const Edge& edge) {
      if (program[edge.pc].code == kJa) return places.size();
      return static_cast<std::size_t>(std::ranges::upper_bound(places, edge.pc + 1 + kReach) -
                                      places.begin());
    };
    // What only leads on to a place of the same class is no place to share if that one is in reach;
    // a test that does is worse than a jump, because other passes skip it.
    const auto rank = [&](std::size_t i) {
      const Insn& in = program[places[i]];
      if (in.code == kJa) return 1;
      return is_conditional(in) && classes[jump_target(places[i], in, true)] == target ? 2 : 0;
    };
    // The reach of conditional jumps ends in program order too, so taking the farthest place in
    // reach whenever none kept so far serves an edge gives the fewest.
    std::vector<std::size_t> choice;
    for (const Edge& edge : here.edges) {
      std::size_t chosen = end_of(edge) - 1;
      for (std::size_t i = chosen; rank(chosen) > 0 && i > 0 && places[i - 1] > edge.pc; --i)
        if (rank(i - 1) < rank(chosen)) chosen = i - 1;
      for (std::size_t i = end_of(edge); i > 0 && places[i - 1] > edge.pc; --i) {
        if (!kept[i - 1] || rank(i - 1) != rank(chosen)) continue;
        chosen = i - 1;
        break;
      }
      kept[chosen] = true;
      choice.push_back(chosen);
    }
    for (std::size_t i = 0; i < choice.size(); ++i)
      retarget(out, here.edges[i].pc, here.edges[i].taken, places[choice[i]]);
  }
  if (refused(out)) return {program.begin(), program.end()};
  return out;
}

struct Behaviour {
  std::uint16_t code;
  std::uint32_t k;
  Class yes;
  Class no;
  friend bool operator==(const Behaviour&, const Behaviour&) = default;
};

struct HashBehaviour {
  std::size_t operator()(const Behaviour& b) const {
    const std::uint64_t first = std::uint64_t{b.code} << 32 | b.k;
    const std::uint64_t second = std::uint64_t{b.yes} << 32 | b.no;
    const std::uint64_t h = first * 0x9e3779b97f4a7c15u ^ second * 0xc2b2ae3d27d4eb4fu;
    return h ^ h >> 29;
  }
};

// What matters of `k`.
std::uint32_t operand(const Insn& in) {
  switch (in.code) {
    case kRetA:
    case kTax:
    case kTxa:
    case kNeg:
    case kLdLen:
    case kLdxLen:
      return 0;
    default:
      return operand_is_x(in) ? 0 : in.k;
  }
}

std::vector<Class> classes_of(ProgramView program) {
  std::vector<Class> out(program.size());
  std::unordered_map<Behaviour, Class, HashBehaviour> known;
  known.reserve(program.size());
  for (std::size_t pc = program.size(); pc-- > 0;) {
    const Insn& in = program[pc];
    if (in.code == kJa) {
      out[pc] = out[jump_target(pc, in, true)];
      continue;
    }
    Behaviour b{in.code, operand(in), 0, 0};
    if (is_conditional(in)) {
      b.yes = out[jump_target(pc, in, true)];
      b.no = out[jump_target(pc, in, false)];
      if (b.yes == b.no) {
        out[pc] = b.yes;
        continue;
      }
    } else if (!is_ret(in)) {
      b.yes = out[pc + 1];
    }
    out[pc] = known.try_emplace(b, static_cast<Class>(known.size() + 1)).first->second;
  }
  return out;
}

}  // namespace

Program merge_equal_code(ProgramView program) { return share(program, classes_of(program)); }

Program merge_returns(ProgramView program) {
  std::vector<Class> classes(program.size(), 0);
  std::map<std::pair<std::uint16_t, std::uint32_t>, Class> known;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (is_ret(in))
      classes[pc] = known.try_emplace({in.code, operand(in)}, static_cast<Class>(known.size() + 1))
                        .first->second;
  }
  return share(program, classes);
}

}  // namespace secequiv::detail
