#include "verify/dd/backward.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

namespace secequiv::dd {
namespace {

constexpr std::size_t kFewTests = 24;

bool compares(const Insn& in) { return is_conditional(in) && in.jt != in.jf; }

bool outcome(const Condition& condition, std::uint32_t word) {
  bool holds = false;
  switch (condition.test) {
    case Comparison::kEq:
      holds = word == condition.k;
      break;
    case Comparison::kGt:
      holds = word > condition.k;
      break;
    case Comparison::kGe:
      holds = word >= condition.k;
      break;
    case Comparison::kAnyBit:
      break;
  }
  return holds != condition.negated;
}

}  // namespace

Backward::Backward(Words& words, const Forward& forward, ProgramView program)
    : words_(words),
      forward_(forward),
      program_(program),
      path_bounds_(program.size()),
      inside_(program.size(), 0),
      value_(program.size(), 0) {
  look_ahead();
}

// Computes the bounds before each instruction, and finds the instructions that continue a run of
// tests.
void Backward::look_ahead() {
  // By instruction with a single incoming edge: the word that the run of tests before it compares.
  std::vector<std::uint8_t> from(program_.size(), kNoWord);
  const auto hand_on = [&](std::size_t to, std::uint8_t word) {
    if (forward_.arrivals(to) == 1) from[to] = word;
  };
  for (std::size_t pc = 0; pc < program_.size(); ++pc) {
    const Insn& in = program_[pc];
    if (!forward_.reached(pc) || is_ret(in)) continue;
    if (compares(in)) {
      const Condition& condition = forward_.condition(pc);
      const std::size_t yes = jump_target(pc, in, true);
      const std::size_t no = jump_target(pc, in, false);
      path_bounds_.branch(pc, condition, yes, no);
      if (!condition.splits_word()) continue;
      inside_[pc] = from[pc] == condition.input ? 1 : 0;
      hand_on(yes, condition.input);
      hand_on(no, condition.input);
    } else {
      const std::size_t to = is_jump(in) ? jump_target(pc, in, true) : pc + 1;
      path_bounds_.go(pc, to);
      if (from[pc] == kNoWord || in.code == kDivX) continue;
      inside_[pc] = 1;
      hand_on(to, from[pc]);
    }
  }
}

NodeId Backward::continued(std::size_t pc, Sameness sameness) {
  const Insn& in = program_[pc];
  const Condition& condition = forward_.condition(pc);
  if (compares(in)) {
    const std::size_t yes = skip(jump_target(pc, in, true));
    const std::size_t no = skip(jump_target(pc, in, false));
    if (condition.is(true)) return value_[yes];
    if (condition.is(false)) return value_[no];
    if (condition.splits_word() && (inside_[yes] | inside_[no]) != 0) return divided(pc);
    return words_.branch(condition, narrowed(value_[yes], pc), narrowed(value_[no], pc));
  }
  if (in.code == kDivX) {
    const NodeId zero = words_.diagrams().leaf(normalize(0, sameness));
    if (condition.is(true)) return zero;
    return words_.branch(condition, zero, value_[pc + 1]);
  }
  return value_[is_jump(in) ? jump_target(pc, in, true) : pc + 1];
}

// Skips the tests at the top of `id` that the facts before `pc` decide.
NodeId Backward::narrowed(NodeId id, std::size_t pc) const {
  const Diagrams& diagrams = words_.diagrams();
  while (!diagrams.is_leaf(id)) {
    const Node& run = diagrams.node(id);
    const std::uint32_t word = words_.order().word(run.level);
    if (!path_bounds_.bounded(pc, word) || !words_.order().whole(word)) break;
    const PathBounds::Bounds bounds = path_bounds_.bounds(pc, word);
    const std::uint32_t end = run.level % 32 + run.length;  // end of the run within the word
    const std::uint32_t open = bounds.low ^ bounds.high;    // unknown from its highest set bit on
    const std::uint32_t there = bounds.low >> (32 - end);
    const std::uint32_t differing =
        (there ^ run.pattern) & (run.length == 32 ? 0xffffffff : (1u << run.length) - 1);
    // Both bounds agree on the first `known` bits. The run is missed if its pattern differs
    // from one of these bits. Otherwise the run is hit if it ends within these bits.
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

// Within a run of tests, skips the instructions that do not compare.
std::size_t Backward::skip(std::size_t pc) const {
  while (inside_[pc] != 0 && !compares(program_[pc]))
    pc = is_jump(program_[pc]) ? jump_target(pc, program_[pc], true) : pc + 1;
  return pc;
}

void Backward::collect_point(std::uint32_t k, std::size_t to) {
  for (to = skip(to); inside_[to] != 0; to = skip(to))
    to = jump_target(to, program_[to], outcome(forward_.condition(to), k));
  points_.push_back({k, k, to, static_cast<std::uint32_t>(points_.size()), 0});
}

void Backward::collect(const Stretch& start) {
  open_.push_back(start);
  while (!open_.empty()) {
    Stretch at = open_.back();
    open_.pop_back();
    for (bool first = at.to == start.to;; first = false) {
      at.to = skip(at.to);
      if (!first && inside_[at.to] == 0) break;
      const Condition& condition = forward_.condition(at.to);
      const std::size_t yes = jump_target(at.to, program_[at.to], !condition.negated);
      const std::size_t no = jump_target(at.to, program_[at.to], condition.negated);
      const std::uint32_t k = condition.k;
      if (condition.test == Comparison::kEq) {
        if (at.low <= k && k <= at.high) collect_point(k, yes);
        at.to = no;
        continue;
      }
      // Values from `bound` on go to `yes`.
      const std::uint64_t bound =
          condition.test == Comparison::kGt ? std::uint64_t{k} + 1 : std::uint64_t{k};
      if (bound <= at.low) {
        at.to = yes;
      } else if (bound > at.high) {
        at.to = no;
      } else {
        open_.push_back({static_cast<std::uint32_t>(bound), at.high, yes, 0, 0});
        at = {at.low, static_cast<std::uint32_t>(bound) - 1, no, 0, 0};
      }
    }
    stretches_.push_back(at);
  }
}

NodeId Backward::divided(std::size_t pc) {
  stretches_.clear();
  points_.clear();
  collect({0, 0xffffffff, pc, 0, 0});
  const std::uint32_t position = words_.order().position(forward_.condition(pc).input);
  Diagrams& diagrams = words_.diagrams();
  std::uint32_t top = kLeaf;
  for (auto* list : {&stretches_, &points_})
    for (Stretch& stretch : *list) {
      stretch.value = narrowed(value_[stretch.to], pc);
      top = std::min(top, diagrams.level(stretch.value));
    }
  std::ranges::sort(stretches_, {}, &Stretch::low);
  // Merging the tests of this word is slower if a later test uses a word that is higher in the
  // order. Merging only a few tests is also slower if a later test uses the same word.
  const bool few = points_.size() + stretches_.size() <= kFewTests;
  if (top < position * 32 || (few && top < position * 32 + 32)) return one_by_one(position);
  find_pieces();
  return diagrams.pieces(position, pieces_);
}

NodeId Backward::one_by_one(std::uint32_t position) {
  Diagrams& diagrams = words_.diagrams();
  NodeId out = stretches_[0].value;
  for (const Stretch& stretch : std::span(stretches_).subspan(1))
    out = diagrams.test(Comparison::kGe, position, 0xffffffff, stretch.low, stretch.value, out);
  // The first test in the program has precedence, so it becomes the topmost one.
  for (auto point = points_.rbegin(); point != points_.rend(); ++point)
    out = diagrams.test(Comparison::kEq, position, 0xffffffff, point->low, point->value, out);
  return out;
}

// If several tests compare with the same value, the first one in the program has precedence. The
// processor cannot predict the comparisons of a long list, so digits are counted instead.
void Backward::sort_points() {
  constexpr std::size_t kLong = 512;
  constexpr unsigned kDigit = 8;  // bits
  if (points_.size() < kLong) {
    std::ranges::sort(points_, [](const Stretch& a, const Stretch& b) {
      return std::tie(a.low, a.rank) < std::tie(b.low, b.rank);
    });
    return;
  }
  std::vector<Stretch> sorted(points_.size());
  for (unsigned shift = 0; shift < 32; shift += kDigit) {
    std::array<std::size_t, (1u << kDigit) + 1> starts{};
    const auto digit = [&](const Stretch& point) {
      return point.low >> shift & ((1u << kDigit) - 1);
    };
    for (const Stretch& point : points_) ++starts[digit(point) + 1];
    if (std::ranges::find(starts, points_.size()) != starts.end()) continue;  // one digit for all
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const Stretch& point : points_) sorted[starts[digit(point)]++] = point;
    points_.swap(sorted);
  }
}

void Backward::find_pieces() {
  sort_points();
  pieces_.clear();
  const auto add = [&](std::uint64_t first, NodeId value) {
    if (pieces_.empty() || pieces_.back().value != value)
      pieces_.push_back({static_cast<std::uint32_t>(first), value});
  };
  auto point = points_.begin();
  for (const Stretch& stretch : stretches_) {
    std::uint64_t next = stretch.low;
    for (; point != points_.end() && point->low <= stretch.high; ++point) {
      if (point->low < next) continue;
      if (point->low > next) add(next, stretch.value);
      add(point->low, point->value);
      next = std::uint64_t{point->low} + 1;
    }
    if (next <= stretch.high) add(next, stretch.value);
  }
}

}  // namespace secequiv::dd
