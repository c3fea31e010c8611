#include "verify/walk/product_walk.h"

#include <algorithm>

#include "harness/base/interrupt.h"

namespace secequiv::walk {
namespace {

constexpr std::uint32_t kNone = ~0u;
constexpr std::size_t kWorkPerInsn = 10;
constexpr std::size_t kExecutedPerInsn = 64;
// These limits affect only programs that are longer than the kernel permits.
constexpr std::size_t kMostWork = std::size_t{1} << 17;
constexpr std::size_t kMostExecuted = std::size_t{1} << 21;

std::uint32_t memory_in_use(ProgramView program) {
  std::uint32_t out = 0;
  for (const Insn& in : program)
    if (in.code == kSt || in.code == kStx || in.code == kLdMem || in.code == kLdxMem)
      out = std::max(out, in.k + 1);
  return out;
}

}  // namespace

bool ProductWalk::same(ProgramView before, ProgramView after, Sameness sameness) {
  constexpr std::size_t kBetweenLooks = 256;
  const std::size_t most_bytes =
      (before.size() + after.size()) * sizeof(std::uint64_t) +
      std::min(kWorkPerInsn * (before.size() + after.size()), kMostWork) * sizeof(State);
  if (stop_wanted() || !memory_fits(most_bytes)) return false;
  std::size_t left = 0;
  start(before, after);
  if (!advance({}, sameness)) return false;
  const std::size_t length = before.size() + after.size();
  const std::size_t most_work = std::min(kWorkPerInsn * length, kMostWork);
  const std::size_t most_executed = std::min(kExecutedPerInsn * length, kMostExecuted);
  // In this order, the walk has taken all paths to a state before it leaves the state.
  for (const std::uint32_t& first : first_)
    for (std::uint32_t at = first; at != kNone; at = states_[at].next)
      if (work_ > most_work || executed_ > most_executed ||
          (left++ % kBetweenLooks == 0 && stop_wanted()) || !leave(at, sameness))
        return false;
  return true;
}

void ProductWalk::start(ProgramView before, ProgramView after) {
  terms_.clear();
  memory_ = std::max(memory_in_use(before), memory_in_use(after));
  first_.assign(before.size(), kNone);
  states_.clear();
  work_ = 0;
  executed_ = 0;
  registers_.clear();
  before_.start(before, terms_);
  after_.start(after, terms_);
}

void ProductWalk::run_both(const Facts& facts) {
  const auto decide = [&](const Literal& literal) { return facts.decide(literal); };
  executed_ += run_to_test(terms_, before_, decide);
  executed_ += run_to_test(terms_, after_, decide);
}

// Takes both programs to the next state. Returns false if their return values may differ.
bool ProductWalk::advance(const Facts& facts, Sameness sameness) {
  run_both(facts);
  if (before_.returned && after_.returned) return same_result(facts, sameness);
  arrive(facts);
  return true;
}

bool ProductWalk::leave(std::uint32_t state, Sameness sameness) {
  const State here = states_[state];
  before_.pc = here.before;
  after_.pc = here.after;
  read_registers(here.registers);
  run_both(here.facts);
  // The joined facts must not decide a test that one of the joined paths left undecided.
  if (before_.pc != here.before || after_.pc != here.after) return false;
  // If `before` is at a division, `after` advances first, until it also reaches a division: a state
  // does not record whether a division has ended its program.
  const bool waits = before_.returned || (before_.at_division() && !after_.returned);
  Literal learned = waits ? after_.test : before_.test;
  const std::array before_next = next_of(before_, learned);
  const std::array after_next = next_of(after_, learned);
  for (const bool outcome : {true, false}) {
    learned.holds = outcome;
    Facts facts = here.facts;
    if (!facts.learn(learned)) continue;  // infeasible
    before_.pc = before_next[outcome ? 1 : 0];
    after_.pc = after_next[outcome ? 1 : 0];
    read_registers(here.registers);
    if (!advance(facts, sameness)) return false;
    // A division may end one program while the other does not move. The state must not lead to
    // itself.
    const bool ended = before_.returned && after_.returned;
    if (!ended && before_.pc == here.before && after_.pc == here.after) return false;
  }
  return true;
}

bool ProductWalk::same_result(const Facts& facts, Sameness sameness) const {
  if (before_.result == after_.result) return true;
  const Range before = facts.about(before_.result, terms_).range();
  const Range after = facts.about(after_.result, terms_).range();
  return before.low == before.high && after.low == after.high &&
         same_decision(before.low, after.low, sameness);
}

void ProductWalk::arrive(const Facts& facts) {
  const std::uint32_t before = before_.pc;
  const std::uint32_t after = after_.pc;
  ++work_;
  write_registers();
  std::uint32_t earlier = kNone;
  std::uint32_t at = first_[before];
  for (; at != kNone && states_[at].after < after; at = states_[at].next, ++work_) earlier = at;
  if (at != kNone && states_[at].after == after) return join(states_[at], facts);
  const auto made = static_cast<std::uint32_t>(states_.size());
  (earlier == kNone ? first_[before] : states_[earlier].next) = made;
  states_.push_back({before, after, at, static_cast<std::uint32_t>(registers_.size()), facts});
  registers_.insert(registers_.end(), arriving_.begin(), arriving_.end());
}

void ProductWalk::join(State& there, const Facts& facts) {
  Facts joined;
  for (std::size_t i = 0; i < there.facts.size(); ++i) {
    Fact fact = there.facts[i];
    fact.join(facts.about(fact.term(), terms_), fact.term());
    if (!fact.empty()) joined.put(fact);
  }
  replaced_.clear();
  // Starts at the last register and ends with A. The newest fact is found first, and A is likely to
  // be tested next.
  for (std::size_t i = arriving_.size(); i-- > 0;) {
    Term& mine = registers_[there.registers + i];
    if (mine == arriving_[i]) continue;
    const auto again = std::ranges::find_if(replaced_, [&](const Replaced& r) {
      return r.there == mine && r.arriving == arriving_[i];
    });
    if (again != replaced_.end()) {
      mine = again->unknown;
      continue;
    }
    const Term unknown = terms_.unknown();
    replaced_.push_back({mine, arriving_[i], unknown});
    Fact fact = there.facts.about(mine, terms_);
    fact.join(facts.about(arriving_[i], terms_), unknown);
    if (!fact.empty()) joined.put(fact);
    mine = unknown;
  }
  there.facts = joined;
}

void ProductWalk::write_registers() {
  arriving_.clear();
  for (const Side* const side : {&before_, &after_}) {
    arriving_.push_back(side->machine.a);
    arriving_.push_back(side->machine.x);
    for (std::uint32_t k = 0; k < memory_; ++k) arriving_.push_back(side->machine.m[k]);
  }
}

void ProductWalk::read_registers(std::uint32_t from) {
  for (Side* const side : {&before_, &after_}) {
    side->machine.a = registers_[from++];
    side->machine.x = registers_[from++];
    for (std::uint32_t k = 0; k < memory_; ++k) side->machine.m[k] = registers_[from++];
  }
}

}  // namespace secequiv::walk
