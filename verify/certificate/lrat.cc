#include "verify/certificate/lrat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"

namespace secequiv::certificate {
namespace {

using Id = std::uint32_t;  // a clause's number, counted from 1

class Converter {
 public:
  explicit Converter(const LratLimits& limits) : limits_(limits), start_(Clock::now()) {}

  Result<std::string> convert(const std::vector<Clause>& formula, std::string_view drat);

 private:
  enum class Step : std::uint8_t { kClause, kDeleted, kEnd, kWrong };

  void grow(std::int32_t literal);
  static std::size_t slot(std::int32_t literal) {
    return 2 * static_cast<std::size_t>(std::abs(literal)) + (literal < 0 ? 1 : 0);
  }
  [[nodiscard]] bool is_true(std::int32_t l) const { return value_[slot(l)] > 0; }
  [[nodiscard]] bool is_false(std::int32_t l) const { return value_[slot(l)] < 0; }
  void assign(std::int32_t literal, Id reason);
  void retract(std::size_t mark);
  [[nodiscard]] bool within_limits();
  // Returns a clause that is false under the current assignment, or 0.
  Id propagate();
  bool attach(Clause clause, std::vector<Id> hints);
  [[nodiscard]] std::vector<Id> why(Id conflict, std::int32_t but) const;
  std::optional<std::vector<Id>> refute(const Clause& clause);
  Step read(std::string_view drat, std::size_t& at, Clause& clause) const;
  [[nodiscard]] std::string written(std::size_t given) const;

  LratLimits limits_;
  Clock::time_point start_;
  std::vector<Clause> clauses_{{}};         // by id; the first two literals are watched
  std::vector<std::vector<Id>> hints_{{}};  // by id
  std::vector<std::vector<Id>> watches_;    // by literal: clauses to examine when it becomes false
  std::vector<std::int8_t> value_;          // by literal: 1 true, -1 false
  std::vector<Id> reason_;                  // by variable; 0 means assumed
  std::vector<std::int32_t> trail_;
  std::size_t propagated_ = 0;
  std::size_t steps_ = 0;
};

void Converter::grow(std::int32_t literal) {
  const std::size_t needed = slot(std::abs(literal)) + 2;
  if (value_.size() >= needed) return;
  value_.resize(needed);
  watches_.resize(needed);
  reason_.resize(needed / 2);
}

void Converter::assign(std::int32_t literal, Id reason) {
  value_[slot(literal)] = 1;
  value_[slot(-literal)] = -1;
  reason_[static_cast<std::size_t>(std::abs(literal))] = reason;
  trail_.push_back(literal);
}

void Converter::retract(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back())
    value_[slot(trail_.back())] = value_[slot(-trail_.back())] = 0;
  propagated_ = mark;
}

bool Converter::within_limits() {
  return steps_ < limits_.steps && (clauses_.size() % 256 != 0 ||
                                    (seconds_since(start_) < limits_.seconds && !stop_wanted()));
}

Id Converter::propagate() {
  while (propagated_ < trail_.size()) {
    const std::int32_t wrong = -trail_[propagated_++];
    std::vector<Id>& watched = watches_[slot(wrong)];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      ++steps_;
      const Id id = watched[i];
      Clause& clause = clauses_[id];
      if (clause[0] == wrong) std::swap(clause[0], clause[1]);
      const auto next = is_true(clause[0])
                            ? clause.end()
                            : std::find_if(clause.begin() + 2, clause.end(),
                                           [&](std::int32_t l) { return !is_false(l); });
      if (next != clause.end()) {
        std::swap(clause[1], *next);
        watches_[slot(clause[1])].push_back(id);
        continue;
      }
      watched[kept++] = id;
      if (is_true(clause[0])) continue;
      if (is_false(clause[0])) {
        std::copy(watched.begin() + static_cast<std::ptrdiff_t>(i) + 1, watched.end(),
                  watched.begin() + static_cast<std::ptrdiff_t>(kept));
        watched.resize(watched.size() - (i + 1 - kept));
        return id;
      }
      assign(clause[0], id);
    }
    watched.resize(kept);
  }
  return 0;
}

// Returns the clauses that make clause `conflict` false, in the order of propagation, then
// `conflict` itself. If `but` is not 0, clause `conflict` made `but` true, and the result explains
// why.
std::vector<Id> Converter::why(Id conflict, std::int32_t but) const {
  std::vector<std::uint8_t> wanted(reason_.size());
  const auto want = [&](Id id, std::int32_t except) {
    for (const std::int32_t l : clauses_[id])
      if (l != except) wanted[static_cast<std::size_t>(std::abs(l))] = 1;
  };
  want(conflict, but);
  std::vector<Id> out{conflict};
  for (std::size_t i = trail_.size(); i-- > 0;) {
    const auto variable = static_cast<std::size_t>(std::abs(trail_[i]));
    if (wanted[variable] == 0 || reason_[variable] == 0) continue;
    want(reason_[variable], trail_[i]);
    out.push_back(reason_[variable]);
  }
  std::ranges::reverse(out);
  return out;
}

