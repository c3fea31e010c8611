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
    const Insn& in = program[pc];
    if (flow[pc].kind == Accumulator::Kind::kUnreached || is_ret(in)) continue;
    const Accumulator next = after(in, flow[pc]);
    const auto arrive = [&](std::size_t to) { flow[to] = merge(flow[to], next); };
    if (is_jump(in)) {
      arrive(jump_target(pc, in, true));
      arrive(jump_target(pc, in, false));
    } else {
      arrive(pc + 1);
    }
  }
  return flow;
}

Marks reachable(ProgramView program) {
  Marks reached(program.size(), 0);
  std::uint8_t here = 1;  // whether execution can continue here from the previous instruction
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    reached[pc] |= here;
    here = 0;
    if (reached[pc] == 0) continue;
    const Insn& in = program[pc];
    if (is_jump(in)) {
      reached[jump_target(pc, in, true)] = 1;
      reached[jump_target(pc, in, false)] = 1;
    } else {
      here = is_ret(in) ? 0 : 1;
    }
  }
  return reached;
}

}  // namespace secequiv
