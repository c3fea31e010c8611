#include "harness/generate/edit.h"

#include <algorithm>

namespace secequiv::detail {
namespace {

constexpr std::size_t kReach = 256;  // the largest distance of a conditional jump

// Returns whether the targets of the jump at `pc` are later lines.
bool can_jump(const Code& code, std::size_t pc) {
  const auto later = [&](std::size_t to) { return to > pc && to < code.size(); };
  return later(code[pc].yes) && (code[pc].insn.code == kJa || later(code[pc].no));
}

void erase_marked(Code& code, const std::vector<bool>& dead) {
  std::vector<std::size_t> position(code.size() + 1);
  std::size_t kept = 0;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    position[pc] = kept;
    kept += dead[pc] ? 0 : 1;
  }
  position[code.size()] = kept;
  const auto moved = [&](std::size_t to) { return position[std::min(to, code.size())]; };
  std::size_t at = 0;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    if (dead[pc]) continue;
    code[at++] = Line{code[pc].insn, moved(code[pc].yes), moved(code[pc].no)};
  }
  code.resize(kept);
}

}  // namespace

Code lines_of(ProgramView program) {
  Code code(program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    code[pc].insn = in;
    if (is_jump(in)) code[pc].yes = jump_target(pc, in, true);
    if (is_conditional(in)) code[pc].no = jump_target(pc, in, false);
  }
  return code;
}

bool write_lines(const Code& code, Program& out) {
  out.resize(code.size());
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const Line& line = code[pc];
    Insn in = line.insn;
    if (is_jump(in)) {
      if (!can_jump(code, pc)) return false;
      if (in.code == kJa) {
        in.k = static_cast<std::uint32_t>(line.yes - pc - 1);
      } else {
        if (line.yes - pc > kReach || line.no - pc > kReach) return false;
        in.jt = static_cast<std::uint8_t>(line.yes - pc - 1);
        in.jf = static_cast<std::uint8_t>(line.no - pc - 1);
      }
    }
    out[pc] = in;
  }
  return true;
}

// Goes from the end to the front, because a jump's length depends on all later code.
bool write_lines_far(const Code& code, Program& out) {
  if (write_lines(code, out)) return true;
  std::vector<std::size_t> length(code.size());  // by line: length of the program from there on
  out.clear();
  for (std::size_t pc = code.size(); pc-- > 0;) {
    const Line& line = code[pc];
    Insn in = line.insn;
    if (is_jump(in)) {
      if (!can_jump(code, pc)) return false;
      if (in.code == kJa) {
        in.k = static_cast<std::uint32_t>(out.size() - length[line.yes]);
      } else {
        std::size_t yes = length[line.yes];
        std::size_t no = length[line.no];
        // A JA for one target moves the other target, so the loop checks the first target again.
        for (std::size_t* const to : {&yes, &no, &yes}) {
          if (out.size() - *to < kReach) continue;
          out.push_back(Insn{kJa, 0, 0, static_cast<std::uint32_t>(out.size() - *to)});
          *to = out.size();
        }
        in.jt = static_cast<std::uint8_t>(out.size() - yes);
        in.jf = static_cast<std::uint8_t>(out.size() - no);
      }
    }
    out.push_back(in);
    length[pc] = out.size();
  }
  std::ranges::reverse(out);
  return true;
}

void erase_lines(Code& code, std::size_t begin, std::size_t end, std::size_t target) {
  const std::size_t gone = end - begin;
  const auto moved = [&](std::size_t to) {
    if (to < begin) return to;
    return (to < end ? target : to) - gone;
  };
  code.erase(code.begin() + static_cast<std::ptrdiff_t>(begin),
             code.begin() + static_cast<std::ptrdiff_t>(end));
  for (Line& line : code) {
    line.yes = moved(line.yes);
    line.no = moved(line.no);
  }
}

void insert_lines(Code& code, std::size_t at, const Code& lines) {
  for (Line& line : code) {
    if (line.yes >= at) line.yes += lines.size();
    if (line.no >= at) line.no += lines.size();
  }
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(at), lines.begin(), lines.end());
}

std::vector<bool> reached_lines(const Code& code) {
  std::vector<bool> reached(code.size() + 1, false);
  reached[0] = true;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    if (!reached[pc] || is_ret(code[pc].insn)) continue;
    if (!is_jump(code[pc].insn)) reached[pc + 1] = true;
    if (is_jump(code[pc].insn)) reached[std::min(code[pc].yes, code.size())] = true;
    if (is_conditional(code[pc].insn)) reached[std::min(code[pc].no, code.size())] = true;
  }
  reached.resize(code.size());
  return reached;
}

void erase_unreached(Code& code, const std::vector<bool>& keep) {
  std::vector<bool> dead = reached_lines(code);
  dead.flip();
  for (std::size_t pc = 0; pc < keep.size(); ++pc) dead[pc] = dead[pc] && !keep[pc];
  erase_marked(code, dead);
}

}  // namespace secequiv::detail
