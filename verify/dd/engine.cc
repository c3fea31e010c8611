#include "verify/dd/engine.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <map>
#include <numeric>

#include "harness/bpf/flow.h"
#include "verify/dd/diagram.h"

namespace secequiv::dd {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Which input word stands at which position of the diagrams, and back.
struct Order {
  std::array<std::uint8_t, 16> word;
  std::array<std::uint8_t, 16> position;
};

Order natural_order() {
  Order order{};
  std::iota(order.word.begin(), order.word.end(), std::uint8_t{0});
  order.position = order.word;
  return order;
}

// arch and nr first, as every filter tests them, then the arguments ascending, low half first:
// programs are built from their end, and a test is cheap to add when it stands above all that
// follows it.
Order usual_order() {
  Order order = natural_order();
  std::swap(order.word[kNrWord], order.word[kArchWord]);
  std::swap(order.position[kNrWord], order.position[kArchWord]);
  return order;
}

std::optional<Comparison> test_of(std::uint16_t code) {
  switch (code) {
    case kJeqK:
      return Comparison::kEq;
    case kJgtK:
      return Comparison::kGt;
    case kJgeK:
      return Comparison::kGe;
    case kJsetK:
      return Comparison::kAnyBit;
    default:
      return std::nullopt;
  }
}

struct Root {
  NodeId node = 0;
  std::string outside;  // why there is no diagram, or empty
};

// What the tests on the way say about the input before an instruction: bounds of words, as a list
// that grows along a path and of which paths that meet keep the common part.
class Facts {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNothing = 0;
  struct Bounds {
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffff;
  };

  Facts() : entries_{{}} {}

  [[nodiscard]] Bounds bounds(Id id, std::uint32_t word) const {
    for (; id != kNothing; id = entries_[id].parent)
      if (entries_[id].word == word) return entries_[id].bounds;
    return {};
  }
  Id with(Id id, std::uint32_t word, const Bounds& bounds) {
    entries_.push_back(Entry{bounds, id, entries_[id].depth + 1, word});
    return static_cast<Id>(entries_.size() - 1);
  }
  [[nodiscard]] Id common(Id a, Id b) const {
    while (a != b) {
      if (entries_[a].depth >= entries_[b].depth) {
        a = entries_[a].parent;
      } else {
        b = entries_[b].parent;
      }
    }
    return a;
  }

 private:
  struct Entry {
    Bounds bounds;
    Id parent = 0;
    std::uint32_t depth = 0;
    std::uint32_t word = 0;
  };
  std::vector<Entry> entries_;
};

// The facts before each instruction.
class FactFlow {
 public:
  FactFlow(ProgramView program, const std::vector<Accumulator>& flow)
      : before_(program.size(), kUnreached) {
    before_[0] = Facts::kNothing;
    for (std::size_t pc = 0; pc < program.size(); ++pc) {
      if (before_[pc] == kUnreached || is_ret(program[pc])) continue;
      const Insn& in = program[pc];
      if (is_conditional(in) && in.jt != in.jf && flow[pc].kind == Accumulator::Kind::kWord &&
          flow[pc].mask == 0xffffffff) {
        arrive(jump_target(pc, in, true), after(before_[pc], in, flow[pc].word, true));
        arrive(jump_target(pc, in, false), after(before_[pc], in, flow[pc].word, false));
        continue;
      }
      std::size_t to[2];
      const std::size_t count = successors(program, pc, to);
      for (std::size_t i = 0; i < count; ++i) arrive(to[i], before_[pc]);
    }
  }

  [[nodiscard]] Facts::Id before(std::size_t pc) const { return before_[pc]; }
  [[nodiscard]] const Facts& facts() const { return facts_; }

 private:
  static constexpr Facts::Id kUnreached = ~Facts::Id{0};

  void arrive(std::size_t pc, Facts::Id facts) {
    before_[pc] = before_[pc] == kUnreached ? facts : facts_.common(before_[pc], facts);
  }

