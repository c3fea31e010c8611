#include "harness/compare/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"

namespace secequiv {
namespace {

// Each group contains interchangeable instructions. Each other member of the group gives a mutant.
constexpr std::uint16_t kCompare[] = {kJeqK, kJgtK, kJgeK, kJsetK, kJeqX, kJgtX, kJgeX, kJsetX};
constexpr std::uint16_t kAlu[] = {kAddK, kSubK, kMulK, kDivK, kAndK, kOrK,  kXorK,
                                  kLshK, kRshK, kAddX, kSubX, kMulX, kDivX, kAndX,
                                  kOrX,  kXorX, kLshX, kRshX, kNeg};
constexpr std::uint16_t kLoadImm[] = {kLdImm, kLdxImm};
constexpr std::uint16_t kLoadLen[] = {kLdLen, kLdxLen};
constexpr std::uint16_t kLoadMem[] = {kLdMem, kLdxMem};
constexpr std::uint16_t kStore[] = {kSt, kStx};
constexpr std::uint16_t kMove[] = {kTax, kTxa};
constexpr std::uint16_t kReturns[] = {kRetK, kRetA};
constexpr std::span<const std::uint16_t> kGroups[] = {kCompare, kAlu,   kLoadImm, kLoadLen,
                                                      kLoadMem, kStore, kMove,    kReturns};

std::span<const std::uint16_t> group_of(std::uint16_t code) {
  for (const auto group : kGroups)
    if (std::ranges::find(group, code) != group.end()) return group;
  return {};
}

Operand operand(const Insn& in) { return insn_info(in.code)->operand; }

// Returns whether the operand is a number to compute with, not an address or a jump offset.
bool has_immediate(const Insn& in) {
  return in.code != kRetK && (operand(in) == Operand::Imm || operand(in) == Operand::CondImm);
}

// Precondition: `in` is a jump, and the offset fits its field.
void set_offset(Insn& in, bool taken, std::size_t offset) {
  if (in.code == kJa) {
    in.k = static_cast<std::uint32_t>(offset);
  } else {
    (taken ? in.jt : in.jf) = static_cast<std::uint8_t>(offset);
  }
}

Program without(ProgramView program, std::size_t dead) {
  Program out;
  out.reserve(program.size());
  const auto moved = [&](std::size_t pc) { return pc - (pc > dead ? 1 : 0); };
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (pc == dead) continue;
    Insn in = program[pc];
    for (const bool taken : {true, false})
      if (is_jump(in) && (taken || in.code != kJa))
        set_offset(in, taken, moved(jump_target(pc, program[pc], taken)) - moved(pc) - 1);
    out.push_back(in);
  }
  return out;
}

std::uint64_t hash(ProgramView program) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const Insn& in : program) {
    h = (h ^ (std::uint64_t{in.k} << 32 | std::uint64_t{in.code} << 16 | std::uint64_t{in.jt} << 8 |
              in.jf)) *
        0x100000001b3;
    h ^= h >> 31;
  }
  return h;
}

class Lister {
 public:
  explicit Lister(ProgramView program)
      : program_(program), scratch_(program.begin(), program.end()) {
    for (const Insn& in : program)
      if (in.code == kRetK) returned_.insert(in.k);
  }

