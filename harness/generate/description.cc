#include "harness/generate/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "harness/bpf/flow.h"
#include "harness/bpf/liveness.h"

namespace secequiv {
namespace {

// The kinds of instructions. Each class of the group "pairs" consists of two of them. The last two
// kinds end a program.
constexpr std::array<const char*, 16> kKinds = {
    "ld word", "ld const", "ld M",  "ldx const", "ldx M",  "st", "stx",   "tax",
    "txa",     "alu k",    "alu x", "test k",    "test x", "ja", "ret k", "ret a"};
constexpr std::size_t kEnds = 2;

std::size_t kind_of(const Insn& in) {
  switch (in.code) {
    case kLdWAbs:
      return 0;
    case kLdImm:
    case kLdLen:
      return 1;
    case kLdMem:
      return 2;
    case kLdxImm:
    case kLdxLen:
      return 3;
    case kLdxMem:
      return 4;
    case kSt:
      return 5;
    case kStx:
      return 6;
    case kTax:
      return 7;
    case kTxa:
      return 8;
    case kJa:
      return 13;
    case kRetK:
      return 14;
    case kRetA:
      return 15;
    default:
      return (is_conditional(in) ? 11u : 9u) + (operand_is_x(in) ? 1u : 0u);
  }
}

constexpr std::array<std::uint16_t, 9> kOperations = {kAddK, kSubK, kMulK, kDivK, kOrK,
                                                      kAndK, kLshK, kRshK, kXorK};
constexpr std::array<std::uint32_t, 6> kOperands = {0, 1, 31, 32, 0x80000000, 0xffffffff};
constexpr std::uint16_t kFromX = kAddX ^ kAddK;  // BPF_X

// Ranges of numbers, given by their upper bounds; the last range has no bound.
constexpr std::array<std::size_t, 5> kDistances = {1, 2, 7, 31, ~std::size_t{0}};
constexpr std::array<std::size_t, 5> kConditional = {0, 15, 127, 253, ~std::size_t{0}};
constexpr std::array<std::size_t, 4> kAlways = {0, 15, 255, ~std::size_t{0}};
constexpr std::array<std::size_t, 5> kLive = {0, 1, 2, 4, ~std::size_t{0}};
constexpr std::array<std::size_t, 6> kLengths = {8, 32, 100, 300, 1000, ~std::size_t{0}};
constexpr std::array<std::size_t, 5> kEntries = {3, 15, 99, 255, ~std::size_t{0}};
constexpr std::array<const char*, 3> kRegisters = {"A", "X", "M"};

// The first index of each group of classes.
constexpr std::size_t kPairs = 0;
constexpr std::size_t kOperandsK = kPairs + (kKinds.size() - kEnds) * kKinds.size();
constexpr std::size_t kOperandsX = kOperandsK + kOperations.size() * kOperands.size();
constexpr std::size_t kUses = kOperandsX + kOperations.size() * kOperands.size();
constexpr std::size_t kJumps = kUses + kRegisters.size() * 2 * kDistances.size();
constexpr std::size_t kLongJumps = kJumps + kConditional.size();
constexpr std::size_t kScratch = kLongJumps + kAlways.size();
constexpr std::size_t kLists = kScratch + kLive.size();
constexpr std::size_t kLength = kLists + kEntries.size();
constexpr std::size_t kDead = kLength + kLengths.size();
constexpr std::size_t kAll = kDead + 2;

template <std::size_t n>
std::size_t range_of(const std::array<std::size_t, n>& bounds, std::size_t value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
}

template <std::size_t n>
std::string range_name(const std::array<std::size_t, n>& bounds, std::size_t i, std::size_t first) {
  const std::size_t low = i == 0 ? first : bounds[i - 1] + 1;
  if (i + 1 == n) return fmt::format("{}+", low);
  return low == bounds[i] ? fmt::format("{}", low) : fmt::format("{}-{}", low, bounds[i]);
}

// The kernel refuses a division by the constant 0 and shifts by constants of 32 and more.
bool refused(std::size_t operation, std::size_t operand) {
  const std::uint16_t code = kOperations[operation];
  return (code == kDivK && operand == 0) || ((code == kLshK || code == kRshK) && operand > 2);
}

// All classes by index. Some indices belong to classes that no legal program has.
struct Classes {
  Classes() {
    for (std::size_t a = 0; a + kEnds < kKinds.size(); ++a)
      for (const char* const b : kKinds) add("pairs", fmt::format("{}, {}", kKinds[a], b));
    for (const char* const from : {"k", "x"})
      for (std::size_t i = 0; i < kOperations.size(); ++i)
        for (std::size_t j = 0; j < kOperands.size(); ++j)
          add("operands",
              fmt::format("{} {} {:#x}", insn_info(kOperations[i])->mnemonic, from, kOperands[j]),
              *from == 'x' || !refused(i, j));
    for (const char* const r : kRegisters)
      for (const char* const across : {"", ", across a join"})
        for (std::size_t i = 0; i < kDistances.size(); ++i)
          add("uses", fmt::format("{} after {}{}", r, range_name(kDistances, i, 1), across));
    add_ranges("jumps", "if ", kConditional);
    add_ranges("jumps", "ja ", kAlways);
    add_ranges("live scratch words", "", kLive);
    add_ranges("equal-shaped tests", "", kEntries);
    add_ranges("instructions", "", kLengths, 1);
    add("dead code", "no");
    add("dead code", "yes");
  }
  void add(const char* group, std::string name, bool possible = true) {
    index.push_back(possible ? static_cast<int>(classes.size()) : -1);
    if (possible) classes.push_back({group, std::move(name)});
  }
  template <std::size_t n>
  void add_ranges(const char* group, const char* what, const std::array<std::size_t, n>& bounds,
                  std::size_t first = 0) {
    for (std::size_t i = 0; i < n; ++i) add(group, what + range_name(bounds, i, first));
  }

