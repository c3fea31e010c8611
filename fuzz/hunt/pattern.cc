#include "fuzz/hunt/pattern.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "fuzz/hunt/program_source.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/shrink.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostParts = 32;  // a longer pattern is not the pattern of one bug
constexpr std::size_t kFarthest = 256;  // parts from the first part of an occurrence to its last

// --- programs

// Almost every program has these instructions, and reductions prefer them.
bool says_little(const Insn& in) {
  return is_ret(in) || in.code == kLdImm || in.code == kLdxImm || in.code == kJa;
}

std::uint64_t name_of(const Insn& in) {
  const Operand operand = insn_info(in.code)->operand;
  const bool value = operand == Operand::Imm || operand == Operand::CondImm;
  if (operand != Operand::Abs && operand != Operand::Mem && (!value || in.k == 0)) return 0;
  const std::uint64_t space = value ? 1 : operand == Operand::Abs ? 2 : 3;
  return space << 32 | in.k;
}

Parts parts_of(ProgramView program) {
  Parts out;
  for (std::size_t pc = 0; pc < program.size(); ++pc)
    if (const Insn& in = program[pc]; !says_little(in))
      out.push_back({in.code, simplest_like(in.code), name_of(in), pc});
  return out;
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

// Returns an instruction in place of `in`. If `general`, no instruction of its kind will do.
Insn simpler(const Insn& in, bool general) {
  const std::uint16_t code = simplest_like(in.code);
  if (code != in.code && !general) return {code, in.jt, in.jf, in.k};
  return is_jump(in) ? Insn{kJa, 0, 0, in.jt} : Insn{kLdImm, 0, 0, in.k};
}

// --- policies

enum Symbol : std::uint32_t { kArch, kX32, kSet, kVsyscall, kNoCall, kAnyOf, kAllOf, kAnd, kTest };

// Receives a part of a policy, and what takes it out. Returns true to end the visit.
using VisitPart = std::function<bool(std::uint32_t symbol, const std::function<void()>& take_out)>;

std::uint32_t symbol_of(const Matcher& test) {
  const bool masked = test.op == Matcher::Op::kMaskedEq;
  return kTest + 8 * static_cast<std::uint32_t>(test.op) + (test.low_half ? 4u : 0u) +
         (masked && test.value == 0 ? 2u : 0u) + (masked && test.mask == 0 ? 1u : 0u);
}

bool visit_fields(Rule& rule, const VisitPart& visit) {
  bool first = true;
  for (Matcher& test : rule.fields) {
    if (test.op == Matcher::Op::kAny) continue;
    if (!std::exchange(first, false) && visit(kAnd, [&] { test = {}; })) return true;
    const auto take_out = [&] {
      test.op = test.op == Matcher::Op::kEq ? Matcher::Op::kGe : Matcher::Op::kEq;
      test.mask = 0;
    };
    if (visit(symbol_of(test), take_out)) return true;
  }
  return false;
}

bool visit_rule(Rule& rule, const VisitPart& visit) {
  if (rule.kind == Rule::Kind::kArgs) return visit_fields(rule, visit);
  if (!is_branching(rule)) return false;
  const auto only_first = [&] {
    const Rule child = rule.children.front();
    rule = child;
  };
  if (visit(rule.kind == Rule::Kind::kAnyOf ? kAnyOf : kAllOf, only_first)) return true;
  return std::ranges::any_of(rule.children, [&](Rule& child) { return visit_rule(child, visit); });
}

void without_arch(Policy& policy, std::size_t at) {
  const Arch arch = policy.arches[at];
  policy.arches.erase(policy.arches.begin() + static_cast<std::ptrdiff_t>(at));
  for (RuleSet& set : policy.rule_sets)
    std::erase_if(set.rules, [&](const SyscallRule& entry) { return entry.arch == arch; });
}

bool visit_set(RuleSet& set, const VisitPart& visit) {
  constexpr std::uint32_t kNoNumber = 0x40000000;  // x32 numbers, and numbers like -1
  if (set.vsyscall && visit(kVsyscall, [&] { set.vsyscall = false; })) return true;
  for (std::size_t i = 0; i < set.rules.size(); ++i) {
    const auto erase = [&] { set.rules.erase(set.rules.begin() + static_cast<std::ptrdiff_t>(i)); };
    if (set.rules[i].nr >= kNoNumber && visit(kNoCall, erase)) return true;
    if (visit_rule(set.rules[i].rule, visit)) return true;
  }
  return false;
}

void visit_policy(Policy& policy, const VisitPart& visit) {
  for (std::size_t i = 1; i < policy.arches.size(); ++i)
    if (visit(kArch, [&] { without_arch(policy, i); })) return;
  if (policy.x32_action && visit(kX32, [&] { policy.x32_action.reset(); })) return;
  for (std::size_t i = 0; i < policy.rule_sets.size(); ++i) {
    auto& sets = policy.rule_sets;
    const auto erase = [&] { sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(i)); };
    if (i > 0 && visit(kSet, erase)) return;
    if (visit_set(sets[i], visit)) return;
  }
}

