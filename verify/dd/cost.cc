#include "verify/dd/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "verify/dd/count.h"
#include "verify/dd/forward.h"

namespace secequiv::dd {
namespace {

// Selects what is counted along a path.
enum class What : std::uint8_t { kInstructions, kJumps };

// A function of the input: how much its path counts. Leaf 0 means that the input is not included.
// Any other leaf L means the count L - 1 + base.
struct Counted {
  NodeId root = Diagrams::kZero;
  std::uint32_t base = 0;
};

struct Totals {
  Counted all;
  Counted allowed;  // only inputs that the program allows
};

// Returns the program with its loads of nr and arch replaced by their values. It keeps its length,
// so that counts stay the same. Most of it becomes unreachable.
static_assert(kNrWord == 0 && kArchWord == 1);
Program with_call(ProgramView program, std::uint32_t audit, std::uint32_t nr) {
  Program out(program.begin(), program.end());
  for (Insn& in : out) {
    if (in.code != kLdWAbs || in.k / 4 > kArchWord) continue;
    in = {kLdImm, 0, 0, in.k / 4 == kNrWord ? nr : audit};
  }
  return out;
}

// Computes for each instruction how much was counted before it, as a function of the inputs that
// reach it. Counts are relative to the least count of any path to the instruction in the
// control-flow graph. Straight code therefore does not change counts, and where paths meet, only
// the diagrams of the longer paths are rewritten.
class Counting {
 public:
  Counting(Space& space, const Forward& forward, ProgramView program, What what)
      : space_(space),
        forward_(forward),
        program_(program),
        what_(what),
        least_(program.size() + 1, std::numeric_limits<std::uint32_t>::max()),
        before_(program.size() + 1, Diagrams::kZero) {}

  Totals run() {
    least_[0] = 0;
    each_edge([&](std::size_t pc, const Edge& edge) {
      least_[edge.to] = std::min(least_[edge.to], least_[pc] + edge.counted);
    });
    before_[0] = Diagrams::kOne;
    NodeId allowed = Diagrams::kZero;
    each_edge([&](std::size_t pc, const Edge& edge) {
      if (space_.exhausted()) return;
      const NodeId now = moved(taken(pc, edge), least_[pc] + edge.counted - least_[edge.to]);
      before_[edge.to] = space_.diagrams().otherwise(before_[edge.to], now);
      if (is_ret(program_[pc]))
        allowed = space_.diagrams().otherwise(
            allowed, space_.words().branch(allows(pc), now, Diagrams::kZero));
    });
    const std::uint32_t base = least_[end()];
    return {{before_[end()], base}, {allowed, base}};
  }

 private:
  enum class When : std::uint8_t { kAlways, kTrue, kFalse };
  struct Edge {
    std::size_t to;  // end(): the program returns
    std::uint32_t counted;
    When when;
  };

  [[nodiscard]] std::size_t end() const { return program_.size(); }

  template <class Visit>
  void each_edge(const Visit& visit) const {
    for (std::size_t pc = 0; pc < program_.size(); ++pc) {
      if (!forward_.reached(pc)) continue;
      const Insn& in = program_[pc];
      const auto edge = [&](std::size_t to, When when) {
        const bool jumps = to != end() && to != pc + 1;
        visit(pc, Edge{to, what_ == What::kInstructions || jumps ? 1u : 0u, when});
      };
      const auto outcomes = [&](std::size_t yes, std::size_t no) {
        if (!forward_.condition(pc).is(false)) edge(yes, When::kTrue);
        if (!forward_.condition(pc).is(true)) edge(no, When::kFalse);
      };
      if (is_ret(in)) {
        edge(end(), When::kAlways);
      } else if (is_conditional(in) && in.jt != in.jf) {
        outcomes(jump_target(pc, in, true), jump_target(pc, in, false));
      } else if (in.code == kDivX) {
        outcomes(end(), pc + 1);
      } else {
        edge(is_jump(in) ? jump_target(pc, in, true) : pc + 1, When::kAlways);
      }
    }
  }

