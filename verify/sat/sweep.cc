#include "verify/sat/sweep.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

namespace secequiv::sat {
namespace {

constexpr std::size_t kLanes = 64;
constexpr std::size_t kFirstSimulations = 16;
constexpr std::size_t kMostCandidates = 3;  // bits with which a bit is compared

// Limits on conflicts: for each query that merges bits, then for the query about the goal.
struct Effort {
  int merge;
  int goal;  // -1: no limit
};
constexpr std::array<Effort, 4> kEfforts = {
    {{30, 10000}, {300, 100000}, {3000, 1000000}, {30000, -1}}};
constexpr int kFirstTry = 1000;
constexpr std::size_t kSmallGraph = 100'000;  // bits; a quick search merges no others

std::size_t number(BitGraph::Bool bit) { return static_cast<std::size_t>(std::abs(bit)); }

}  // namespace

Sweep::Sweep(const BitGraph& graph, std::span<const Inputs> likely,
             std::span<const std::uint32_t> constants, std::function<bool()> stop, bool quick)
    : graph_(graph),
      constants_(constants.begin(), constants.end()),
      stop_(std::move(stop)),
      efforts_(!quick                       ? kEfforts.size()
               : graph.size() < kSmallGraph ? 1
                                            : 0),
      solver_(graph, CnfSolver::Effort::kManyQueries, stop_),
      values_(graph.size()),
      keys_(graph.size()),
      inverted_(graph.size()),
      same_(graph.size()) {
  std::iota(same_.begin(), same_.end(), 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < kFirstSimulations && !stop_(); ++i) {
    std::vector<Inputs>& inputs = first_.emplace_back();
    for (std::size_t lane = 0; lane < kLanes; ++lane, ++next)
      inputs.push_back(next < likely.size() ? likely[next] : varied(likely[next % likely.size()]));
    simulate(inputs);
    if (i == 0)
      for (std::size_t bit = 1; bit < graph_.size(); ++bit)
        inverted_[bit] = (values_[bit] & 1) != 0;
    hash_values();
  }
}

Sweep::Bool Sweep::same(Bool bit) const {
  while (same_[number(bit)] != std::abs(bit))
    bit = bit < 0 ? -same_[number(bit)] : same_[number(bit)];
  return bit;
}

std::uint64_t Sweep::value(Bool bit) const {
  return bit < 0 ? ~values_[number(bit)] : values_[number(bit)];
}

// xorshift64*
std::uint64_t Sweep::random() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return random_ * 0x2545f4914f6cdd1d;
}

// Changes one to four words: to a constant or a neighbour of one, by one bit, or to any value.
Inputs Sweep::varied(Inputs input) {
  for (std::uint64_t left = 1 + random() % 4; left > 0; --left) {
    const std::uint64_t choice = random();
    std::uint32_t& word = input[choice % input.size()];
    const auto kind = choice >> 32 & 7;
    const auto any = static_cast<std::uint32_t>(random() >> 32);
    if (kind < 4)
      word = constants_[any % constants_.size()] + static_cast<std::uint32_t>(kind == 0) -
             static_cast<std::uint32_t>(kind == 1);
    else
      word = kind < 6 ? word ^ 1U << (any & 31) : any;
  }
  return input;
}

void Sweep::simulate(std::span<const Inputs> inputs) {
  values_[1] = ~std::uint64_t{0};
  for (std::size_t bit = 2; bit < graph_.size(); ++bit) {
    const BitGraph::Bit& now = graph_.at(bit);
    std::uint64_t out = 0;
    switch (now.kind) {
      case BitGraph::Kind::kInput:
        for (std::size_t lane = 0; lane < inputs.size(); ++lane) {
          const auto at = static_cast<std::size_t>(now.a);
          out |= std::uint64_t{inputs[lane][at / 32] >> (at % 32) & 1} << lane;
        }
        break;
      case BitGraph::Kind::kAnd:
        out = value(now.a) & value(now.b);
        break;
      case BitGraph::Kind::kXor:
        out = value(now.a) ^ value(now.b);
        break;
      case BitGraph::Kind::kMux:
        out = (value(now.a) & value(now.b)) | (~value(now.a) & value(now.c));
        break;
    }
    values_[bit] = out;
  }
}

void Sweep::hash_values() {
  for (std::size_t bit = 1; bit < graph_.size(); ++bit) {
    const std::uint64_t value = inverted_[bit] ? ~values_[bit] : values_[bit];
    keys_[bit] = (std::rotl(keys_[bit], 23) ^ value) * 0x9e3779b97f4a7c15;
  }
}

Inputs Sweep::satisfying(const CnfSolver& solver) const {
  Inputs out(first_.front().front().size(), 0);
  for (const std::uint32_t bit : solver.true_inputs()) out[bit / 32] |= 1U << (bit % 32);
  return out;
}

