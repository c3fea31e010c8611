// Passes that let several jumps share one copy of equal code.
#include <algorithm>
#include <bit>
#include <vector>

#include "harness/bpf/flow.h"
#include "harness/optimize/bytecode/edit.h"
#include "harness/optimize/bytecode/passes.h"

namespace secequiv::detail {
namespace {

// Instructions of one class are interchangeable: starting from any of them, the program does the
// same, whatever the registers hold. 0 means unknown.
using Class = std::uint32_t;

// Returns the part of `k` that affects the instruction.
std::uint32_t operand(const Insn& in) {
  switch (in.code) {
    case kRetA:
    case kTax:
    case kTxa:
    case kNeg:
    case kLdLen:
    case kLdxLen:
      return 0;
    default:
      return operand_is_x(in) ? 0 : in.k;
  }
}

// Computes the class of each instruction, from the last to the first.
class Classes {
 public:
  // Computes the classes of all instructions. of_returns() does so for the returns only.
  static Classes of_all(ProgramView program) {
    Classes out(program, program.size());
    for (std::size_t pc = program.size(); pc-- > 0;) out.find(pc);
    return out;
  }
  static Classes of_returns(ProgramView program) {
    Classes out(program, static_cast<std::size_t>(std::ranges::count_if(program, is_ret)));
    for (std::size_t pc = program.size(); pc-- > 0;)
      if (is_ret(program[pc])) out.find(pc);
    return out;
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] bool all_differ() const { return count_ == found_; }
  Class operator[](std::size_t pc) const { return class_[pc]; }

 private:
  struct Behaviour {
    std::uint32_t code;
    std::uint32_t k;
    Class yes = 0;
    Class no = 0;
    friend bool operator==(const Behaviour&, const Behaviour&) = default;
  };

  Classes(ProgramView program, std::size_t expected)
      : program_(program), class_(program.size(), 0), table_(std::bit_ceil(2 * expected + 1), 0) {}

  [[nodiscard]] Behaviour behaviour(std::size_t pc) const {
    const Insn& in = program_[pc];
    Behaviour out{in.code, operand(in)};
    if (is_conditional(in)) {
      out.yes = class_[jump_target(pc, in, true)];
      out.no = class_[jump_target(pc, in, false)];
    } else if (!is_ret(in)) {
      out.yes = class_[pc + 1];
    }
    return out;
  }

  void find(std::size_t pc) {
    ++found_;
    if (program_[pc].code == kJa) {
      class_[pc] = class_[jump_target(pc, program_[pc], true)];
      return;
    }
    const Behaviour mine = behaviour(pc);
    if (mine.yes == mine.no && is_conditional(program_[pc])) {
      class_[pc] = mine.yes;
      return;
    }
    const std::uint64_t first = std::uint64_t{mine.code} << 32 | mine.k;
    const std::uint64_t second = std::uint64_t{mine.yes} << 32 | mine.no;
    const std::uint64_t hash = first * 0x9e3779b97f4a7c15u ^ second * 0xc2b2ae3d27d4eb4fu;
    const std::size_t mask = table_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash ^ hash >> 29 ^ hash >> 47) & mask;
    for (; table_[at] != 0; at = (at + 1) & mask) {
      if (behaviour(table_[at] - 1) != mine) continue;
      class_[pc] = class_[table_[at] - 1];
      return;
    }
    table_[at] = static_cast<std::uint32_t>(pc + 1);
    class_[pc] = ++count_;
  }

  ProgramView program_;
  std::vector<Class> class_;
  std::vector<std::uint32_t> table_;  // open addressing: 1 + an instruction of the class; 0: free
  std::uint32_t count_ = 0;
  std::uint32_t found_ = 0;  // number of instructions with a class
};

// One edge: one side of one jump.
struct Edge {
  std::size_t pc;
  bool taken;
};

// Lists of numbers, one for each class. The last added number comes first.
class Lists {
 public:
  static constexpr std::uint32_t kEnd = ~0u;

  Lists(std::size_t lists, std::size_t numbers) : lists_(lists), links_(lists + numbers, kEnd) {}
  void add(std::size_t list, std::uint32_t number) {
    links_[lists_ + number] = links_[list];
    links_[list] = number;
  }
  [[nodiscard]] std::uint32_t first(std::size_t list) const { return links_[list]; }
  [[nodiscard]] std::uint32_t next(std::uint32_t number) const { return links_[lists_ + number]; }

