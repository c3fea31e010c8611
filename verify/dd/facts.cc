#include "verify/dd/facts.h"

#include <algorithm>

namespace secequiv::dd {

Facts::Facts(const Forward& forward, ProgramView program)
    : entries_(1), before_(program.size(), kUnreached) {
  before_[0] = kNothing;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (before_[pc] == kUnreached || is_ret(in)) continue;
    const Id here = before_[pc];
    if (is_conditional(in) && in.jt != in.jf) {
      const Condition& condition = forward.condition(pc);
      const bool splits = condition.splits_word();
      if (!condition.is(false))
        arrive(jump_target(pc, in, true), splits ? after(here, condition, true) : here);
      if (!condition.is(true))
        arrive(jump_target(pc, in, false), splits ? after(here, condition, false) : here);
    } else {
      arrive(is_jump(in) ? jump_target(pc, in, true) : pc + 1, here);
    }
  }
}

Facts::Id Facts::common(Id a, Id b) const {
  while (a != b) {
    if (entries_[a].depth >= entries_[b].depth) {
      a = entries_[a].parent;
    } else {
      b = entries_[b].parent;
    }
  }
  return a;
}

// Tighter bounds if the outcome gives any. Contradictory ones (the edge is never taken) are left
// out.
Facts::Id Facts::after(Id facts, const Condition& condition, bool holds) {
  const Bounds old = bounds_of(facts, condition.input);
  const std::uint32_t k = condition.k;
  Bounds now = old;
  const bool taken = holds != condition.negated;
  switch (condition.test) {
    case Comparison::kEq:
      if (taken) {
        now = {k, k};
      } else {
        if (now.low == k && now.low != 0xffffffff) ++now.low;
        if (now.high == k && now.high != 0) --now.high;
      }
      break;
    case Comparison::kGt:
      if (taken && k != 0xffffffff) now.low = std::max(now.low, k + 1);
      if (!taken) now.high = std::min(now.high, k);
      break;
    case Comparison::kGe:
      if (taken) now.low = std::max(now.low, k);
      if (!taken && k != 0) now.high = std::min(now.high, k - 1);
      break;
    case Comparison::kAnyBit:
      break;
  }
  if ((now.low == old.low && now.high == old.high) || now.low > now.high) return facts;
  entries_.push_back(Entry{now, facts, entries_[facts].depth + 1, condition.input});
  return static_cast<Id>(entries_.size() - 1);
}

}  // namespace secequiv::dd