  std::vector<ShapeClass> classes;
  std::vector<int> index;
};

const Classes& all_classes() {
  static const Classes kClasses;
  return kClasses;
}

class Description {
 public:
  explicit Description(ProgramView program)
      : program_(program), reached_(reachable(program)), joins_(program.size(), 0) {}

  std::vector<std::uint16_t> describe() {
    walk();
    std::size_t live = 0;
    for (const std::uint32_t registers : live_registers(program_, false))
      live =
          std::max<std::size_t>(live, static_cast<std::size_t>(std::popcount(registers & 0xffff)));
    see(kScratch + range_of(kLive, live));
    see(kLists + range_of(kEntries, equal_tests()));
    see(kLength + range_of(kLengths, program_.size()));
    see(kDead + (std::ranges::find(reached_, 0) == reached_.end() ? 0 : 1));
    std::vector<std::uint16_t> out;
    const std::vector<int>& indices = all_classes().index;
    for (std::size_t i = 0; i < kAll; ++i)
      if (const int index = indices[i]; seen_[i] && index >= 0)
        out.push_back(static_cast<std::uint16_t>(index));
    return out;
  }

 private:
  void see(std::size_t i) { seen_[i] = true; }

  void walk() {
    bool falls = true;  // the instruction before this one may continue here
    for (std::size_t pc = 0; pc < program_.size(); ++pc) {
      if (reached_[pc] == 0) continue;
      if (joins_[pc] > 1) last_join_ = pc;
      if (joins_[pc] > 1 || !falls) a_known_ = x_known_ = false;
      const Insn& in = program_[pc];
      std::size_t to[2];
      falls = false;
      for (std::size_t i = successors(program_, pc, to); i-- > 0;) {
        see(kPairs + kind_of(in) * kKinds.size() + kind_of(program_[to[i]]));
        joins_[to[i]] = static_cast<std::uint8_t>(std::min(joins_[to[i]] + 1, 2));
        falls = falls || to[i] == pc + 1;
      }
      if (is_jump(in)) jump(in);
      uses(pc, in);
      follow(in);
    }
  }

  void jump(const Insn& in) {
    if (in.code == kJa) return see(kLongJumps + range_of(kAlways, in.k));
    for (const std::size_t distance : {in.jt, in.jf})
      see(kJumps + range_of(kConditional, distance));
  }

  // Distances count in the order of the program's text.
  void uses(std::size_t pc, const Insn& in) {
    const Access access = access_of(in);
    for (std::uint32_t r = 0; r < written_.size(); ++r) {
      if ((access.reads >> r & 1) != 0 && written_[r] != kNever) {
        const std::size_t which = r < kMemWords ? 2 : r - kMemWords;
        const std::size_t across = last_join_ != kNever && last_join_ > written_[r] ? 1 : 0;
        see(kUses + (which * 2 + across) * kDistances.size() +
            range_of(kDistances, pc - written_[r]));
      }
      if ((access.writes >> r & 1) != 0) written_[r] = pc;
    }
  }

  // Follows constants in A and X, to see the operands of arithmetic.
  void follow(const Insn& in) {
    const bool arithmetic = (in.code & 7) == 4 && in.code != kNeg;  // BPF_ALU
    if (arithmetic && (!operand_is_x(in) || x_known_)) {
      const auto operand = std::ranges::find(kOperands, operand_is_x(in) ? x_ : in.k);
      const auto code = static_cast<std::uint16_t>(in.code & ~kFromX);
      if (operand != kOperands.end())
        see((operand_is_x(in) ? kOperandsX : kOperandsK) +
            static_cast<std::size_t>(std::ranges::find(kOperations, code) - kOperations.begin()) *
                kOperands.size() +
            static_cast<std::size_t>(operand - kOperands.begin()));
    }
    const std::uint32_t writes = access_of(in).writes;
    const bool known = a_known_;
    if ((writes & kLiveA) != 0) {
      a_known_ = in.code == kLdImm;
      a_ = in.k;
    }
    if ((writes & kLiveX) != 0) {
      x_known_ = in.code == kLdxImm || (in.code == kTax && known);
      x_ = in.code == kTax ? a_ : in.k;
    }
  }

  // Finds the longest list: one to three opcodes that repeat. Returns the number of tests in it.
  [[nodiscard]] std::size_t equal_tests() const {
    std::size_t most = 0;
    for (std::size_t period = 1; period <= 3; ++period) {
      std::size_t tests = 0;
      for (std::size_t pc = period; pc < program_.size(); ++pc) {
        if (program_[pc].code != program_[pc - period].code)
          tests = 0;
        else if (is_conditional(program_[pc]))
          most = std::max(most, ++tests);
      }
    }
    return most;
  }

  static constexpr std::size_t kNever = ~std::size_t{0};

  ProgramView program_;
  Marks reached_;
  Marks joins_;  // how many instructions may come directly before; counted up to 2
  std::size_t last_join_ = kNever;
  std::array<std::size_t, kMemWords + 2> written_ = [] {
    std::array<std::size_t, kMemWords + 2> out{};
    out.fill(kNever);
    return out;
  }();
  bool a_known_ = false;
  bool x_known_ = false;
  std::uint32_t a_ = 0;
  std::uint32_t x_ = 0;
  std::array<bool, kAll> seen_{};
};

}  // namespace

const std::vector<ShapeClass>& shape_classes() { return all_classes().classes; }

std::vector<std::uint16_t> describe_shape(ProgramView program) {
  return Description(program).describe();
}

}  // namespace secequiv
