#include "fuzz/hunt/pattern.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include "fuzz/hunt/program_source.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/shrink.h"
#include "harness/policy/json.h"
#include "harness/seccomp/action.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostParts = 32;     // a longer pattern is not the pattern of one bug
constexpr std::size_t kMostChoices = 256;  // of names, in one search

// --- programs

constexpr std::uint32_t kNullJump = 0x10000u | kJa;  // a JA with k = 0; no opcode has this value

// Almost every program has these instructions, and reductions prefer them.
bool says_little(const Insn& in) { return is_ret(in) || in.code == kLdImm || in.code == kLdxImm; }

constexpr std::uint64_t kValueName = 1;  // the space of names of values; higher ones: of places

std::uint64_t name_of(const Insn& in) {
  const Operand operand = insn_info(in.code)->operand;
  const bool value = operand == Operand::Imm || operand == Operand::CondImm;
  if (operand != Operand::Abs && operand != Operand::Mem && (!value || in.k == 0)) return 0;
  const std::uint64_t space = value ? kValueName : operand == Operand::Abs ? 2 : 3;
  return space << 32 | in.k;
}

Parts parts_of(ProgramView program) {
  Parts out;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (says_little(in)) continue;
    const bool null_jump = in.code == kJa && in.k == 0;
    const std::uint32_t symbol = null_jump ? kNullJump : in.code;
    out.push_back({symbol, symbol, simplest_like(in.code), name_of(in), pc});
  }
  return out;
}

// Removes each JA, which says little too, unless nothing else is left. A jump to the next
// instruction stays: reductions would have removed it if the failure did not need it.
void drop_jumps(Parts& parts) {
  const auto is_ja = [](const Part& part) { return part.symbol == kJa; };
  if (!std::ranges::all_of(parts, is_ja)) std::erase_if(parts, is_ja);
}

bool is_load(const Part& part) { return part.symbol == kLdWAbs; }
bool is_test(const Part& part) {
  return is_conditional(Insn{static_cast<std::uint16_t>(part.symbol), 0, 0, 0});
}

// Removes the load of a word that only supplies a value, and the tests at the end, which only show
// the wrong value. Keeps them if nothing else is left.
void keep_the_cause(Parts& parts) {
  if (std::ranges::all_of(parts, [](const Part& part) { return is_load(part) || is_test(part); }))
    return;
  while (is_test(parts.back())) parts.pop_back();
  const Parts all = parts;
  std::erase_if(parts, [&](const Part& part) {
    return is_load(part) && std::ranges::count(all, part.name, &Part::name) == 1;
  });
}

// Returns a simpler instruction in place of the one at `pc`. If `general`, the pattern stands for
// all instructions of this kind, so the result has another kind.
Insn simpler(ProgramView program, std::size_t pc, bool general) {
  const Insn& in = program[pc];
  if (in.code == kJa) {
    const Insn& target = program[jump_target(pc, in, true)];
    return is_ret(target) ? target : Insn{kLdImm, 0, 0, 0};
  }
  const std::uint16_t code = simplest_like(in.code);
  if (code != in.code && !general) return {code, in.jt, in.jf, in.k};
  return is_jump(in) ? Insn{kJa, 0, 0, in.jt} : Insn{kLdImm, 0, 0, in.k};
}

// Returns the instruction at `pc` with a word or slot that no other instruction of the program has.
std::optional<Insn> with_fresh_name(ProgramView program, std::size_t pc) {
  Insn out = program[pc];
  const std::uint32_t step = insn_info(out.code)->operand == Operand::Abs ? 4 : 1;
  for (out.k = 0; out.k < 16 * step; out.k += step)
    if (std::ranges::none_of(program, [&](const Insn& in) { return name_of(in) == name_of(out); }))
      return out;
  return std::nullopt;
}

// --- policies

enum Symbol : std::uint32_t {
  kArch,
  kOtherData,
  kX32,
  kDefaultRanges,
  kSet,
  kVsyscall,
  kNoCall,
  kAnyOf,
  kAllOf,
  kAnd,
  kTest
};
// These actions replace actions that differ only in their data, unless the policy uses them
// already.
constexpr std::array kDistinctActions = {
    SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS,
    SECCOMP_RET_TRAP,  SECCOMP_RET_LOG,   SECCOMP_RET_TRACE};
