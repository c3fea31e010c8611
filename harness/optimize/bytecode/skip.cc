// Passes that redirect an edge past instructions that have no effect on that path.
#include <optional>

#include "harness/bpf/flow.h"
#include "harness/optimize/bytecode/edit.h"
#include "harness/optimize/bytecode/passes.h"

namespace secequiv::detail {
namespace {

// What the outcome of a test against a constant implies about A.
struct Known {
  std::uint32_t low = 0;
  std::uint32_t high = 0xffffffff;
  std::optional<std::uint32_t> not_this;
  std::uint32_t ones = 0;     // bits that are certainly 1
  std::uint32_t zeros = 0;    // bits that are certainly 0
  std::uint32_t some_of = 0;  // if this is not 0, at least one of these bits is 1
};

bool compares_with_constant(const Insn& in) {
  return in.code == kJeqK || in.code == kJgtK || in.code == kJgeK || in.code == kJsetK;
}

std::optional<Known> known_after(const Insn& test, bool taken) {
  Known out;
  const std::uint32_t k = test.k;
  switch (test.code) {
    case kJeqK:
      if (taken) {
        out.low = out.high = out.ones = k;
        out.zeros = ~k;
      } else {
        out.not_this = k;
        if (k == 0) out.low = 1;
        if (k == 0xffffffff) out.high = k - 1;
      }
      return out;
    case kJgtK:
      if (taken && k == 0xffffffff) return std::nullopt;
      (taken ? out.low : out.high) = taken ? k + 1 : k;
      return out;
    case kJgeK:
      if (!taken && k == 0) return std::nullopt;
      (taken ? out.low : out.high) = taken ? k : k - 1;
      return out;
    case kJsetK:
      (taken ? out.some_of : out.zeros) = k;
      if (taken && k != 0) out.low = k & (~k + 1);
      return out;
    default:
      return std::nullopt;
  }
}

// Returns the outcome of `test` if the known facts about A decide it.
std::optional<bool> decided(const Insn& test, const Known& known) {
  const std::uint32_t k = test.k;
  switch (test.code) {
    case kJeqK:
      if (known.low == k && known.high == k) return true;
      if (k < known.low || k > known.high || known.not_this == k || (k & known.zeros) != 0 ||
          (~k & known.ones) != 0 || (known.some_of != 0 && (k & known.some_of) == 0))
        return false;
      return std::nullopt;
    case kJgtK:
      if (known.low > k) return true;
      if (known.high <= k) return false;
      return std::nullopt;
    case kJgeK:
      if (known.low >= k) return true;
      if (known.high < k) return false;
      return std::nullopt;
    case kJsetK:
      if ((k & known.ones) != 0 || (known.some_of != 0 && (known.some_of & ~k) == 0)) return true;
      if ((k & ~known.zeros) == 0) return false;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Repeatedly redirects each edge to the target that `next` returns, as far as the jump reaches.
template <class Next>
Program lead_on(ProgramView program, const Next& next) {
  Program out(program.begin(), program.end());
  Marks reached;  // computed only if some edge can be redirected
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!is_jump(program[pc])) continue;
    for (const bool taken : {true, false}) {
      if (!taken && program[pc].code == kJa) break;
      std::optional<std::size_t> best;
      std::size_t at = jump_target(pc, program[pc], taken);
      while (const auto further = next(pc, taken, at)) {
        at = *further;
        if (program[pc].code == kJa || at - pc - 1 <= kJumpReach) best = at;
      }
      if (!best) continue;
      if (reached.empty()) reached = reachable(program);
      if (reached[pc] != 0) retarget(out, pc, taken, *best);
    }
  }
  if (!reached.empty() && refused(out)) return {program.begin(), program.end()};
  return out;
}

// Returns whether any jump leads to a load.
bool jumps_to_loads(ProgramView program) {
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (is_jump(in) && (program[jump_target(pc, in, true)].code == kLdWAbs ||
                        program[jump_target(pc, in, false)].code == kLdWAbs))
      return true;
  }
  return false;
}

}  // namespace

Program skip_redundant_loads(ProgramView program) {
  if (!jumps_to_loads(program)) return {program.begin(), program.end()};
  const auto flow = accumulator_flow(program);
  return lead_on(program, [&](std::size_t pc, bool, std::size_t at) -> std::optional<std::size_t> {
    if (program[at].code != kLdWAbs || !flow[pc].is_word(program[at].k / 4)) return std::nullopt;
    return at + 1;
  });
}

Program skip_decided_tests(ProgramView program) {
  return lead_on(program,
                 [&](std::size_t pc, bool taken, std::size_t at) -> std::optional<std::size_t> {
                   if (!compares_with_constant(program[at]) || program[pc].jt == program[pc].jf)
                     return std::nullopt;
                   const auto known = known_after(program[pc], taken);
                   if (!known) return std::nullopt;
                   const auto outcome = decided(program[at], *known);
                   if (!outcome) return std::nullopt;
                   return jump_target(at, program[at], *outcome);
                 });
}

}  // namespace secequiv::detail