 private:
  std::size_t lists_;
  // Contains the head of each list, then the successor of each number.
  std::vector<std::uint32_t> links_;
};

// For each class, redirects the edges that lead to it, so that they use as few of its instructions
// (places) as their reach allows.
class Sharing {
 public:
  Sharing(ProgramView program, const Classes& classes)
      : program_(program),
        classes_(classes),
        out_(program.begin(), program.end()),
        marks_(reachable(program)),
        places_(classes.count() + 1, program.size()),
        edges_(classes.count() + 1, 2 * program.size()) {}

  Program run() {
    if (!find_places()) return std::move(out_);
    here_.reserve(program_.size());
    for (Class target = 1; target <= classes_.count(); ++target) share(target);
    if (refused(out_)) return {program_.begin(), program_.end()};
    return std::move(out_);
  }

 private:
  // Marks a place that stays in use, because the instruction before it falls through to it or a
  // jump has been redirected to it. Other jumps may then use it too.
  static constexpr std::uint8_t kKept = 2;

  // Returns false if no class has two places, so that edges have nothing to share.
  bool find_places() {
    bool several = false;
    const auto add_edge = [&](std::size_t pc, bool taken) {
      const Class target = classes_[jump_target(pc, program_[pc], taken)];
      if (target != 0) edges_.add(target, static_cast<std::uint32_t>(2 * pc + (taken ? 0 : 1)));
    };
    for (std::size_t pc = program_.size(); pc-- > 0;) {
      if (marks_[pc] == 0) continue;
      const Insn& in = program_[pc];
      if (const Class mine = classes_[pc]; mine != 0) {
        several = several || places_.first(mine) != Lists::kEnd;
        places_.add(mine, static_cast<std::uint32_t>(pc));
      }
      if (is_ret(in)) continue;
      if (!is_jump(in)) {
        marks_[pc + 1] |= kKept;
      } else {
        if (is_conditional(in)) add_edge(pc, false);
        add_edge(pc, true);
      }
    }
    return several;
  }

  void share(Class target) {
    const std::uint32_t first = places_.first(target);
    if (first == Lists::kEnd || places_.next(first) == Lists::kEnd) return;
    here_.clear();
    for (std::uint32_t pc = first; pc != Lists::kEnd; pc = places_.next(pc)) here_.push_back(pc);
    for (std::uint32_t e = edges_.first(target); e != Lists::kEnd; e = edges_.next(e)) {
      const Edge edge{e / 2, e % 2 == 0};
      const std::size_t chosen = here_[choose(edge, target)];
      marks_[chosen] |= kKept;
      retarget(out_, edge.pc, edge.taken, chosen);
    }
  }

  // Edges are in program order, and so are the ends of their reach. If no kept place serves an
  // edge, the farthest place in reach is kept. This keeps the fewest places.
  [[nodiscard]] std::size_t choose(const Edge& edge, Class target) const {
    // A jump (1) or a test (2) that only leads to another place of the class is worse than a place
    // with code (0). A jump is better than a test, because other passes redirect edges past it.
    const auto rank = [&](std::size_t i) {
      const Insn& in = program_[here_[i]];
      if (in.code == kJa) return 1;
      return is_conditional(in) && classes_[jump_target(here_[i], in, true)] == target ? 2 : 0;
    };
    // The places before `end` are within the edge's reach.
    const std::size_t end =
        program_[edge.pc].code == kJa
            ? here_.size()
            : static_cast<std::size_t>(std::ranges::upper_bound(here_, edge.pc + 1 + kJumpReach) -
                                       here_.begin());
    std::size_t chosen = end - 1;
    for (std::size_t i = chosen; rank(chosen) > 0 && i > 0 && here_[i - 1] > edge.pc; --i)
      if (rank(i - 1) < rank(chosen)) chosen = i - 1;
    for (std::size_t i = end; i > 0 && here_[i - 1] > edge.pc; --i)
      if ((marks_[here_[i - 1]] & kKept) != 0 && rank(i - 1) == rank(chosen)) return i - 1;
    return chosen;
  }

  ProgramView program_;
  const Classes& classes_;
  Program out_;
  Marks marks_;  // reachable and kKept
  Lists places_;
  Lists edges_;
  std::vector<std::size_t> here_;  // the places of the current class
};

Program share(ProgramView program, const Classes& classes) {
  if (classes.all_differ()) return {program.begin(), program.end()};
  return Sharing(program, classes).run();
}

}  // namespace

Program merge_equal_code(ProgramView program) { return share(program, Classes::of_all(program)); }
Program merge_returns(ProgramView program) { return share(program, Classes::of_returns(program)); }

}  // namespace secequiv::detail