// Simulates the solver's example, and inputs near it, and divides the classes by their values.
void Sweep::learn(const CnfSolver& solver) {
  std::vector<Inputs> inputs{satisfying(solver)};
  while (inputs.size() < kLanes) inputs.push_back(varied(inputs.front()));
  simulate(inputs);
  hash_values();
  classes_.clear();
  for (const std::size_t bit : placed_) classes_[keys_[bit]].push_back(bit);
}

// Looks for an example among the first inputs.
bool Sweep::simulated(Bool goal) {
  for (const std::vector<Inputs>& inputs : first_) {
    simulate(inputs);
    if (value(goal) == 0) continue;
    example_ = inputs[static_cast<std::size_t>(std::countr_zero(value(goal)))];
    return true;
  }
  return false;
}

Answer Sweep::solve(Bool goal, int conflicts) {
  CnfSolver solver(graph_, CnfSolver::Effort::kOneQuery, stop_);
  const Bool merged = same(goal);
  const Answer out =
      solver.ask(std::span(&merged, 1), conflicts, [this](Bool bit) { return same(bit); });
  if (out == Answer::kYes) example_ = satisfying(solver);
  return out;
}

Answer Sweep::differ(Bool a, Bool b, int conflicts) {
  for (const Bool sign : {1, -1}) {
    const std::array<Bool, 2> bits = {sign * a, -sign * b};
    const Answer answer = solver_.ask(bits, conflicts, [this](Bool bit) { return same(bit); });
    if (answer != Answer::kNo) return answer;
  }
  return Answer::kNo;
}

// Returns the bits that the goal depends on, parts first.
std::vector<std::size_t> Sweep::below(Bool goal) const {
  std::vector<bool> seen(graph_.size(), false);
  std::vector<std::size_t> out{number(goal)};
  seen[number(goal)] = true;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const BitGraph::Bit& bit = graph_.at(out[i]);
    if (out[i] == 1 || bit.kind == BitGraph::Kind::kInput) continue;
    for (const Bool part : {bit.a, bit.b, bit.c}) {
      if (part == 0) continue;
      const std::size_t next = number(same(part));
      if (!seen[next]) out.push_back(next);
      seen[next] = true;
    }
  }
  std::ranges::sort(out);
  return out;
}

void Sweep::place(std::size_t bit, int conflicts) {
  const auto literal = static_cast<Bool>(bit);
  for (std::size_t tried = 0; !stop_();) {
    const auto found = classes_.find(keys_[bit]);
    if (found == classes_.end() || tried == std::min(found->second.size(), kMostCandidates)) break;
    const std::size_t other = found->second[tried];
    const auto candidate =
        inverted_[bit] == inverted_[other] ? static_cast<Bool>(other) : -static_cast<Bool>(other);
    switch (differ(literal, candidate, conflicts)) {
      case Answer::kNo:
        same_[bit] = candidate;
        solver_.merge(literal, candidate);
        return;
      case Answer::kYes:
        learn(solver_);
        tried = 0;
        break;
      case Answer::kUnknown:
        ++tried;
    }
  }
  classes_[keys_[bit]].push_back(bit);
  placed_.push_back(bit);
}

void Sweep::merge_below(Bool goal, int conflicts) {
  classes_.clear();
  placed_.clear();
  place(1, conflicts);
  for (const std::size_t bit : below(goal)) {
    if (stop_()) return;
    if (bit > 1 && number(same(static_cast<Bool>(bit))) == bit) place(bit, conflicts);
  }
}

bool Sweep::minimize(Bool goal, std::span<const Bool> bits, Inputs example, int conflicts) {
  CnfSolver solver(graph_, CnfSolver::Effort::kManyQueries, stop_);
  example_ = std::move(example);
  simulate(std::span(&example_, 1));
  std::vector<Bool> fixed{same(goal)};
  for (const Bool bit : bits) {
    if ((value(bit) & 1) != 0) {
      fixed.push_back(-same(bit));
      const Answer zero = solver.ask(fixed, conflicts, [this](Bool part) { return same(part); });
      if (zero == Answer::kUnknown) return false;
      fixed.back() = same(bit);
      if (zero == Answer::kYes) {
        example_ = satisfying(solver);
        simulate(std::span(&example_, 1));
        fixed.back() = -same(bit);
      }
    } else {
      fixed.push_back(-same(bit));
    }
  }
  return true;
}

Answer Sweep::possible(Bool goal) {
  if (goal == -1) return Answer::kNo;
  if (simulated(goal)) return Answer::kYes;
  if (const Answer answer = solve(goal, kFirstTry); answer != Answer::kUnknown) return answer;
  for (const Effort& effort : std::span(kEfforts).first(efforts_)) {
    merge_below(goal, effort.merge);
    if (stop_()) break;
    if (same(goal) == -1) return Answer::kNo;
    if (const Answer answer = solve(goal, effort.goal); answer != Answer::kUnknown) return answer;
  }
  return Answer::kUnknown;
}

}  // namespace secequiv::sat
