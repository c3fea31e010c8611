#include "verify/dd/lockstep.h"

#include <algorithm>
#include <bit>

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kNone = ~0u;
constexpr std::size_t kWorkPerInsn = 10;

std::uint32_t memory_in_use(ProgramView program) {
  std::uint32_t out = 0;
  for (const Insn& in : program)
    if (in.code == kSt || in.code == kStx || in.code == kLdMem || in.code == kLdxMem)
      out = std::max(out, in.k + 1);
  return out;
}

}  // namespace

// What an outcome says, as long as it can occur.
void Lockstep::Fact::learn(const Condition& condition, bool outcome) {
  const std::uint32_t k = condition.k;
  switch (condition.test) {
    case Comparison::kEq:
      if (outcome) {
        low = high = ones = k;
        zeros = ~k;
      } else {
        exclude(k);
        if (low == k && low != 0xffffffff) ++low;
        if (high == k && high != 0) --high;
      }
      return;
    case Comparison::kGt:
      if (outcome && k != 0xffffffff) low = std::max(low, k + 1);
      if (!outcome) high = std::min(high, k);
      return;
    case Comparison::kGe:
      if (outcome) low = std::max(low, k);
      if (!outcome && k != 0) high = std::min(high, k - 1);
      return;
    case Comparison::kAnyBit:
      if (outcome) {
        some_of = k;
        if (std::has_single_bit(k)) ones |= k;
        low = std::max(low, k & (~k + 1));
      } else {
        zeros |= k;
        high = std::min(high, ~zeros);
      }
      return;
  }
}

std::optional<bool> Lockstep::Fact::decide(const Condition& condition) const {
  const std::uint32_t k = condition.k;
  switch (condition.test) {
    case Comparison::kEq:
      if (low == k && high == k) return true;
      if (is_not(k)) return false;
      return std::nullopt;
    case Comparison::kGt:
      if (low > k) return true;
      if (high <= k) return false;
      return std::nullopt;
    case Comparison::kGe:
      if (low >= k) return true;
      if (high < k) return false;
      return std::nullopt;
    case Comparison::kAnyBit:
      if ((k & ones) != 0 || (some_of != 0 && (some_of & ~k) == 0)) return true;
      if ((k & ~zeros) == 0) return false;
      return std::nullopt;
  }
  return std::nullopt;
}

bool Lockstep::Fact::is_not(std::uint32_t value) const {
  if (value < low || value > high || (value & zeros) != 0 || (~value & ones) != 0 ||
      (some_of != 0 && (value & some_of) == 0))
    return true;
  for (std::uint32_t i = 0; i < excluded_count; ++i)
    if (excluded[i] == value) return true;
  return false;
}

// The oldest one is forgotten for it.
void Lockstep::Fact::exclude(std::uint32_t value) {
  std::uint32_t at = 0;
  while (at < excluded_count && excluded[at] != value) ++at;
  if (at == excluded.size()) --at;
  if (at == excluded_count) ++excluded_count;
  for (; at > 0; --at) excluded[at] = excluded[at - 1];
  excluded[0] = value;
}

// To what holds of this one and of the other.
void Lockstep::Fact::weaken(const Fact& other) {
  const Fact mine = *this;
  excluded_count = 0;
  for (std::uint32_t i = other.excluded_count; i-- > 0;)
    if (mine.is_not(other.excluded[i])) exclude(other.excluded[i]);
  for (std::uint32_t i = mine.excluded_count; i-- > 0;)
    if (other.is_not(mine.excluded[i])) exclude(mine.excluded[i]);
  if (some_of != other.some_of && (other.ones & some_of) == 0)
    some_of = (ones & other.some_of) != 0 ? other.some_of : 0;
  low = std::min(low, other.low);
  high = std::max(high, other.high);
  ones &= other.ones;
  zeros &= other.zeros;
}

bool Lockstep::Fact::says_nothing() const {
  return low == 0 && high == 0xffffffff && (ones | zeros | some_of | excluded_count) == 0;
}

void Lockstep::Facts::put(const Fact& fact) {
  std::size_t at = 0;
  while (at < count && known[at].term != fact.term) ++at;
  if (at == kMost) --at;
  if (at == count) ++count;
  for (; at > 0; --at) known[at] = known[at - 1];
  known[0] = fact;
}

Lockstep::Fact Lockstep::known(const Facts& facts, Term term) const {
  for (std::size_t i = 0; i < facts.count; ++i)
    if (facts.known[i].term == term) return facts.known[i];
  Fact out;
  out.term = term;
  if (terms_.is_constant(term)) out.learn({term, Comparison::kEq, terms_.number(term)}, true);
  return out;
}

struct Lockstep::Control {
  const Lockstep& walk;
  Side& side;
  const Facts& facts;
  bool stopped = false;

  void next() { ++side.pc; }
  void jump(std::uint32_t k) { side.pc += 1 + k; }
  void branch(const Condition& taken, std::uint32_t jt, std::uint32_t jf) {
    if (jt == jf) return jump(jt);
    if (const auto outcome = decide(taken)) return jump(*outcome ? jt : jf);
    stop(Stop::kTest, taken);
  }
  void ret(Term value) {
    side.result = value;
    stop(Stop::kReturn, {});
  }
  bool exit_if_zero(Term divisor) {
    const Condition is_zero{divisor, Comparison::kEq, 0};
    const auto outcome = decide(is_zero);
    if (outcome == false) return false;
    if (outcome) {
      ret(walk.zero_);
    } else {
      stop(Stop::kDivision, is_zero);
    }
    return true;
  }

