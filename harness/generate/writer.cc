#include "harness/generate/writer.h"

namespace secequiv::detail {

namespace {
constexpr std::size_t kReach = 255;
}

Program Writer::finish() {
  Program out(lines_.size());
  for (std::size_t pc = 0; pc < lines_.size(); ++pc) {
    Insn in = lines_[pc].insn;
    if (is_jump(in)) {
      const std::size_t yes = target(pc, lines_[pc].yes) - pc - 1;
      const std::size_t no = target(pc, lines_[pc].no) - pc - 1;
      if (in.code == kJa) {
        in.k = static_cast<std::uint32_t>(yes);
      } else {
        if (yes > kReach || no > kReach) return finish_far();
        in.jt = static_cast<std::uint8_t>(yes);
        in.jf = static_cast<std::uint8_t>(no);
      }
    }
    out[pc] = in;
  }
  return out;
}

Program Writer::finish_far() {
  // Jumps that are too far get help, which makes others too far, until none is.
  std::vector<std::uint8_t> helped(lines_.size(), 0);  // bit 0: yes, bit 1: no
  std::vector<std::size_t> position(lines_.size() + 1, 0);
  const auto helpers = [&](std::size_t pc) {
    return std::size_t{(helped[pc] & 1u) + (helped[pc] >> 1u)};
  };
  for (bool changed = true; changed;) {
    for (std::size_t pc = 0; pc < lines_.size(); ++pc)
      position[pc + 1] = position[pc] + 1 + helpers(pc);
    changed = false;
    for (std::size_t pc = 0; pc < lines_.size(); ++pc) {
      if (!is_conditional(lines_[pc].insn)) continue;
      for (const unsigned bit : {1u, 2u}) {
        const std::size_t to = target(pc, bit == 1 ? lines_[pc].yes : lines_[pc].no);
        if ((helped[pc] & bit) != 0 || position[to] - position[pc] - 1 <= kReach) continue;
        helped[pc] |= static_cast<std::uint8_t>(bit);
        changed = true;
      }
    }
  }
  Program out;
  out.reserve(position.back());
  for (std::size_t pc = 0; pc < lines_.size(); ++pc) {
    Insn in = lines_[pc].insn;
    const std::size_t yes = position[target(pc, lines_[pc].yes)];
    const std::size_t no = position[target(pc, lines_[pc].no)];
    const std::size_t here = position[pc];
    if (in.code == kJa) in.k = static_cast<std::uint32_t>(yes - here - 1);
    if (!is_conditional(in)) {
      out.push_back(in);
      continue;
    }
    const bool help_yes = (helped[pc] & 1) != 0;
    const bool help_no = (helped[pc] & 2) != 0;
    in.jt = help_yes ? std::uint8_t{0} : static_cast<std::uint8_t>(yes - here - 1);
    in.jf = help_no ? std::uint8_t{help_yes} : static_cast<std::uint8_t>(no - here - 1);
    out.push_back(in);
    for (const auto& [help, to] : {std::pair(help_yes, yes), std::pair(help_no, no)})
      if (help) out.push_back(Insn{kJa, 0, 0, static_cast<std::uint32_t>(to - out.size() - 1)});
  }
  return out;
}

}  // namespace secequiv::detail
