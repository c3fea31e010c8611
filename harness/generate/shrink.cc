#include "harness/generate/shrink.h"

#include <algorithm>
#include <array>
#include <span>

#include "harness/bpf/refusal.h"
#include "harness/generate/edit.h"
#include "harness/generate/reduction.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using detail::Code;
using detail::holds_number;
using detail::Line;

// The opcodes, the simplest one first. A reduction may replace an opcode by an earlier one.
constexpr std::array<std::uint16_t, 43> kSimplestFirst = {
    kRetK,  kLdImm, kLdxImm, kLdWAbs, kTax,  kTxa,  kJa,   kJeqK,  kJgtK, kJgeK, kJsetK,
    kAddK,  kSubK,  kAndK,   kOrK,    kXorK, kLshK, kRshK, kMulK,  kDivK, kNeg,  kAddX,
    kSubX,  kAndX,  kOrX,    kXorX,   kLshX, kRshX, kMulX, kDivX,  kRetA, kSt,   kStx,
    kLdMem, kLdLen, kLdxMem, kLdxLen, kJeqX, kJgtX, kJgeX, kJsetX, kModK, kModX};

constexpr std::array<std::uint8_t, 256> kRank = [] {
  std::array<std::uint8_t, 256> out{};
  out.fill(kSimplestFirst.size());
  for (std::size_t i = 0; i < kSimplestFirst.size(); ++i)
    out[kSimplestFirst[i]] = static_cast<std::uint8_t>(i);
  return out;
}();

// Fewer instructions are simpler, then simpler opcodes, then smaller numbers in all fields. Every
// reduction lowers the cost, so shrinking ends.
struct ProgramCost {
  std::size_t length = 0;
  std::uint64_t rest = 0;

  friend auto operator<=>(const ProgramCost&, const ProgramCost&) = default;
};

ProgramCost cost_of(ProgramView program) {
  ProgramCost out{program.size(), 0};
  for (const Insn& in : program)
    out.rest += (std::uint64_t{kRank[in.code & 0xff]} << 40) + in.k + in.jt + in.jf;
  return out;
}

struct ProgramSubject {
  explicit ProgramSubject(Program of)
      : program(std::move(of)),
        code(detail::lines_of(program)),
        cost(cost_of(program)),
        reached(detail::reached_lines(code)) {}

  Program program;
  Code code;
  ProgramCost cost;
  std::vector<bool> reached;
};

using ProgramVisit = detail::Visit<Program>;

// Visits `code` as a program if the kernel accepts it and it is simpler than `from`.
bool offer(const ProgramSubject& from, const Code& code, const ProgramVisit& visit) {
  Program program;
  if (code.empty() || !detail::write_lines(code, program)) return false;
  if (cost_of(program) >= from.cost || refusal_of(program, LengthRule::kUnlimited)) return false;
  return visit(program);
}

// Visits `from` with one line changed. It first tries the version that also lacks the lines that
// the change makes unreachable.
bool offer_line(const ProgramSubject& from, std::size_t pc, const Line& line,
                const ProgramVisit& visit) {
  Code code = from.code;
  code[pc] = line;
  if (is_jump(from.code[pc].insn) || is_ret(line.insn)) {
    std::vector<bool> keep = from.reached;
    keep.flip();
    Code less = code;
    detail::erase_unreached(less, keep);
    if (less.size() < code.size() && offer(from, less, visit)) return true;
  }
  return offer(from, code, visit);
}

Line ret(std::uint32_t value) { return Line{Insn{kRetK, 0, 0, value}, 0, 0}; }

std::size_t each_line(const ProgramSubject& subject) { return subject.program.size(); }

// Long ranges overlap by half. Short ranges start at every instruction.
std::size_t step(std::size_t length) { return length <= 8 ? 1 : length / 2; }
template <std::size_t length>
std::size_t ranges(const ProgramSubject& subject) {
  const std::size_t size = subject.program.size();
  return length < size ? (size - length) / step(length) + 1 : 0;
}
template <std::size_t length>
bool delete_range(const ProgramSubject& from, std::size_t place, const ProgramVisit& visit) {
  const std::size_t begin = place * step(length);
  Code code = from.code;
  detail::erase_lines(code, begin, begin + length, begin + length);
  return offer(from, code, visit);
}

std::size_t once(const ProgramSubject& /*subject*/) { return 1; }
bool delete_unreached(const ProgramSubject& from, std::size_t /*place*/,
                      const ProgramVisit& visit) {
  Code code = from.code;
  detail::erase_unreached(code, {});
  return offer(from, code, visit);
}