  // Tighter bounds if the outcome gives any. Contradictory ones (the edge is never taken) are left
  // out.
  Facts::Id after(Facts::Id facts, const Insn& in, std::uint32_t word, bool taken) {
    const Facts::Bounds old = facts_.bounds(facts, word);
    Facts::Bounds now = old;
    switch (in.code) {
      case kJeqK:
        if (taken) {
          now = {in.k, in.k};
        } else {
          if (now.low == in.k && now.low != 0xffffffff) ++now.low;
          if (now.high == in.k && now.high != 0) --now.high;
        }
        break;
      case kJgtK:
        if (taken && in.k != 0xffffffff) now.low = std::max(now.low, in.k + 1);
        if (!taken) now.high = std::min(now.high, in.k);
        break;
      case kJgeK:
        if (taken) now.low = std::max(now.low, in.k);
        if (!taken && in.k != 0) now.high = std::min(now.high, in.k - 1);
        break;
      default:
        break;
    }
    if ((now.low == old.low && now.high == old.high) || now.low > now.high) return facts;
    return facts_.with(facts, word, now);
  }

  Facts facts_;
  std::vector<Facts::Id> before_;
};

// From the last instruction to the first: the diagram of an instruction is that of "the program
// from here on", for inputs that agree with the facts there. Nothing is known before the first
// instruction, so the root is right for all inputs. Leaving out what the facts exclude keeps the
// diagrams of inner parts small: within one system call's code, the others' rules do not appear.
class Builder {
 public:
  Builder(Diagrams& diagrams, ProgramView program, const Order& order, Sameness sameness)
      : diagrams_(diagrams),
        program_(program),
        order_(order),
        sameness_(sameness),
        flow_(accumulator_flow(program)),
        facts_(program, flow_) {}

  Root build() {
    std::vector<NodeId> value(program_.size(), 0);
    for (std::size_t pc = program_.size(); pc-- > 0;) {
      if (flow_[pc].kind == Accumulator::Kind::kUnreached) continue;
      const Insn& in = program_[pc];
      if (in.code == kRetK) {
        value[pc] = diagrams_.leaf(normalize(in.k, sameness_));
      } else if (is_conditional(in)) {
        const NodeId yes = narrowed(value[jump_target(pc, in, true)], pc);
        const NodeId no = narrowed(value[jump_target(pc, in, false)], pc);
        if (yes == no) {
          value[pc] = yes;
          continue;
        }
        const auto test = test_of(in.code);
        if (!test || flow_[pc].kind != Accumulator::Kind::kWord)
          return {
              0,
              fmt::format(
                  "instruction {} compares something else than an input word with a constant", pc)};
        value[pc] =
            diagrams_.test(*test, order_.position[flow_[pc].word], flow_[pc].mask, in.k, yes, no);
      } else if (in.code == kRetA || in.code == kDivX) {
        return {0, fmt::format("instruction {} ({}) is outside what diagrams handle", pc,
                               insn_info(in.code)->name)};
      } else {
        value[pc] = value[is_jump(in) ? jump_target(pc, in, true) : pc + 1];
      }
      if (diagrams_.exhausted()) return {0, "the node limit is reached"};
    }
    return {value[0], {}};
  }

 private:
  // `id` without the tests at its top that the facts before `pc` decide.
  NodeId narrowed(NodeId id, std::size_t pc) {
    const Facts::Id facts = facts_.before(pc);
    if (facts == Facts::kNothing) return id;
    while (!diagrams_.is_leaf(id)) {
      const Node& run = diagrams_.node(id);
      const auto bounds = facts_.facts().bounds(facts, order_.word[run.level / 32]);
      const std::uint32_t end =
          run.level % 32 + run.length;  // bits of the word up to the run's last
      const std::uint32_t open =
          bounds.low ^ bounds.high;  // bits from the first differing one on are not known
      const std::uint32_t there = bounds.low >> (32 - end);
      const std::uint32_t differing =
          (there ^ run.pattern) & (run.length == 32 ? 0xffffffff : (1u << run.length) - 1);
      // Known as far as the run's end, or up to a bit where it already misses.
      const auto known = open == 0 ? 32u : static_cast<std::uint32_t>(std::countl_zero(open));
      const std::uint32_t first_miss =
          differing == 0 ? 64 : end - static_cast<std::uint32_t>(32 - std::countl_zero(differing));
      if (first_miss < known) {
        id = run.miss;
      } else if (end <= known) {
        id = run.hit;
      } else {
        break;
      }
    }
    return id;
  }

  Diagrams& diagrams_;
  ProgramView program_;
  const Order& order_;
  Sameness sameness_;
  std::vector<Accumulator> flow_;
  FactFlow facts_;
};

// Walks two different diagrams down to the smallest input on which they differ. Because diagrams
// are canonical, two nodes differ on some input exactly if they are different nodes.
class WitnessFinder {
 public:
  WitnessFinder(Diagrams& diagrams, const Order& order) : diagrams_(diagrams), order_(order) {}