Parts parts_of(Policy& policy) {
  Parts out;
  visit_policy(policy, [&](std::uint32_t symbol, const auto& /*take_out*/) {
    out.push_back({symbol, symbol, 0, out.size()});
    return false;
  });
  return out;
}

// --- both

std::optional<HuntSubject> program_without(const HuntSubject& subject, const Part& part,
                                           bool general) {
  HuntSubject out = subject;
  out.before[part.place] = simpler(subject.before[part.place], general);
  if (refusal_of(out.before, LengthRule::kUnlimited)) return std::nullopt;
  return out;
}

std::optional<HuntSubject> policy_without(const HuntSubject& subject, const Part& part) {
  auto policy = read_policy(subject.policy, subject.name);
  if (!policy) return std::nullopt;
  std::size_t place = 0;
  visit_policy(*policy, [&](std::uint32_t /*symbol*/, const auto& take_out) {
    if (place++ != part.place) return false;
    take_out();
    return true;
  });
  const std::string text = write_policy(*policy);
  const auto legal = read_policy(text, subject.name);
  return legal ? std::optional(subject_of(subject.name, *legal)) : std::nullopt;
}

bool stands_for(const Part& pattern, const Part& part) {
  return pattern.symbol == part.symbol || pattern.symbol == part.general;
}

}  // namespace

Parts parts_of(const HuntSubject& subject) {
  if (subject.policy.empty()) return parts_of(subject.before);
  auto policy = read_policy(subject.policy, subject.name);
  return policy ? parts_of(*policy) : Parts{};
}

Pattern::Pattern(const HuntSubject& reduced) : parts_(parts_of(reduced)) {
  if (parts_.size() > kMostParts) parts_.clear();
  if (reduced.policy.empty() && !parts_.empty()) keep_the_cause(parts_);
}

Parts Pattern::occurrence(const Parts& parts) const {
  Parts best;
  if (parts_.empty()) return best;
  for (std::size_t first = 0; first + parts_.size() <= parts.size(); ++first) {
    Parts here;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> names;  // in the pattern, and here
    const std::size_t end = std::min(parts.size(), first + kFarthest);
    for (std::size_t at = first; at < end && here.size() < parts_.size(); ++at) {
      if (!here.empty() && !best.empty() &&
          parts[at].place - here.front().place >= best.back().place - best.front().place)
        break;
      const Part& wanted = parts_[here.size()];
      const auto named =
          std::ranges::find(names, wanted.name, [](auto& pair) { return pair.first; });
      const bool fits = wanted.name == 0 || named == names.end() || named->second == parts[at].name;
      if (!stands_for(wanted, parts[at]) || !fits) {
        if (here.empty()) break;
        continue;
      }
      if (wanted.name != 0 && named == names.end()) names.emplace_back(wanted.name, parts[at].name);
      here.push_back(parts[at]);
    }
    if (here.size() == parts_.size()) best = std::move(here);
  }
  return best;
}

bool Pattern::same_as(const Pattern& other) const {
  return !parts_.empty() && std::ranges::equal(parts_, other.parts_, stands_for);
}

std::optional<HuntSubject> Pattern::taken_out_of(const HuntSubject& subject,
                                                 std::size_t skip) const {
  const Parts parts = parts_of(subject);
  const Parts found = occurrence(parts);
  std::vector<std::pair<std::ptrdiff_t, std::size_t>> order;  // the rarest symbol first
  order.reserve(found.size());
  for (const Part& part : found)
    order.emplace_back(std::ranges::count(parts, part.symbol, &Part::symbol), order.size());
  std::ranges::sort(order);
  for (const auto& [count, i] : order) {
    const bool general = parts_[i].symbol == found[i].general;
    auto out = subject.policy.empty() ? program_without(subject, found[i], general)
                                      : policy_without(subject, found[i]);
    if (out && skip-- == 0) return out;
  }
  return std::nullopt;
}

}  // namespace secequiv::hunt
