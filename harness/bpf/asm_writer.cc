#include <fmt/format.h>

#include "harness/bpf/text.h"

namespace secequiv {
namespace {

std::string number(std::uint32_t k) {
  return k < 10 ? fmt::format("{}", k) : fmt::format("{:#x}", k);
}

// Returns whether the mnemonic form preserves every field: unused fields are 0 and targets lie
// inside the program. Otherwise only `.raw` preserves them.
bool canonical(ProgramView program, std::size_t pc, const InsnInfo& info) {
  const Insn& in = program[pc];
  switch (info.operand) {
    case Operand::CondImm:
    case Operand::CondReg:
      return (info.operand == Operand::CondImm || in.k == 0) &&
             jump_target(pc, in, true) < program.size() &&
             jump_target(pc, in, false) < program.size();
    case Operand::Target:
      return in.jt == 0 && in.jf == 0 && jump_target(pc, in, true) < program.size();
    case Operand::None:
    case Operand::Len:
    case Operand::Reg:
    case Operand::Acc:
      return in.jt == 0 && in.jf == 0 && in.k == 0;
    default:
      return in.jt == 0 && in.jf == 0;
  }
}

// `immediate` is the number or name after '#'.
std::string mnemonic_text(ProgramView program, std::size_t pc, const InsnInfo& info,
                          std::string_view immediate) {
  const Insn& in = program[pc];
  const std::string_view m = info.mnemonic;
  switch (info.operand) {
    case Operand::None:
      return std::string(m);
    case Operand::Imm:
      return fmt::format("{} #{}", m, immediate);
    case Operand::Abs:
      return fmt::format("{} [{}]", m, in.k);
    case Operand::Ind:
      return fmt::format("{} [x + {}]", m, in.k);
    case Operand::Msh:
      return fmt::format("{} 4*([{}]&0xf)", m, in.k);
    case Operand::Mem:
      return fmt::format("{} M[{}]", m, in.k);
    case Operand::Len:
      return fmt::format("{} #len", m);
    case Operand::Reg:
      return fmt::format("{} x", m);
    case Operand::Acc:
      return fmt::format("{} a", m);
    case Operand::Target:
      return fmt::format("{} L{}", m, jump_target(pc, in, true));
    case Operand::CondImm:
      return fmt::format("{} #{}, L{}, L{}", m, immediate, jump_target(pc, in, true),
                         jump_target(pc, in, false));
    case Operand::CondReg:
      return fmt::format("{} x, L{}, L{}", m, jump_target(pc, in, true),
                         jump_target(pc, in, false));
  }
  return {};
}

std::string raw_text(const Insn& in) {
  return fmt::format(".raw {:#x}, {}, {}, {}", in.code, in.jt, in.jf, number(in.k));
}

std::string text_of(ProgramView program, std::size_t pc, std::string_view immediate) {
  const InsnInfo* info = insn_info(program[pc].code);
  if (info == nullptr || !canonical(program, pc, *info)) return raw_text(program[pc]);
  return mnemonic_text(program, pc, *info, immediate);
}

}  // namespace

std::string insn_text(ProgramView program, std::size_t pc) {
  return text_of(program, pc, number(program[pc].k));
}

std::string write_symbolic(const SymbolicProgram& symbolic, std::span<const std::string> comments) {
  const Program& program = symbolic.program;
  std::vector<std::string> immediates;
  immediates.reserve(program.size());
  for (const Insn& in : program) immediates.push_back(number(in.k));
  for (const SymbolUse& use : symbolic.uses) immediates[use.pc] = "$" + use.name;
  std::vector<bool> labelled(program.size(), false);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const InsnInfo* info = insn_info(program[pc].code);
    if (info == nullptr || !is_jump(program[pc]) || !canonical(program, pc, *info)) continue;
    labelled[jump_target(pc, program[pc], true)] = true;
    labelled[jump_target(pc, program[pc], false)] = true;
  }
  std::string out;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const std::string label = labelled[pc] ? fmt::format("L{}:", pc) : "";
    const std::string text = text_of(program, pc, immediates[pc]);
    if (pc < comments.size() && !comments[pc].empty())
      out += fmt::format("{:<7} {:<32} ; {}\n", label, text, comments[pc]);
    else
      out += fmt::format("{:<7} {}\n", label, text);
  }
  return out;
}

}  // namespace secequiv