  NodeId taken(std::size_t pc, const Edge& edge) {
    if (edge.when == When::kAlways) return before_[pc];
    const bool yes = edge.when == When::kTrue;
    return space_.words().branch(forward_.condition(pc), yes ? before_[pc] : Diagrams::kZero,
                                 yes ? Diagrams::kZero : before_[pc]);
  }

  NodeId moved(NodeId id, std::uint32_t by) {
    if (by == 0 || id == Diagrams::kZero) return id;
    Diagrams& diagrams = space_.diagrams();
    return diagrams.merge(id, Diagrams::kOne, [&](NodeId leaf, NodeId) {
      return leaf == Diagrams::kZero ? leaf : diagrams.leaf(diagrams.node(leaf).pattern + by);
    });
  }

  Condition allows(std::size_t pc) {
    Words& words = space_.words();
    const Insn& in = program_[pc];
    const Word value = forward_.returned(pc).value_or(words.constant(in.k));
    return words.eq(words.bit_and(value, words.constant(SECCOMP_RET_ACTION_FULL)),
                    words.constant(SECCOMP_RET_ALLOW));
  }

  Space& space_;
  const Forward& forward_;
  ProgramView program_;
  What what_;
  std::vector<std::uint32_t> least_;
  std::vector<NodeId> before_;
};

// Adds up the counts of the filters of a stack. The kernel runs each of them, whatever the others
// return, and allows a call if all of them allow it.
class StackCounting {
 public:
  StackCounting(Space& space, FilterStack stack) : space_(space), stack_(stack) {
    for (const ProgramView program : stack) forward_.emplace_back(space.words(), program);
  }

  Totals run(What what) {
    Totals out = Counting(space_, forward_[0], stack_[0], what).run();
    for (std::size_t i = 1; i < stack_.size() && !space_.exhausted(); ++i) {
      const Totals more = Counting(space_, forward_[i], stack_[i], what).run();
      out = {sum(out.all, more.all), sum(out.allowed, more.allowed)};
    }
    return out;
  }

 private:
  // Returns the sum of both counts, for the inputs that both include.
  Counted sum(const Counted& a, const Counted& b) {
    Diagrams& diagrams = space_.diagrams();
    const auto add = [&](NodeId one, NodeId other) {
      if (one == Diagrams::kZero || other == Diagrams::kZero) return Diagrams::kZero;
      return diagrams.leaf(diagrams.node(one).pattern + diagrams.node(other).pattern - 1);
    };
    return {diagrams.merge(a.root, b.root, add), a.base + b.base};
  }

  Space& space_;
  FilterStack stack_;
  std::deque<Forward> forward_;
};

// Computes the number of included inputs, and the sum of the counts of all their paths.
class Sums {
 public:
  explicit Sums(const Diagrams& diagrams) : diagrams_(diagrams) {}

  struct Sum {
    Count inputs;
    Count counted;  // sum of the counts, without `base`
  };
  Sum of(NodeId id) {
    Sum out = below(id);
    scale(out, diagrams_.bits_above(id));
    return out;
  }

 private:
  static void scale(Sum& sum, std::uint32_t levels) {
    sum.inputs <<= levels;
    sum.counted <<= levels;
  }

  // Returns the sums over all values of the bits from this node's level on; earlier bits are
  // ignored.
  const Sum& below(NodeId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const Node node = diagrams_.node(id);
    Sum out;
    if (diagrams_.is_leaf(id)) {
      if (id != Diagrams::kZero) out = {1, node.pattern - 1};
    } else {
      const std::uint32_t end = node.level + node.length;
      out = below(node.hit);
      scale(out, diagrams_.bits_above(node.hit) - end);
      Sum missed = below(node.miss);
      scale(missed, diagrams_.bits_above(node.miss) - end);
      // All other patterns of the run's bits lead to `miss`.
      const Count others = (Count(1) << node.length) - 1;
      out.inputs += missed.inputs * others;
      out.counted += missed.counted * others;
    }
    return known_.emplace(id, std::move(out)).first->second;
  }