constexpr std::uint32_t kLowHalf = 4;      // in the symbol of a test
constexpr std::uint32_t kOneArch = 0x100;  // + the architecture, unless it is kSimplestArch
constexpr Arch kSimplestArch = Arch::kX86_64;

struct Symbols {
  std::uint32_t symbol;
  std::uint32_t general = symbol;
  std::uint32_t wide = symbol;
};
// Takes a part out. If `general`, the pattern stands for all parts of this kind, so no part of this
// kind remains.
using TakeOut = std::function<void(bool general)>;
// Receives a part of a policy. Returns true to end the visit.
using VisitPart = std::function<bool(Symbols, const TakeOut&)>;

std::uint32_t symbol_of(const Matcher& test) {
  const bool masked = test.op == Matcher::Op::kMaskedEq;
  return kTest + 8 * static_cast<std::uint32_t>(test.op) + (test.low_half ? kLowHalf : 0) +
         (masked && test.value == 0 ? 2u : 0u) + (masked && test.mask == 0 ? 1u : 0u);
}

// Reductions try this test in place of any other.
constexpr std::uint32_t kSimplestTest = kTest + 8 * static_cast<std::uint32_t>(Matcher::Op::kEq);

void take_out_test(Rule& rule, Matcher& test, bool general) {
  if (!general) {
    test.op = test.op == Matcher::Op::kEq ? Matcher::Op::kGe : Matcher::Op::kEq;
    test.mask = 0;
    return;
  }
  test = {};
  const auto is_absent = [](const Matcher& other) { return other.op == Matcher::Op::kAny; };
  if (std::ranges::all_of(rule.fields, is_absent)) rule = {};
}

bool visit_fields(Rule& rule, const VisitPart& visit) {
  bool first = true;
  for (Matcher& test : rule.fields) {
    if (test.op == Matcher::Op::kAny) continue;
    if (!std::exchange(first, false) && visit({kAnd}, [&](bool) { test = {}; })) return true;
    const auto take_out = [&](bool general) { take_out_test(rule, test, general); };
    const std::uint32_t symbol = symbol_of(test);
    if (visit({symbol, kSimplestTest, symbol - (test.low_half ? kLowHalf : 0)}, take_out))
      return true;
  }
  return false;
}

bool visit_rule(Rule& rule, const VisitPart& visit) {
  if (rule.kind == Rule::Kind::kArgs) return visit_fields(rule, visit);
  if (!is_branching(rule)) return false;
  const auto only_first = [&](bool) {
    const Rule child = rule.children.front();
    rule = child;
  };
  if (visit({rule.kind == Rule::Kind::kAnyOf ? kAnyOf : kAllOf}, only_first)) return true;
  return std::ranges::any_of(rule.children, [&](Rule& child) { return visit_rule(child, visit); });
}

void without_arch(Policy& policy, std::size_t at) {
  const Arch arch = policy.arches[at];
  policy.arches.erase(policy.arches.begin() + static_cast<std::ptrdiff_t>(at));
  if (arch == Arch::kX86_64) policy.x32_action.reset();
  std::erase_if(policy.default_ranges, [&](const auto& range) { return range.arch == arch; });
  for (RuleSet& set : policy.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule& entry) { return entry.arch == arch; });
}

bool visit_set(RuleSet& set, const VisitPart& visit) {
  constexpr std::uint32_t kNoNumber = 0x40000000;  // x32 numbers, and numbers like -1
  if (set.vsyscall && visit({kVsyscall}, [&](bool) { set.vsyscall = false; })) return true;
  for (std::size_t i = 0; i < set.rules.size(); ++i) {
    const auto erase = [&](bool) {
      set.rules.erase(set.rules.begin() + static_cast<std::ptrdiff_t>(i));
    };
    if (set.rules[i].nr >= kNoNumber && visit({kNoCall}, erase)) return true;
    if (visit_rule(set.rules[i].rule, visit)) return true;
  }
  return false;
}

// Replaces the only architecture by the simplest one.
void with_simplest_arch(Policy& policy) {
  policy.arches.front() = kSimplestArch;
  for (DefaultRange& range : policy.default_ranges) range.arch = kSimplestArch;
  for (RuleSet& set : policy.rule_sets)
    for (SyscallRule& entry : set.rules) entry.arch = kSimplestArch;
}

