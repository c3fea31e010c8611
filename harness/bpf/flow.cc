#include "harness/bpf/flow.h"

namespace secequiv {
namespace {

Accumulator after(const Insn& in, const Accumulator& before) {
  if (in.code == kLdWAbs)
    return {Accumulator::Kind::kWord, static_cast<std::uint8_t>(in.k / 4), 0xffffffff};
  if (in.code == kAndK && before.kind == Accumulator::Kind::kWord)
    return {Accumulator::Kind::kWord, before.word, before.mask & in.k};
  switch (in.code) {
    case kLdxImm:
    case kLdxMem:
    case kLdxLen:
    case kSt:
    case kStx:
    case kTax:
      return before;
    default:
      return is_jump(in) ? before : Accumulator{Accumulator::Kind::kUnknown, 0, 0};
  }
}

Accumulator merge(const Accumulator& a, const Accumulator& b) {
  if (a.kind == Accumulator::Kind::kUnreached) return b;
  if (b.kind == Accumulator::Kind::kUnreached || a == b) return a;
  return {Accumulator::Kind::kUnknown, 0, 0};
}

}  // namespace

std::size_t successors(ProgramView program, std::size_t pc, std::size_t (&out)[2]) {
  const Insn& in = program[pc];
  if (is_ret(in)) return 0;
  if (!is_jump(in)) {
    out[0] = pc + 1;
    return 1;
  }
  out[0] = jump_target(pc, in, true);
  if (!is_conditional(in) || in.jt == in.jf) return 1;
  out[1] = jump_target(pc, in, false);
  return 2;
}

std::vector<Accumulator> accumulator_flow(ProgramView program) {
  std::vector<Accumulator> flow(program.size());
  flow[0] = {Accumulator::Kind::kUnknown, 0, 0};
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (flow[pc].kind == Accumulator::Kind::kUnreached) continue;
    const Accumulator next = after(program[pc], flow[pc]);
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i) flow[to[i]] = merge(flow[to[i]], next);
  }
  return flow;
}

std::vector<bool> reachable(ProgramView program) {
  std::vector<bool> reached(program.size(), false);
  bool here = true;  // the instruction before leads on to this one
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (here) {
      reached[pc] = true;
    } else if (!reached[pc]) {
      continue;
    }
    const Insn& in = program[pc];
    here = !is_ret(in) && !is_jump(in);
    if (!is_jump(in)) continue;
    reached[jump_target(pc, in, true)] = true;
    reached[jump_target(pc, in, false)] = true;
  }
  return reached;
}

}  // namespace secequiv
