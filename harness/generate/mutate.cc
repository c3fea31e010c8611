#include "harness/generate/mutate.h"

#include <algorithm>
#include <array>

#include "harness/bpf/refusal.h"
#include "harness/generate/edit.h"

namespace secequiv {
namespace {

using detail::Code;
using detail::holds_number;
using detail::Line;

constexpr std::array<std::uint32_t, 10> kReplacements = {
    0, 1, 0x80, 0xffff, 0x10000, 0x7fff0000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

class ProgramMutator {
 public:
  ProgramMutator(Random& random, ProgramView program, ProgramView donor)
      : random_(random), code_(detail::lines_of(program)), donor_(donor) {}

  // Makes one change. The result may be illegal.
  void change() {
    using Self = ProgramMutator;
    static constexpr std::array kChanges = {
        &Self::change_number, &Self::change_number, &Self::change_word, &Self::change_target,
        &Self::change_target, &Self::change_opcode, &Self::insert,      &Self::erase,
        &Self::repeat_block,  &Self::repeat_block,  &Self::take_block,  &Self::splice,
        &Self::change_return, &Self::move_block};
    (this->*random_.pick(kChanges))();
  }

  Code& code() { return code_; }

 private:
  std::size_t any() { return random_.below(code_.size()); }
  // Returns the first line, from a random line on, for which `is` holds. Returns the random line if
  // it holds for none.
  template <class Is>
  std::size_t any(const Is& is) {
    const std::size_t start = any();
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const std::size_t pc = (start + i) % code_.size();
      if (is(code_[pc].insn)) return pc;
    }
    return start;
  }

  std::uint32_t near(std::uint32_t k) {
    switch (random_.below(6)) {
      case 0:
        return k + 1;
      case 1:
        return k - 1;
      case 2:
        return k ^ 1u << random_.below(32);
      case 3:
        return random_.pick(kReplacements);
      case 4:
        return code_[any(holds_number)].insn.k;
      default:
        return random_.one_in(4) ? random_.word() : k ^ 0x80000000;
    }
  }

  void change_number() {
    Insn& in = code_[any(holds_number)].insn;
    if (holds_number(in)) in.k = near(in.k);
  }

  void change_word() {
    Insn& in = code_[any([](const Insn& insn) { return insn.code == kLdWAbs; })].insn;
    if (in.code == kLdWAbs)
      in.k = random_.one_in(2) ? in.k ^ 4 : 4 * static_cast<std::uint32_t>(random_.below(16));
  }

  void change_target() {
    const std::size_t pc = any(is_jump);
    Line& line = code_[pc];
    if (!is_jump(line.insn)) return;
    if (random_.one_in(4)) return std::swap(line.yes, line.no);
    std::size_t& target = random_.one_in(2) || line.insn.code == kJa ? line.yes : line.no;
    switch (random_.below(4)) {
      case 0:
        ++target;
        break;
      case 1:
        --target;
        break;
      case 2:
        target = random_.one_in(2) ? line.yes : line.no;
        break;
      default:
        target = pc + 1 + random_.below(std::min<std::size_t>(code_.size(), 200));
    }
  }

  void change_opcode() {
    static constexpr std::array<std::uint16_t, 8> kTests = {kJeqK, kJgtK, kJgeK, kJsetK,
                                                            kJeqX, kJgtX, kJgeX, kJsetX};
    static constexpr std::array<std::uint16_t, 19> kCounts = {
        kAddK, kAddX, kSubK, kSubX, kMulK, kMulX, kDivK, kDivX, kAndK, kAndX,
        kOrK,  kOrX,  kXorK, kXorX, kLshK, kLshX, kRshK, kRshX, kNeg};
    static constexpr std::array<std::uint16_t, 7> kMoves = {kTax,   kTxa,   kLdImm, kLdxImm,
                                                            kLdLen, kLdMem, kLdxMem};
    Insn& in = code_[any()].insn;
    if (is_conditional(in)) {
      in.code = random_.pick(kTests);
    } else if ((in.code & 7) == 4) {  // BPF_ALU
      in.code = random_.pick(kCounts);
    } else if (in.code == kSt || in.code == kStx) {
      in.code = in.code == kSt ? kStx : kSt;
    } else if (!is_jump(in) && !is_ret(in)) {
      in.code = random_.pick(kMoves);
    }
  }

  // Inserts lines before line `at`. Half of the time, jumps to that line now execute the inserted
  // lines too.
  void put(const Code& lines, std::size_t at) {
    detail::insert_lines(code_, at, lines);
    if (random_.one_in(2)) return;
    for (std::size_t pc = 0; pc < at; ++pc)
      for (std::size_t* const target : {&code_[pc].yes, &code_[pc].no})
        if (*target == at + lines.size()) *target = at;
  }

  void insert() {
    static constexpr std::array<std::uint16_t, 12> kCodes = {
        kLdWAbs, kLdWAbs, kSt, kStx, kLdMem, kLdxMem, kTax, kTxa, kLdImm, kLdxImm, kAndK, kAddX};
    const std::size_t at = any();
    Line line{Insn{random_.pick(kCodes), 0, 0, 0}};
    switch (insn_info(line.insn.code)->operand) {
      case Operand::Abs:
        line.insn.k = 4 * static_cast<std::uint32_t>(random_.below(16));
        break;
      case Operand::Mem:
        line.insn.k = static_cast<std::uint32_t>(random_.below(3));
        break;
      case Operand::Imm:
        line.insn.k = near(0);
        break;
      default:
        break;
    }
    if (random_.one_in(4)) {
      line.insn = Insn{random_.one_in(2) ? kJa : kJeqK, 0, 0, near(0)};
      line.yes =
          at + 1 +
          random_.below(random_.one_in(2) ? 1 : std::min<std::size_t>(code_.size() - at, 100));
      line.no = at + 1;
    }
    put({line}, at);
  }

  void erase() {
    const std::size_t at = any();
    const std::size_t end =
        std::min(code_.size(), at + (random_.one_in(2) ? 1 : random_.between(1, 8)));
    detail::erase_lines(code_, at, end, end);
  }

  // Copies a block of the donor or of this program. Jumps out of it go anywhere.
  void take_block() {
    const Code donor = donor_.empty() || random_.one_in(3) ? code_ : detail::lines_of(donor_);
    const std::size_t begin = random_.below(donor.size());
    const std::size_t length = std::min(donor.size() - begin, random_.between(1, 16));
    const std::size_t at = any();
    Code block(donor.begin() + static_cast<std::ptrdiff_t>(begin),
               donor.begin() + static_cast<std::ptrdiff_t>(begin + length));
    for (Line& line : block)
      for (std::size_t* const target : {&line.yes, &line.no})
        *target = *target < begin + length
                      ? *target + at - begin
                      : at + length + random_.below(std::min<std::size_t>(code_.size() - at, 100));
    put(block, at);
  }

  void change_return() {
    const std::size_t pc = random_.one_in(2) ? any() : any(is_ret);
    const Insn other = code_[any(is_ret)].insn;
    Insn& in = code_[pc].insn;
    if (!is_ret(in)) {
      in = other;
    } else if (in.code == kRetA) {
      in = Insn{kRetK, 0, 0, other.k};
    } else if (random_.one_in(4)) {
      in = Insn{kRetA, 0, 0, 0};
    } else {
      in.k = random_.one_in(2) ? other.k : in.k ^ 1u << random_.below(32);
    }
  }

  // Continues the list of equal-shaped entries that starts at a random place. The numbers of the
  // new entries continue the sequence, mostly with one exception. Sometimes appends hundreds of
  // lines, and seldom hundreds of entries.
  void repeat_block() {
    const std::size_t begin = any();
    const std::size_t length = std::min(code_.size() - begin, random_.between(1, 8));
    std::size_t last = begin;
    while (last + 2 * length <= code_.size() && same_shape(last, last + length, length))
      last += length;
    const std::size_t end = last + length;
    const std::size_t wanted = random_.one_in(8)
                                   ? random_.between(50, 600) / (random_.one_in(8) ? 1 : length)
                                   : random_.between(1, 4);
    const std::size_t copies =
        std::min(wanted, (std::max(kMaxInsns, code_.size()) - code_.size()) / length);
    if (copies == 0) return;
    const Code entry(code_.begin() + static_cast<std::ptrdiff_t>(last),
                     code_.begin() + static_cast<std::ptrdiff_t>(end));
    const Code before = last > begin
                            ? Code(code_.begin() + static_cast<std::ptrdiff_t>(last - length),
                                   code_.begin() + static_cast<std::ptrdiff_t>(last))
                            : Code();
    // Targets that the entries share stay where they are.
    const auto shared = [&](std::size_t i, std::size_t Line::* member) {
      return before.empty() ? entry[i].*member > end : entry[i].*member == before[i].*member;
    };
    Code lines;
    lines.reserve(copies * length);
    for (std::size_t n = 1; n <= copies; ++n)
      for (std::size_t i = 0; i < length; ++i) {
        Line line = entry[i];
        const std::uint32_t step = before.empty() ? std::uint32_t{is_conditional(line.insn)}
                                                  : line.insn.k - before[i].insn.k;
        if (holds_number(line.insn)) line.insn.k += static_cast<std::uint32_t>(n) * step;
        for (std::size_t Line::* const member : {&Line::yes, &Line::no})
          line.*member += (shared(i, member) ? copies : n) * length;
        lines.push_back(line);
      }
    Line& changed = lines[random_.below(lines.size())];
    if (holds_number(changed.insn) && !random_.one_in(3)) changed.insn.k = near(changed.insn.k);
    detail::insert_lines(code_, end, lines);
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t Line::* const member : {&Line::yes, &Line::no})
        if (!shared(i, member)) code_[last + i].*member = entry[i].*member;
  }
  bool same_shape(std::size_t a, std::size_t b, std::size_t length) const {
    return std::equal(code_.begin() + static_cast<std::ptrdiff_t>(a),
                      code_.begin() + static_cast<std::ptrdiff_t>(a + length),
                      code_.begin() + static_cast<std::ptrdiff_t>(b),
                      [](const Line& x, const Line& y) { return x.insn.code == y.insn.code; });
  }