// Replaces the rest of the program by one RET.
bool end_here(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  Code code(from.code.begin(), from.code.begin() + static_cast<std::ptrdiff_t>(pc));
  for (Line& line : code) {
    line.yes = std::min(line.yes, pc);
    line.no = std::min(line.no, pc);
  }
  for (const Insn& in : {Insn{kRetK, 0, 0, SECCOMP_RET_KILL_THREAD},
                         Insn{kRetK, 0, 0, SECCOMP_RET_ALLOW}, Insn{kRetA, 0, 0, 0}}) {
    code.push_back(Line{in});
    if (offer(from, code, visit)) return true;
    code.pop_back();
  }
  return false;
}

// Deletes everything from a jump to its target.
bool delete_jumped(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  const Line& line = from.code[pc];
  if (!is_jump(line.insn)) return false;
  for (const std::size_t to : {line.yes, line.no}) {
    if (to <= pc) continue;
    Code code = from.code;
    detail::erase_lines(code, pc, to, to);
    if (offer(from, code, visit)) return true;
  }
  return false;
}

// Deletes a JA. Jumps to it go to its target instead.
bool bypass(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  const Line& line = from.code[pc];
  if (line.insn.code != kJa) return false;
  Code code = from.code;
  detail::erase_lines(code, pc, pc + 1, line.yes);
  return offer(from, code, visit);
}

bool return_here(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  const Line& line = from.code[pc];
  if (line.insn.code == kRetK) return false;
  if (offer_line(from, pc, ret(SECCOMP_RET_KILL_THREAD), visit)) return true;
  if (offer_line(from, pc, ret(SECCOMP_RET_ALLOW), visit)) return true;
  if (!is_jump(line.insn)) return false;
  // RET A returns the tested value.
  if (offer_line(from, pc, Line{Insn{kRetA, 0, 0, 0}, 0, 0}, visit)) return true;
  for (const std::size_t to : {line.yes, line.no})
    if (to > pc && is_ret(from.code[to].insn) && offer_line(from, pc, from.code[to], visit))
      return true;
  return false;
}

bool jump_always(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  const Line& line = from.code[pc];
  if (!is_conditional(line.insn)) return false;
  for (const std::size_t to : {line.yes, line.no})
    if (offer_line(from, pc, Line{Insn{kJa, 0, 0, 0}, to, 0}, visit)) return true;
  return false;
}

// Returns whether a reduction may replace opcode `a` by `b`: both must be of the same kind.
bool same_kind(std::uint16_t a, std::uint16_t b) {
  const Insn first{a, 0, 0, 0};
  const Insn second{b, 0, 0, 0};
  if (is_jump(first) || is_jump(second)) return is_conditional(first) && is_conditional(second);
  const auto loads = [](std::uint16_t code) {
    return code == kLdImm || code == kLdWAbs || code == kLdMem || code == kLdLen || code == kTxa;
  };
  const auto loads_x = [](std::uint16_t code) {
    return code == kLdxImm || code == kLdxMem || code == kLdxLen || code == kTax;
  };
  const auto stores = [](std::uint16_t code) { return code == kSt || code == kStx; };
  const auto counts = [](std::uint16_t code) { return (code & 7) == 4; };  // BPF_ALU
  return (loads(a) && loads(b)) || (loads_x(a) && loads_x(b)) || (stores(a) && stores(b)) ||
         (counts(a) && counts(b));
}

bool simpler_opcode(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  Line line = from.code[pc];
  const Insn in = line.insn;
  // A load of 0 is the simplest instruction that does not end the program.
  if (!is_jump(in) && !is_ret(in)) {
    line.insn = Insn{kLdImm, 0, 0, 0};
    if (offer_line(from, pc, line, visit)) return true;
  }
  for (const std::uint16_t code : kSimplestFirst) {
    if (kRank[code] >= kRank[in.code & 0xff] || !same_kind(code, in.code)) continue;
    for (const std::uint32_t k : {in.k, 0u, 1u}) {
      line.insn = Insn{code, in.jt, in.jf, k};
      if (offer_line(from, pc, line, visit)) return true;
    }
  }
  return false;
}

bool smaller_number(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  Line line = from.code[pc];
  if (!holds_number(line.insn)) return false;
  return detail::simpler_numbers(from.code[pc].insn.k, [&](std::uint64_t smaller) {
    line.insn.k = static_cast<std::uint32_t>(smaller);
    return offer_line(from, pc, line, visit);
  });
}

// Visits the code with `to` in place of `k` in all lines for which `is` holds.
template <class Is>
bool replace_all(const ProgramSubject& from, std::uint32_t k, std::uint32_t to, const Is& is,
                 const ProgramVisit& visit) {
  Code code = from.code;
  for (Line& line : code)
    if (is(line.insn) && line.insn.k == k) line.insn.k = to;
  return offer(from, code, visit);
}

// Replaces all equal numbers at once, because the failure may need two equal numbers.
bool smaller_same_numbers(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  const Insn in = from.program[pc];
  if (!holds_number(in)) return false;
  return detail::simpler_numbers(in.k, [&](std::uint64_t to) {
    return replace_all(from, in.k, static_cast<std::uint32_t>(to), holds_number, visit);
  });
}

