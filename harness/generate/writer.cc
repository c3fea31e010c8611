#include "harness/generate/writer.h"

namespace secequiv::detail {
namespace {

constexpr std::size_t kReach = 256;

// Goes from the end to the front, because a jump's length depends on all later code.
void help_far_jumps(Code& code) {
  for (std::size_t pc = code.size(); pc-- > 0;) {
    if (!is_conditional(code[pc].insn)) continue;
    // Inserting a jump for one target moves the other one, so the first target is checked again.
    for (std::size_t Line::* const member : {&Line::yes, &Line::no, &Line::yes}) {
      const std::size_t to = code[pc].*member;
      if (to - pc <= kReach) continue;
      insert_lines(code, pc + 1, {Line{Insn{kJa, 0, 0, 0}, to + 1, to + 1}});
      code[pc].*member = pc + 1;
    }
  }
}

}  // namespace

Program Writer::finish() {
  for (std::size_t pc = 0; pc < lines_.size(); ++pc)
    for (std::size_t Line::* const member : {&Line::yes, &Line::no}) {
      std::size_t& to = lines_[pc].*member;
      to = to == kNext ? pc + 1 : labels_[to].position;
    }
  Program out;
  if (!write_lines(lines_, out)) {
    help_far_jumps(lines_);
    write_lines(lines_, out);
  }
  return out;
}

}  // namespace secequiv::detail