 private:
  [[nodiscard]] std::optional<bool> decide(const Condition& condition) const {
    return walk.known(facts, condition.word).decide(condition);
  }
  void stop(Stop why, const Condition& condition) {
    side.stop = why;
    side.condition = condition;
    stopped = true;
  }
};

// To the next test, division or return that is not decided.
void Lockstep::run(Side& side, const Facts& facts) {
  Control control{*this, side, facts};
  while (!control.stopped) step(terms_, side.program[side.pc], side.machine, control);
}

bool Lockstep::same(ProgramView before, ProgramView after, Sameness sameness) {
  start(before, after);
  if (!advance({}, sameness)) return false;
  const std::size_t limit = kWorkPerInsn * (before.size() + after.size());
  // In this order all ways to a state have been walked before it is left.
  for (const std::uint32_t& first : first_)
    for (std::uint32_t at = first; at != kNone; at = states_[at].next)
      if (work_ > limit || !leave(at, sameness)) return false;
  return true;
}

void Lockstep::start(ProgramView before, ProgramView after) {
  terms_.clear();
  zero_ = terms_.constant(0);
  memory_ = std::max(memory_in_use(before), memory_in_use(after));
  first_.assign(before.size(), kNone);
  states_.clear();
  work_ = 0;
  registers_.clear();
  for (Side* const side : {&before_, &after_}) {
    side->pc = 0;
    side->machine.a = side->machine.x = zero_;
    side->machine.m.fill(zero_);
  }
  before_.program = before;
  after_.program = after;
}

// Both to the next state. False if they part on the way.
bool Lockstep::advance(Facts facts, Sameness sameness) {
  run(before_, facts);
  run(after_, facts);
  // Where both divide by the same, either both end with 0 or neither does.
  while (before_.stop == Stop::kDivision && after_.stop == Stop::kDivision &&
         before_.condition == after_.condition) {
    learn(facts, before_.condition, false);
    run(before_, facts);
    run(after_, facts);
  }
  if (before_.stop == Stop::kReturn && after_.stop == Stop::kReturn)
    return same_result(facts, sameness);
  if (before_.stop != Stop::kTest && after_.stop != Stop::kTest) return false;
  arrive(facts);
  return true;
}

bool Lockstep::leave(std::uint32_t state, Sameness sameness) {
  const State here = states_[state];
  const auto stand = [&] {
    before_.pc = here.before;
    after_.pc = here.after;
    read_registers(here.registers);
  };
  stand();
  run(before_, here.facts);
  run(after_, here.facts);
  // Of several ways less is known than of each, so no test that was open is decided now.
  if (before_.pc != here.before || after_.pc != here.after) return false;
  const bool first = before_.stop == Stop::kTest;
  const Condition condition = first ? before_.condition : after_.condition;
  const bool second = after_.stop == Stop::kTest && after_.condition == condition;
  for (const bool outcome : {true, false}) {
    stand();
    if (first) follow(before_, outcome);
    if (second) follow(after_, outcome);
    Facts facts = here.facts;
    learn(facts, condition, outcome);
    if (!advance(facts, sameness)) return false;
  }
  return true;
}

void Lockstep::follow(Side& side, bool outcome) {
  side.pc = static_cast<std::uint32_t>(jump_target(side.pc, side.program[side.pc], outcome));
}

void Lockstep::learn(Facts& facts, const Condition& condition, bool outcome) const {
  Fact fact = known(facts, condition.word);
  fact.learn(condition, outcome);
  facts.put(fact);
}

bool Lockstep::same_result(const Facts& facts, Sameness sameness) const {
  if (before_.result == after_.result) return true;
  const Fact before = known(facts, before_.result);
  const Fact after = known(facts, after_.result);
  return before.low == before.high && after.low == after.high &&
         same_decision(before.low, after.low, sameness);
}

void Lockstep::arrive(const Facts& facts) {
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

void Lockstep::join(State& there, const Facts& facts) {
  Facts joined;
  for (std::size_t i = there.facts.count; i-- > 0;) {
    Fact fact = there.facts.known[i];
    fact.weaken(known(facts, fact.term));
    if (!fact.says_nothing()) joined.put(fact);
  }
  replaced_.clear();
  // From the last to A, which is likely to be tested next.
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
    Fact fact = known(there.facts, mine);
    fact.weaken(known(facts, arriving_[i]));
    fact.term = unknown;
    if (!fact.says_nothing()) joined.put(fact);
    mine = unknown;
  }
  there.facts = joined;
}

void Lockstep::write_registers() {
  arriving_.clear();
  for (const Side* const side : {&before_, &after_}) {
    arriving_.push_back(side->machine.a);
    arriving_.push_back(side->machine.x);
    for (std::uint32_t k = 0; k < memory_; ++k) arriving_.push_back(side->machine.m[k]);
  }
}

void Lockstep::read_registers(std::uint32_t from) {
  for (Side* const side : {&before_, &after_}) {
    side->machine.a = registers_[from++];
    side->machine.x = registers_[from++];
    for (std::uint32_t k = 0; k < memory_; ++k) side->machine.m[k] = registers_[from++];
  }
}

}  // namespace secequiv::dd