bool visit_arches(Policy& policy, const VisitPart& visit) {
  for (std::size_t i = 0; i < policy.arches.size(); ++i) {
    const bool simplest = policy.arches[i] == kSimplestArch;
    const auto take_out = [&](bool) {
      policy.arches.size() > 1 ? without_arch(policy, i) : with_simplest_arch(policy);
    };
    const std::uint32_t one =
        simplest ? kArch : kOneArch + static_cast<std::uint32_t>(policy.arches[i]);
    if ((i > 0 || !simplest) && visit({one, i > 0 ? std::uint32_t{kArch} : one}, take_out))
      return true;
  }
  return false;
}

std::vector<std::uint32_t*> actions_of(Policy& policy) {
  std::vector<std::uint32_t*> out = {&policy.default_action, &policy.bad_arch_action};
  if (policy.x32_action) out.push_back(&*policy.x32_action);
  for (DefaultRange& range : policy.default_ranges) out.push_back(&range.action);
  for (RuleSet& set : policy.rule_sets) out.push_back(&set.action);
  return out;
}

// Visits each action that differs from an earlier one only in its data: a compiler may confuse the
// two. Reductions keep such an action only if the failure needs it.
bool visit_data(Policy& policy, const VisitPart& visit) {
  const auto actions = actions_of(policy);
  const auto kind = [](const std::uint32_t* action) { return action_of(*action); };
  for (std::size_t i = 1; i < actions.size(); ++i) {
    const auto earlier = std::span(actions).first(i);
    const auto first = std::ranges::find(earlier, kind(actions[i]), kind);
    if (first == earlier.end() || **first == *actions[i]) continue;
    const auto take_out = [&](bool) {
      const std::uint32_t old = *actions[i];
      const auto unused = std::ranges::find_if(kDistinctActions, [&](std::uint32_t other) {
        return std::ranges::find(actions, other, kind) == actions.end();
      });
      const std::uint32_t now = unused == kDistinctActions.end() ? **first : *unused;
      for (std::uint32_t* action : actions)
        if (*action == old) *action = now;
    };
    if (visit({kOtherData}, take_out)) return true;
  }
  return false;
}

void visit_policy(Policy& policy, const VisitPart& visit) {
  if (visit_arches(policy, visit)) return;
  if (visit_data(policy, visit)) return;
  if (policy.x32_action && visit({kX32}, [&](bool) { policy.x32_action.reset(); })) return;
  const auto without_ranges = [&](bool) { policy.default_ranges.clear(); };
  if (!policy.default_ranges.empty() && visit({kDefaultRanges}, without_ranges)) return;
  for (std::size_t i = 0; i < policy.rule_sets.size(); ++i) {
    auto& sets = policy.rule_sets;
    const auto erase = [&](bool) { sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(i)); };
    if (i > 0 && visit({kSet}, erase)) return;
    if (visit_set(sets[i], visit)) return;
  }
}

bool is_arch(const Part& part) { return part.symbol == kArch || part.symbol >= kOneArch; }

// Reductions keep a second architecture only if its presence matters. Then any other would do.
void generalize_arches(Parts& parts) {
  const auto is_further = [](const Part& part) { return part.general == kArch; };
  if (std::ranges::none_of(parts, is_further)) return;
  std::erase_if(parts, [&](const Part& part) { return is_arch(part) && !is_further(part); });
  for (Part& part : parts)
    if (is_arch(part)) part.symbol = kArch;
}

Parts parts_of(Policy& policy) {
  Parts out;
  visit_policy(policy, [&](Symbols symbols, const TakeOut& /*take_out*/) {
    out.push_back({symbols.symbol, symbols.wide, symbols.general, 0, out.size()});
    return false;
  });
  return out;
}

// --- both

// Maps a load or store of A and the same one of X to one opcode.
std::uint32_t register_left_out(std::uint32_t symbol) {
  if (symbol == kLdxMem) return kLdMem;
  if (symbol == kStx) return kSt;
  return symbol == kLdxLen ? std::uint32_t{kLdLen} : symbol;
}

}  // namespace

Parts parts_of(const HuntSubject& subject) { return Stripped(subject).parts(); }

bool has_other_arch(const Parts& parts) { return std::ranges::any_of(parts, is_arch); }

bool has_more(const Parts& parts, const Parts& original) {
  const auto symbols = [](const Parts& all) {
    std::vector<std::uint32_t> out;
    for (const Part& part : all)
      out.push_back(part.symbol == kNullJump ? std::uint32_t{kJa} : part.symbol);
    std::ranges::sort(out);
    return out;
  };
  return !std::ranges::includes(symbols(original), symbols(parts));
}