  Mutants list() {
    out_.complete =
        memory_fits(program_.size() * (sizeof(decltype(changes_)::value_type) + kBytesPerInsn));
    if (stopped()) return std::move(out_);
    changes_.resize(program_.size());
    for (std::size_t pc = 0; pc < program_.size() && !stopped(); ++pc) change(pc);
    for (std::size_t pc = 0; pc < program_.size() && !stopped(); ++pc) leave_out(pc);
    for (std::size_t pc = 0; pc + 1 < program_.size() && !stopped(); ++pc) swap(pc);
    std::ranges::sort(out_.accepted, {}, [](const Mutant& m) {
      return std::tuple(m.pc, m.op, m.changed.code, m.changed.k, m.changed.jt, m.changed.jf);
    });
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kBytesPerInsn = 12 * sizeof(Mutant);  // and usually more

  // Each instruction has dozens of mutants, and the check reads the whole program for each.
  bool stopped() {
    out_.complete = out_.complete && !stop_wanted();
    return !out_.complete;
  }

  void change(std::size_t pc) {
    const Insn& in = program_[pc];
    if (has_immediate(in)) constants(pc, MutationOperator::kConstant);
    if (in.code == kRetK) constants(pc, MutationOperator::kReturn);
    for (const std::uint16_t code : group_of(in.code)) {
      if (in.code == kRetA && code == kRetK) continue;  // its k is chosen below
      Insn other = in;
      other.code = code;
      offer(MutationOperator::kOpcode, pc, other);
    }
    if (is_ret(in))
      for (const std::uint32_t value : returned_) offer(MutationOperator::kReturn, pc, ret(value));
    if (is_jump(in)) targets(pc);
    if (operand(in) == Operand::Abs) operands(pc, kSeccompDataSize, 4);
    if (operand(in) == Operand::Mem) operands(pc, kMemWords, 1);
  }

  static Insn ret(std::uint32_t value) { return Insn{kRetK, 0, 0, value}; }

  void with_k(MutationOperator op, std::size_t pc, std::uint32_t k) {
    Insn in = program_[pc];
    in.k = k;
    offer(op, pc, in);
  }

  void constants(std::size_t pc, MutationOperator op) {
    const std::uint32_t k = program_[pc].k;
    for (std::uint32_t bit = 0; bit < 32; ++bit) with_k(op, pc, k ^ 1u << bit);
    with_k(op, pc, k - 1);
    with_k(op, pc, k + 1);
  }

  void operands(std::size_t pc, std::uint32_t end, std::uint32_t step) {
    for (std::uint32_t k = 0; k < end; k += step) with_k(MutationOperator::kLoad, pc, k);
  }

  void targets(std::size_t pc) {
    const Insn& in = program_[pc];
    const auto nearby = [&](bool taken, std::uint32_t offset, std::uint32_t most) {
      Insn other = in;
      if (offset > 0) {
        set_offset(other, taken, offset - 1);
        offer(MutationOperator::kTarget, pc, other);
      }
      if (offset < most) {
        set_offset(other, taken, offset + 1);
        offer(MutationOperator::kTarget, pc, other);
      }
    };
    if (in.code == kJa) {
      nearby(true, in.k, 0xffffffff);
      return;
    }
    nearby(true, in.jt, 0xff);
    nearby(false, in.jf, 0xff);
    Insn swapped = in;
    std::swap(swapped.jt, swapped.jf);
    offer(MutationOperator::kTarget, pc, swapped);
  }

  // Adds a change of one instruction, unless an earlier one gives the same program.
  void offer(MutationOperator op, std::size_t pc, const Insn& changed) {
    if (changed == program_[pc] || known(pc, changed)) return;
    changes_[pc].push_back(changed);
    const Insn original = std::exchange(scratch_[pc], changed);
    accept(Mutant{op, pc, changed, {}}, scratch_);
    scratch_[pc] = original;
  }

  [[nodiscard]] bool known(std::size_t pc, const Insn& changed) const {
    return std::ranges::find(changes_[pc], changed) != changes_[pc].end();
  }

  // Deleting either of two equal neighbours gives the same program, which counts once.
  void leave_out(std::size_t pc) {
    const Program shorter = without(program_, pc);
    const auto [first, end] = shorter_.equal_range(hash(shorter));
    for (auto at = first; at != end; ++at)
      if (without(program_, at->second) == shorter) return;
    shorter_.emplace(hash(shorter), pc);
    accept(Mutant{MutationOperator::kDelete, pc, {}, {}}, shorter);
  }

  void swap(std::size_t pc) {
    Mutant mutant{MutationOperator::kSwap, pc, program_[pc + 1], program_[pc]};
    // The instruction that moves up is now one instruction farther from its targets. The other one
    // is one instruction nearer to its targets. A jump to the next instruction cannot move down.
    for (const bool taken : {true, false}) {
      if (is_jump(mutant.changed) && (taken || mutant.changed.code != kJa)) {
        const std::uint64_t distance = jump_target(0, program_[pc + 1], taken);
        if (mutant.changed.code != kJa && distance > 0xff) return;
        set_offset(mutant.changed, taken, distance);
      }
      if (is_jump(mutant.next) && (taken || mutant.next.code != kJa)) {
        const std::uint64_t distance = jump_target(0, program_[pc], taken);
        if (distance == 1) return;
        set_offset(mutant.next, taken, distance - 2);
      }
    }
    const bool same_first = mutant.changed == program_[pc];
    const bool same_second = mutant.next == program_[pc + 1];
    if (same_first && (same_second || known(pc + 1, mutant.next))) return;
    if (same_second && known(pc, mutant.changed)) return;
    scratch_[pc] = mutant.changed;
    scratch_[pc + 1] = mutant.next;
    accept(mutant, scratch_);
    scratch_[pc] = program_[pc];
    scratch_[pc + 1] = program_[pc + 1];
  }

  void accept(const Mutant& mutant, ProgramView made) {
    if (refusal_of(made, LengthRule::kUnlimited)) {
      ++out_.refused[static_cast<std::size_t>(mutant.op)];
    } else {
      out_.accepted.push_back(mutant);
    }
  }

  ProgramView program_;
  Program scratch_;
  std::set<std::uint32_t> returned_;
  std::vector<std::vector<Insn>> changes_;  // replacements of one instruction, by pc
  // The deleted instruction's index, by the hash of the program without it.
  std::unordered_multimap<std::uint64_t, std::size_t> shorter_;
  Mutants out_;
};

}  // namespace

std::string_view operator_name(MutationOperator op) {
  static constexpr std::string_view kNames[] = {"constant", "opcode", "target", "load",
                                                "return",   "delete", "swap"};
  return kNames[static_cast<std::size_t>(op)];
}

Program mutated(ProgramView program, const Mutant& mutant) {
  if (mutant.op == MutationOperator::kDelete) return without(program, mutant.pc);
  Program out(program.begin(), program.end());
  out[mutant.pc] = mutant.changed;
  if (mutant.op == MutationOperator::kSwap) out[mutant.pc + 1] = mutant.next;
  return out;
}

std::span<const std::size_t> sites(const Mutant& mutant, std::array<std::size_t, 2>& storage) {
  storage = {mutant.pc, mutant.pc + 1};
  return std::span(storage).first(mutant.op == MutationOperator::kSwap ? 2 : 1);
}

std::string describe(const Mutant& mutant, ProgramView program) {
  const std::string was = insn_text(program, mutant.pc);
  if (mutant.op == MutationOperator::kDelete) return was + " left out";
  if (mutant.op == MutationOperator::kSwap)
    return fmt::format("{} swapped with {}", was, insn_text(program, mutant.pc + 1));
  return fmt::format("{} becomes {}", was, insn_text(mutated(program, mutant), mutant.pc));
}

Mutants mutants_of(ProgramView program) { return Lister(program).list(); }

}  // namespace secequiv
