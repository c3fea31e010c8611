#include "harness/optimize/precompile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "harness/policy/variables.h"

namespace secequiv {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

// Collects every 32-bit constant that a compiler may derive from a policy.
class Constants {
 public:
  explicit Constants(const Policy& policy) {
    for (const Arch arch : policy.arches) add(arch_info(arch).audit);
    add(policy.default_action);
    add(policy.bad_arch_action);
    if (policy.x32_action) add(*policy.x32_action);
    for (const DefaultRange& range : policy.default_ranges)
      for (const std::uint32_t k : {range.first, range.last, range.action}) add(k);
    for (const auto& [name, value] : policy.variables) add(value);
    for (const RuleSet& set : policy.rule_sets) {
      add(set.action);
      for (const SyscallRule& entry : set.rules) {
        add(entry.nr);
        add_rule(entry.rule);
      }
    }
  }

  [[nodiscard]] const std::set<std::uint32_t>& all() const { return all_; }

 private:
  // The neighbours count too, because a compiler may emit `> k - 1` for `>= k`.
  void add(std::uint32_t k) {
    for (const std::uint32_t one : {k - 1, k, k + 1}) {
      all_.insert(one);
      all_.insert(~one);
    }
  }
  void add_wide(std::uint64_t k) {
    add(static_cast<std::uint32_t>(k));
    add(static_cast<std::uint32_t>(k >> 32));
  }
  void add_rule(const Rule& rule) {
    for (const Rule& child : rule.children) add_rule(child);
    for (const Matcher& m : rule.fields) {
      add_wide(m.value);
      add_wide(m.mask);
    }
  }

  std::set<std::uint32_t> all_;
};

// Chooses values for variables. No value is a constant of the policy, and each is used once.
class Placeholders {
 public:
  explicit Placeholders(const std::set<std::uint32_t>& constants) : taken_(constants) {}

  // Returns the first unused value from `start` on, in steps of `step`. The step must be odd, so
  // that all values are tried.
  std::uint32_t next(std::uint32_t start, std::uint32_t step) {
    while (!taken_.insert(start).second) start += step;
    return start;
  }

 private:
  std::set<std::uint32_t> taken_;
};

Error refuse(const Policy& policy, std::size_t pc, std::string detail) {
  Error error = make_error(ErrorCode::kPolicy, policy.name, std::move(detail));
  error.pc = static_cast<std::int64_t>(pc);
  return error;
}

std::string shown(const Program& program, std::size_t pc) {
  return pc < program.size() ? "'" + insn_text(program, pc) + "'" : "nothing";
}

// Returns the first instruction in which two programs differ, or the end of the shorter one if it
// is a prefix.
std::optional<std::size_t> first_difference(const Program& a, const Program& b) {
  const auto at = std::ranges::mismatch(a, b).in1;
  if (at == a.end() && a.size() == b.size()) return std::nullopt;
  return static_cast<std::size_t>(at - a.begin());
}

// Returns the instructions in which `one` and `other` differ. The two were compiled with different
// values of one variable.
Result<std::vector<std::size_t>> find_places(const Policy& policy, const std::string& name,
                                             const Program& one, std::uint32_t value,
                                             const Program& other, std::uint32_t other_value) {
  const auto differ = [&](std::size_t pc, std::string_view what) {
    return refuse(
        policy, pc,
        fmt::format(
            "variable '{0}': this instruction is {2} for the value {1:#x} and {4} for {3:#x}; {5}",
            name, value, shown(one, pc), other_value, shown(other, pc), what));
  };
  if (one.size() != other.size())
    return differ(*first_difference(one, other),
                  fmt::format("expected programs of equal length, found {} and {} instructions",
                              one.size(), other.size()));
  std::vector<std::size_t> places;
  for (std::size_t pc = 0; pc < one.size(); ++pc) {
    const Insn& a = one[pc];
    const Insn& b = other[pc];
    if (a == b) continue;
    if (a.code != b.code || a.jt != b.jt || a.jf != b.jf)
      return differ(pc, "expected a difference only in the operand");
    if (a.k != value || b.k != other_value)
      return differ(pc, "expected the value of the variable as the operand");
    if (!has_free_operand(a)) return differ(pc, "expected an instruction that takes any operand");
    places.push_back(pc);
  }
  return places;
}

Status check_names(const Policy& policy, const std::set<std::string>& used) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : policy.variables) {
    if (!is_symbol_name(name))
      return make_error(ErrorCode::kPolicy, policy.name,
                        fmt::format("variable '{}': expected a name of letters, digits and '_' "
                                    "that does not begin with a digit",
                                    printable(name, false)));
    if (!names.insert(name).second)
      return make_error(ErrorCode::kPolicy, policy.name,
                        fmt::format("variable '{}' is defined twice", name));
  }
  for (const std::string& name : used)
    if (!names.contains(name))
      return make_error(ErrorCode::kPolicy, policy.name,
                        fmt::format("variable '{}' has no value", name));
  return Ok{};
}