Pattern::Pattern(const HuntSubject& reduced, bool values)
    : parts_(parts_of(reduced)), values_(values || !reduced.policy.empty()) {
  if (reduced.policy.empty()) drop_jumps(parts_);
  if (!reduced.policy.empty()) generalize_arches(parts_);
  if (parts_.size() > kMostParts) parts_.clear();
  if (reduced.policy.empty() && !parts_.empty()) keep_the_cause(parts_);
}

bool Pattern::stands_for(const Part& pattern, const Part& part) const {
  if (pattern.symbol == part.symbol || pattern.symbol == part.wide ||
      pattern.symbol == part.general)
    return true;
  return !values_ && register_left_out(pattern.symbol) == register_left_out(part.symbol);
}

// Searches for the shortest occurrence. Wherever the pattern repeats a name, the occurrence must
// repeat one, too.
class Pattern::Search {
 public:
  Search(const Pattern& pattern, const Parts& parts) : pattern_(pattern), parts_(parts) {}

  Parts shortest() {
    const Parts& wanted = pattern_.parts_;
    if (wanted.empty() || !window()) return {};
    for (const Part& part : wanted)
      if (part.name != 0 && std::ranges::count(wanted, part.name, &Part::name) > 1 &&
          std::ranges::find(repeated_, part.name, &Part::name) == repeated_.end())
        repeated_.push_back(part);
    choose(0);
    return std::move(best_);
  }

 private:
  using Window = std::pair<std::size_t, std::size_t>;

  // Tries every assignment of the parts' names to the pattern's repeated names from `at` on.
  void choose(std::size_t at) {
    if (at == repeated_.size()) {
      if (++choices_ <= kMostChoices) take(window());
      return;
    }
    std::vector<std::uint64_t> tried;
    for (const Part& part : parts_) {
      if (!pattern_.stands_for(repeated_[at], part) || choices_ > kMostChoices ||
          std::ranges::find(tried, part.name) != tried.end())
        continue;
      tried.push_back(part.name);
      names_.emplace_back(repeated_[at].name, part.name);
      choose(at + 1);
      names_.pop_back();
    }
  }

  [[nodiscard]] bool fits(const Part& wanted, const Part& part) const {
    if (!pattern_.stands_for(wanted, part)) return false;
    const auto named =
        std::ranges::find(names_, wanted.name, [](auto& pair) { return pair.first; });
    return named == names_.end() || named->second == part.name;
  }

  // Returns the first and the last part of the shortest occurrence.
  [[nodiscard]] std::optional<Window> window() const {
    const Parts& wanted = pattern_.parts_;
    // For each beginning of the pattern, the last place where an occurrence of it can start.
    std::vector<std::optional<std::size_t>> starts(wanted.size());
    std::optional<Window> best;
    for (std::size_t at = 0; at < parts_.size(); ++at) {
      for (std::size_t i = wanted.size(); i-- > 0;)
        if ((i == 0 || starts[i - 1]) && fits(wanted[i], parts_[at]))
          starts[i] = i == 0 ? at : starts[i - 1];
      const auto& start = starts.back();
      if (start && (!best || length({*start, at}) < length(*best))) best = Window{*start, at};
    }
    return best;
  }

  [[nodiscard]] std::size_t length(const Window& window) const {
    return parts_[window.second].place - parts_[window.first].place;
  }

  void take(const std::optional<Window>& found) {
    if (!found || (!best_.empty() && best_.back().place - best_.front().place <= length(*found)))
      return;
    best_.clear();
    for (std::size_t at = found->first; best_.size() < pattern_.parts_.size(); ++at)
      if (fits(pattern_.parts_[best_.size()], parts_[at])) best_.push_back(parts_[at]);
  }

  const Pattern& pattern_;
  const Parts& parts_;
  Parts repeated_;
  Parts best_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> names_;  // in the pattern, and here
  std::size_t choices_ = 0;
};

Parts Pattern::occurrence(const Parts& parts) const { return Search(*this, parts).shortest(); }

bool Pattern::same_as(const Pattern& other) const {
  return !parts_.empty() &&
         std::ranges::equal(parts_, other.parts_,
                            [&](const Part& one, const Part& two) { return stands_for(one, two); });
}

std::uint32_t Pattern::arch() const {
  const auto at = std::ranges::find_if(parts_, is_arch);
  return at == parts_.end() ? 0 : at->symbol + 1;
}