// Returns the clauses from which `clause` follows by unit propagation, or std::nullopt. Undoes its
// assumptions before it returns.
std::optional<std::vector<Id>> Converter::refute(const Clause& clause) {
  const std::size_t mark = trail_.size();
  std::optional<std::vector<Id>> out;
  for (const std::int32_t literal : clause) {
    if (is_true(literal)) {
      const Id reason = reason_[static_cast<std::size_t>(std::abs(literal))];
      // A true literal without a reason was assumed above. The clause then also contains the
      // opposite literal, and proofs do not need such clauses.
      if (reason != 0) out = why(reason, literal);
      retract(mark);
      return out;
    }
    if (!is_false(literal)) assign(-literal, 0);
  }
  if (const Id conflict = propagate(); conflict != 0) out = why(conflict, 0);
  retract(mark);
  return out;
}

// Returns false if the clauses now contradict each other. The last clause added is then empty.
bool Converter::attach(Clause clause, std::vector<Id> hints) {
  for (const std::int32_t literal : clause) grow(literal);
  std::ranges::partition(clause, [&](std::int32_t l) { return !is_false(l); });
  const auto id = static_cast<Id>(clauses_.size());
  const bool unit = clause.size() == 1 || (clause.size() > 1 && is_false(clause[1]));
  if (clause.size() > 1) {
    watches_[slot(clause[0])].push_back(id);
    watches_[slot(clause[1])].push_back(id);
  }
  clauses_.push_back(std::move(clause));
  hints_.push_back(std::move(hints));
  const Clause& added = clauses_.back();
  if (added.empty()) return false;
  Id conflict = is_false(added[0]) ? id : 0;
  if (conflict == 0 && unit && !is_true(added[0])) {
    assign(added[0], id);
    conflict = propagate();
  }
  if (conflict == 0) return true;
  std::vector<Id> last = why(conflict, 0);
  clauses_.emplace_back();
  hints_.push_back(std::move(last));
  return false;
}

// Reads the next line of a binary proof: 'a' or 'd', literals in bytes of 7 bits, then 0.
Converter::Step Converter::read(std::string_view drat, std::size_t& at, Clause& clause) const {
  clause.clear();
  if (at == drat.size() || drat[at] == 's') return Step::kEnd;
  const char kind = drat[at++];
  if (kind != 'a' && kind != 'd') return Step::kWrong;
  while (at < drat.size()) {
    std::uint64_t number = 0;
    int shift = 0;
    std::uint8_t byte = 0x80;
    for (; at < drat.size() && (byte & 0x80) != 0 && shift < 35; shift += 7) {
      byte = static_cast<std::uint8_t>(drat[at++]);
      number |= std::uint64_t{byte & 0x7fu} << shift;
    }
    if ((byte & 0x80) != 0) return Step::kWrong;
    if (number == 0) return kind == 'a' ? Step::kClause : Step::kDeleted;
    // Refuses variables that the formula does not have.
    if (number < 2 || number / 2 >= reason_.size()) return Step::kWrong;
    const auto variable = static_cast<std::int32_t>(number / 2);
    clause.push_back(number % 2 == 0 ? variable : -variable);
  }
  return Step::kWrong;
}

std::string Converter::written(std::size_t given) const {
  std::vector<Id> number(clauses_.size());
  std::vector<std::uint8_t> wanted(clauses_.size());
  wanted.back() = 1;
  for (std::size_t id = clauses_.size(); id-- > given + 1;)
    if (wanted[id] != 0)
      for (const Id hint : hints_[id]) wanted[hint] = 1;
  std::string out;
  auto count = static_cast<Id>(given);
  for (Id id = 1; id < clauses_.size(); ++id) {
    number[id] = id;
    if (id <= given || wanted[id] == 0) continue;
    number[id] = ++count;
    fmt::format_to(std::back_inserter(out), "{} ", number[id]);
    for (const std::int32_t literal : clauses_[id])
      fmt::format_to(std::back_inserter(out), "{} ", literal);
    out += '0';
    for (const Id hint : hints_[id]) fmt::format_to(std::back_inserter(out), " {}", number[hint]);
    out += " 0\n";
  }
  return out;
}

Result<std::string> Converter::convert(const std::vector<Clause>& formula, std::string_view drat) {
  // If unit clauses contradict each other, the proof ends early. The formula's remaining clauses
  // still get their numbers, before that of the empty clause.
  bool open = true;
  for (const Clause& clause : formula) {
    if (open) {
      open = attach(clause, {});
      continue;
    }
    clauses_.insert(clauses_.end() - 1, clause);
    hints_.insert(hints_.end() - 1, std::vector<Id>{});
  }
  std::size_t at = 0;
  for (Clause clause; open;) {
    const Step step = read(drat, at, clause);
    if (step == Step::kDeleted) continue;
    if (step != Step::kClause)
      return make_error(ErrorCode::kAdapter, "cadical",
                        "its output is not a proof, or ends before the empty clause");
    auto hints = refute(clause);
    if (!within_limits())
      return make_error(ErrorCode::kBudget, "proof.lrat",
                        "the limit of steps or time for the proof is reached");
    if (!hints)
      return make_error(ErrorCode::kAdapter, "cadical",
                        fmt::format("a clause of its proof, before byte {}, does not follow", at));
    open = attach(std::move(clause), std::move(*hints));
  }
  return written(formula.size());
}

}  // namespace

Result<std::string> lrat_from_drat(const std::vector<Clause>& formula, std::string_view drat,
                                   const LratLimits& limits) {
  return Converter(limits).convert(formula, drat);
}

}  // namespace secequiv::certificate