// Compiles `policy`. Errors: kRejected if the kernel refuses the program.
Result<Program> render_base(const Policy& policy, const Renderer& render) {
  Program out = render(policy);
  if (const auto refusal = refusal_of(out))
    return make_error(ErrorCode::kRejected, policy.name, describe(*refusal, out));
  return out;
}

// Checks all variables together, because a program may depend on several values without depending
// on any single one.
Status check_prediction(const Policy& policy, SymbolicProgram predicted, const Values& values,
                        const Renderer& render) {
  fill(predicted, values);
  const Program rendered = render(with_values(policy, values));
  const auto pc = first_difference(predicted.program, rendered);
  if (!pc) return Ok{};
  std::vector<std::string> shown_values;
  for (const auto& [name, value] : values)
    shown_values.push_back(fmt::format("'{}' {:#x}", name, value));
  return refuse(policy, *pc,
                fmt::format("with different values for all variables ({}), expected {}, found {}",
                            fmt::join(shown_values, ", "), shown(predicted.program, *pc),
                            shown(rendered, *pc)));
}

}  // namespace

bool has_free_operand(const Insn& in) {
  switch (in.code) {
    case kLdImm:
    case kLdxImm:
    case kAddK:
    case kSubK:
    case kMulK:
    case kAndK:
    case kOrK:
    case kXorK:
    case kJeqK:
    case kJgtK:
    case kJgeK:
    case kJsetK:
    case kRetK:
      return true;
    default:
      return false;
  }
}

Result<SymbolicProgram> compile_with_names(const Policy& policy, const Renderer& render) {
  const std::set<std::string> used = used_variables(policy);
  RETURN_IF_ERROR(check_names(policy, used));
  // Each variable gets three values: large ones in ascending order, their complements, and small
  // ones in descending order. These values expose a program that depends on how values compare.
  Placeholders placeholders(Constants(policy).all());
  Values base;
  Values varied;
  Values small;
  std::uint32_t index = 0;
  for (const auto& [name, value] : policy.variables) {
    base.emplace_back(name, placeholders.next(0x9e3779b1 + 0x10001 * index, 1));
    varied.emplace_back(name, placeholders.next(~base.back().second, 0xffffffff));
    small.emplace_back(name, placeholders.next(0x00c0ffed - 0x101 * index, 0xffffffff));
    ++index;
  }
  ASSIGN_OR_RETURN(auto program, render_base(with_values(policy, base), render));
  SymbolicProgram out{std::move(program), {}};
  for (std::size_t i = 0; i < policy.variables.size(); ++i) {
    const std::string& name = policy.variables[i].first;
    if (!used.contains(name)) continue;
    Values one = base;
    one[i].second = varied[i].second;
    ASSIGN_OR_RETURN(const auto places,
                     find_places(policy, name, out.program, base[i].second,
                                 render(with_values(policy, one)), varied[i].second));
    for (const std::size_t pc : places) out.uses.push_back({pc, name, {}});
  }
  RETURN_IF_ERROR(check_prediction(policy, out, small, render));
  std::ranges::sort(out.uses, {}, &SymbolUse::pc);
  for (const SymbolUse& use : out.uses) out.program[use.pc].k = kPlaceholder;
  return out;
}

}  // namespace secequiv