// Returns whether the pattern has another part with the word or slot of this one.
bool Pattern::repeats_place(const Part& part) const {
  return part.name >> 32 > kValueName && std::ranges::count(parts_, part.name, &Part::name) > 1;
}

Stripped::Stripped(HuntSubject subject) : subject_(std::move(subject)) {
  if (!subject_.policy.empty()) {
    auto policy = read_policy(subject_.policy, subject_.name);
    if (!policy) return;
    policy_ = std::move(*policy);
  }
  update_parts();
}

void Stripped::update_parts() {
  parts_ = policy_ ? parts_of(*policy_) : parts_of(subject_.before);
  std::erase_if(parts_, [&](const Part& part) { return part.place == kept_; });
}

bool Stripped::take_out(const Pattern& pattern, std::size_t way) {
  return take_out(pattern, way, true);
}

bool Stripped::take_out(const Pattern& pattern, std::size_t way, bool checked) {
  const Parts found = pattern.occurrence(parts_);
  // Tries the smallest change first: equal words or slots become different ones.
  for (std::size_t i = found.size(); i-- > 0 && !policy_;)
    if (pattern.repeats_place(pattern.parts_[i]) &&
        put(found[i].place, with_fresh_name(subject_.before, found[i].place), way))
      return true;
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> order;  // the rarest symbol first
  order.reserve(found.size());
  for (const Part& part : found)
    order.emplace_back(std::ranges::count(parts_, part.symbol, &Part::symbol), order.size());
  std::ranges::sort(order);
  return std::ranges::any_of(order, [&](const auto& rarest) {
    const Part& part = found[rarest.second];
    const bool general = pattern.parts_[rarest.second].symbol == part.general;
    if (!policy_) return put(part.place, simpler(subject_.before, part.place, general), way);
    Policy simple = simpler_policy(part, general);
    if (checked) return put(simple, way);
    policy_ = std::move(simple);
    update_parts();
    return true;
  });
}

std::size_t Stripped::take_out_all(const Pattern& pattern, std::size_t way, std::size_t most) {
  std::size_t taken = 0;
  if (policy_ && way == 0 && most > 1) {
    // Checking the policy takes far longer than changing it, so this checks it once.
    const Stripped given = *this;
    while (taken < most && take_out(pattern, 0, false)) ++taken;
    if (taken == 0 || put(*policy_, way)) return taken;
    *this = given;
    taken = 0;
  }
  while (taken < most && take_out(pattern, way)) ++taken;
  return taken;
}

bool Stripped::take_out_arches() {
  if (!policy_ || !has_other_arch(parts_)) return false;
  Policy simple = *policy_;
  while (simple.arches.size() > 1)
    without_arch(simple, simple.arches.front() == kSimplestArch ? 1 : 0);
  with_simplest_arch(simple);
  std::size_t way = 0;
  return put(simple, way);
}

void Stripped::take_out_others(const Pattern& pattern, std::size_t most) {
  Stripped next = *this;
  if (!next.take_out(pattern)) return;
  const auto same = [](const Insn& one, const Insn& two) { return one == two; };
  const auto at = std::ranges::mismatch(subject_.before, next.subject_.before, same).in1;
  kept_ = static_cast<std::size_t>(at - subject_.before.begin());
  update_parts();
  take_out_all(pattern, 0, most);
}

bool Stripped::put(std::size_t pc, const std::optional<Insn>& in, std::size_t& way) {
  if (!in) return false;
  const Insn old = std::exchange(subject_.before[pc], *in);
  if (!refusal_of(subject_.before, LengthRule::kUnlimited) && way-- == 0) {
    update_parts();
    return true;
  }
  subject_.before[pc] = old;
  return false;
}

Policy Stripped::simpler_policy(const Part& part, bool general) const {
  Policy out = *policy_;
  std::size_t place = 0;
  visit_policy(out, [&](Symbols /*symbols*/, const TakeOut& take_out) {
    if (place++ != part.place) return false;
    take_out(general);
    return true;
  });
  return out;
}

bool Stripped::put(const Policy& policy, std::size_t& way) {
  auto legal = read_policy(write_policy(policy), subject_.name);
  if (!legal || way-- != 0) return false;
  policy_ = std::move(*legal);
  update_parts();
  return true;
}

HuntSubject Stripped::subject() const {
  return policy_ ? subject_of(subject_.name, *policy_) : subject_;
}

}  // namespace secequiv::hunt