  const Diagrams& diagrams_;
  std::unordered_map<NodeId, Sum> known_;
};

// Returns all leaves except 0, smallest first.
std::vector<NodeId> leaves_of(const Diagrams& diagrams, NodeId root) {
  std::vector<NodeId> out;
  std::vector<NodeId> open{root};
  std::unordered_map<NodeId, bool> seen;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == Diagrams::kZero || !seen.try_emplace(id, true).second) continue;
    if (diagrams.is_leaf(id)) {
      out.push_back(id);
      continue;
    }
    open.push_back(diagrams.node(id).hit);
    open.push_back(diagrams.node(id).miss);
  }
  std::ranges::sort(out, {}, [&](NodeId leaf) { return diagrams.node(leaf).pattern; });
  return out;
}

// Returns the smallest input with this leaf, after `fix` has set its nr and arch.
template <class Fix>
Result<WorstInput> input_at(Space& space, const Counted& counted, NodeId leaf, FilterStack stack,
                            const Fix& fix) {
  const NodeId set = space.diagrams().substitute(
      counted.root, [&](NodeId at) { return at == leaf ? Diagrams::kOne : Diagrams::kZero; });
  auto data = space.exhausted() ? std::nullopt : space.smallest(set);
  if (!data) return limits_reached();
  fix(*data);
  const WorstInput out{*data, space.diagrams().node(leaf).pattern - 1 + counted.base};
  if (const std::size_t found = executed(stack, *data); found != out.instructions)
    return make_error(ErrorCode::kInternal, "dd",
                      fmt::format("the input {} executes {} instructions when run, expected {}; "
                                  "please report this",
                                  describe(*data), found, out.instructions));
  return out;
}

Ratio mean_of(Sums& sums, const Counted& counted, Count& inputs) {
  const Sums::Sum sum = sums.of(counted.root);
  inputs = sum.inputs;
  const Quotient mean = quotient(sum.counted + sum.inputs * counted.base, sum.inputs);
  return {value_of(mean), text_of(mean)};
}

}  // namespace

Result<ExactCost> exact_cost(FilterStack stack, std::uint32_t audit, std::uint32_t nr,
                             const Limits& limits) {
  std::vector<Program> calls;
  for (const ProgramView program : stack) calls.push_back(with_call(program, audit, nr));
  const std::vector<ProgramView> views(calls.begin(), calls.end());
  Space space(views, limits);
  StackCounting counting(space, views);
  if (space.exhausted()) return limits_reached();
  const Totals instructions = counting.run(What::kInstructions);
  const Totals jumps = counting.run(What::kJumps);
  if (space.exhausted()) return limits_reached();
  const auto fix = [&](SeccompData& data) {
    data.set_nr(nr);
    data.set_arch(audit);
  };
  const auto leaves = leaves_of(space.diagrams(), instructions.all.root);
  ASSIGN_OR_RETURN(auto least, input_at(space, instructions.all, leaves.front(), stack, fix));
  ASSIGN_OR_RETURN(auto most, input_at(space, instructions.all, leaves.back(), stack, fix));
  ExactCost out{least, most, {}, {}, instructions.allowed.root != Diagrams::kZero, {}};
  Sums sums(space.diagrams());
  Count inputs;
  out.jumps = mean_of(sums, out.allowed ? jumps.allowed : jumps.all, inputs);
  out.mean = mean_of(sums, out.allowed ? instructions.allowed : instructions.all, inputs);
  out.inputs = text_of(Count(inputs >> 64));  // the programs read neither arch nor nr here
  return out;
}

Result<WorstInput> exact_worst(FilterStack stack, const Limits& limits) {
  Space space(stack, limits);
  StackCounting counting(space, stack);
  if (space.exhausted()) return limits_reached();
  const Totals totals = counting.run(What::kInstructions);
  if (space.exhausted()) return limits_reached();
  const NodeId most = leaves_of(space.diagrams(), totals.all.root).back();
  return input_at(space, totals.all, most, stack, [](SeccompData&) {});
}

}  // namespace secequiv::dd