  // Appends the end of the donor to the start of the program.
  void splice() {
    const Code donor = donor_.empty() ? code_ : detail::lines_of(donor_);
    const std::size_t cut = any() + 1;
    const std::size_t from = random_.below(donor.size());
    const std::size_t rest = donor.size() - from;
    code_.resize(cut);
    for (Line& line : code_)
      for (std::size_t* const target : {&line.yes, &line.no})
        if (*target > cut) *target = cut + (*target - cut) % rest;
    for (std::size_t i = from; i < donor.size(); ++i)
      code_.push_back(Line{donor[i].insn, donor[i].yes + cut - from, donor[i].no + cut - from});
  }

  // Exchanges two neighbouring blocks. Half of the time, jumps to their instructions follow them.
  void move_block() {
    const std::size_t begin = any();
    const std::size_t middle = begin + (random_.one_in(2) ? 1 : random_.between(1, 12));
    if (middle >= code_.size()) return;
    const std::size_t end =
        std::min(code_.size(), middle + (random_.one_in(2) ? 1 : random_.between(1, 12)));
    const auto at = [&](std::size_t i) { return code_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::rotate(at(begin), at(middle), at(end));
    if (random_.one_in(2)) return;
    for (Line& line : code_)
      for (std::size_t* const target : {&line.yes, &line.no}) {
        if (*target < begin || *target >= end) continue;
        *target += *target < middle ? end - middle : begin - middle;
      }
  }

  Random& random_;
  Code code_;
  ProgramView donor_;
};

}  // namespace

Program mutate_program(Random& random, ProgramView program, ProgramView donor) {
  Program out(program.begin(), program.end());
  const LengthRule rule = program.size() > kMaxInsns ? LengthRule::kUnlimited : LengthRule::kKernel;
  Program candidate;
  std::size_t wanted = random.between(1, 4);
  for (int tries = 0; wanted > 0 && tries < 32; ++tries) {
    ProgramMutator mutator(random, out, donor);
    mutator.change();
    if (mutator.code().empty() || !detail::write_lines_far(mutator.code(), candidate)) continue;
    if (candidate == out || refusal_of(candidate, rule)) continue;
    std::swap(out, candidate);
    --wanted;
  }
  return out;
}

}  // namespace secequiv