bool is_load(const Insn& in) { return in.code == kLdWAbs; }
bool uses_scratch(const Insn& in) { return insn_info(in.code)->operand == Operand::Mem; }

// Gives input words and scratch words smaller numbers, here or everywhere.
bool smaller_word(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  Line line = from.code[pc];
  const bool load = is_load(line.insn);
  if (!load && !uses_scratch(line.insn)) return false;
  const std::uint32_t old = line.insn.k;
  for (std::uint32_t k = 0; k < old; k += load ? 4 : 1) {
    if (replace_all(from, old, k, load ? is_load : uses_scratch, visit)) return true;
    line.insn.k = k;
    if (offer_line(from, pc, line, visit)) return true;
  }
  return false;
}

bool closer_target(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  Line line = from.code[pc];
  if (!is_jump(line.insn)) return false;
  for (std::size_t Line::* const target : {&Line::yes, &Line::no}) {
    const std::size_t old = line.*target;
    const auto go = [&](std::size_t to) {
      line.*target = to;
      return offer_line(from, pc, line, visit);
    };
    if (old <= pc + 1) continue;
    if (go(pc + 1) || go(pc + 1 + (old - pc) / 2) || go(old - 1)) return true;
    for (std::size_t to = pc + 2; to + 1 < old; ++to)
      if (is_ret(from.code[to].insn) && go(to)) return true;
    line.*target = old;
  }
  return false;
}

bool clear_unused(const ProgramSubject& from, std::size_t pc, const ProgramVisit& visit) {
  Line line = from.code[pc];
  const Insn in = line.insn;
  if (!is_conditional(in)) line.insn.jt = line.insn.jf = 0;
  switch (insn_info(in.code)->operand) {
    case Operand::None:
    case Operand::Len:
    case Operand::Reg:
    case Operand::Acc:
    case Operand::CondReg:
      line.insn.k = 0;
      break;
    default:
      break;
  }
  return line.insn != in && offer_line(from, pc, line, visit);
}

using ProgramReduction = detail::Reduction<ProgramSubject, Program>;

// Reductions that delete many instructions come first.
constexpr std::array kProgramReductions = {
    ProgramReduction{ranges<2048>, delete_range<2048>},
    ProgramReduction{ranges<1024>, delete_range<1024>},
    ProgramReduction{ranges<512>, delete_range<512>},
    ProgramReduction{ranges<256>, delete_range<256>},
    ProgramReduction{ranges<128>, delete_range<128>},
    ProgramReduction{ranges<64>, delete_range<64>},
    ProgramReduction{ranges<32>, delete_range<32>},
    ProgramReduction{ranges<16>, delete_range<16>},
    ProgramReduction{once, delete_unreached},
    ProgramReduction{ranges<8>, delete_range<8>},
    ProgramReduction{ranges<4>, delete_range<4>},
    ProgramReduction{ranges<2>, delete_range<2>},
    ProgramReduction{ranges<1>, delete_range<1>},
    ProgramReduction{each_line, delete_jumped},
    ProgramReduction{each_line, bypass},
    ProgramReduction{each_line, end_here},
    ProgramReduction{each_line, return_here},
    ProgramReduction{each_line, jump_always},
    ProgramReduction{each_line, clear_unused},
    ProgramReduction{each_line, simpler_opcode},
    ProgramReduction{each_line, closer_target},
    ProgramReduction{each_line, smaller_word},
    ProgramReduction{each_line, smaller_same_numbers},
    ProgramReduction{each_line, smaller_number},
};

std::uint64_t program_hash(ProgramView program) {
  std::uint64_t hash = program.size();
  for (const Insn& in : program) {
    hash ^= (std::uint64_t{in.code} << 48) ^ (std::uint64_t{in.jt} << 40) ^
            (std::uint64_t{in.jf} << 32) ^ in.k;
    hash *= 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

ShrunkProgram shrink(const Program& program, const std::function<bool(ProgramView)>& still,
                     ShrinkLimits limits) {
  // The hash recognizes programs that were tried already. Two different programs have the same hash
  // with probability 2^-64; then one of them is not tried.
  return detail::shrink(std::span<const ProgramReduction>(kProgramReductions), program, still,
                        program_hash, limits);
}

std::uint16_t simplest_like(std::uint16_t code) {
  return *std::ranges::find_if(kSimplestFirst, [&](std::uint16_t simpler) {
    return simpler == code || same_kind(simpler, code);
  });
}

bool any_reduction(const Program& program, const std::function<bool(const Program&)>& visit) {
  return detail::any_of(std::span<const ProgramReduction>(kProgramReductions),
                        ProgramSubject(program), visit);
}

}  // namespace secequiv