  SeccompData find(NodeId a, NodeId b) {
    SeccompData data;
    bool word_set = false;
    std::uint32_t previous = ~0u;
    while (!diagrams_.is_leaf(a) || !diagrams_.is_leaf(b)) {
      const std::uint32_t level = top(a, b);
      if (level / 32 != previous) word_set = false;
      previous = level / 32;
      const bool one = cost(a, b, level, word_set, true) < cost(a, b, level, word_set, false);
      if (one) {
        data.words[order_.word[level / 32]] |= 1u << (31 - level % 32);
        word_set = true;
      }
      const NodeId next_a = diagrams_.cofactor(a, level, one);
      b = diagrams_.cofactor(b, level, one);
      a = next_a;
    }
    return data;
  }

 private:
  static constexpr unsigned kImpossible = 100;

  [[nodiscard]] std::uint32_t top(NodeId a, NodeId b) const {
    return std::min(diagrams_.node(a).level, diagrams_.node(b).level);
  }

  // Fewest further words that must be non-zero, if the bit at `level` is `value` and `word_set`
  // says whether its word is already counted.
  unsigned cost(NodeId a, NodeId b, std::uint32_t level, bool word_set, bool value) {
    const unsigned here = value && !word_set ? 1 : 0;
    const unsigned below =
        least(diagrams_.cofactor(a, level, value), diagrams_.cofactor(b, level, value), level / 32,
              word_set || value);
    return std::min(here + below, kImpossible);
  }

  unsigned least(NodeId a, NodeId b, std::uint32_t word, bool word_set) {
    if (a == b) return kImpossible;
    if (diagrams_.is_leaf(a) && diagrams_.is_leaf(b)) return 0;
    const std::uint32_t level = top(a, b);
    if (level / 32 != word) word_set = false;
    const auto key = std::tuple(a, b, word_set);
    if (const auto known = least_.find(key); known != least_.end()) return known->second;
    const unsigned out =
        std::min(cost(a, b, level, word_set, false), cost(a, b, level, word_set, true));
    least_.emplace(key, out);
    return out;
  }

  Diagrams& diagrams_;
  const Order& order_;
  std::map<std::tuple<NodeId, NodeId, bool>, unsigned> least_;
};

struct Roots {
  Root before;
  Root after;
  [[nodiscard]] const std::string& outside() const {
    return before.outside.empty() ? after.outside : before.outside;
  }
};

Roots roots_of(Diagrams& diagrams, const Pair& pair, const Order& order) {
  Roots out;
  out.before = Builder(diagrams, pair.before, order, pair.sameness).build();
  if (out.before.outside.empty())
    out.after = Builder(diagrams, pair.after, order, pair.sameness).build();
  return out;
}

}  // namespace

Result<Proof> prove(const Pair& pair, const Limits& limits) {
  Proof proof;
  proof.engine = "dd";
  const auto start = Clock::now();
  Diagrams diagrams(limits.nodes);
  const Roots roots = roots_of(diagrams, pair, usual_order());
  proof.encode_seconds = seconds_since(start);
  if (!roots.outside().empty()) {
    proof.detail = roots.outside();
    return proof;
  }
  if (roots.before.node == roots.after.node) {
    proof.verdict = Verdict::kEquivalent;
    return proof;
  }
  // "Smallest" counts words from nr on, so the witness is read off diagrams in that order.
  const auto solving = Clock::now();
  const Order order = natural_order();
  Diagrams natural(limits.nodes);
  const Roots ordered = roots_of(natural, pair, order);
  const bool complete = ordered.outside().empty();
  const SeccompData data =
      complete ? WitnessFinder(natural, order).find(ordered.before.node, ordered.after.node)
               : WitnessFinder(diagrams, usual_order()).find(roots.before.node, roots.after.node);
  proof.witness = replay(pair, data);
  if (!proof.witness)
    return make_error(
        ErrorCode::kInternal, "dd",
        fmt::format("the input {} does not differ when run; please report this", describe(data)));
  proof.verdict = Verdict::kDifferent;
  proof.minimal = complete && !natural.exhausted();
  proof.solve_seconds = seconds_since(solving);
  return proof;
}

}  // namespace secequiv::dd
