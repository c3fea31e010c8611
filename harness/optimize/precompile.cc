#include "harness/optimize/precompile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/bpf/text.h"

namespace secequiv {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

void set_values(Rule& rule, const std::map<std::string_view, std::uint32_t>& values) {
  for (Rule& child : rule.children) set_values(child, values);
  for (Matcher& m : rule.fields) {
    if (m.variable.empty()) continue;
    if (const auto found = values.find(m.variable); found != values.end()) m.value = found->second;
  }
}

void collect_variables(const Rule& rule, std::set<std::string>& names) {
  for (const Rule& child : rule.children) collect_variables(child, names);
  for (const Matcher& m : rule.fields)
    if (!m.variable.empty()) names.insert(m.variable);
}

// Every 32-bit constant that a compiler may make of a policy as it is.
class Constants {
 public:
  explicit Constants(const Policy& policy) {
    for (const Arch arch : policy.arches) add(arch_info(arch).audit);
    add(policy.default_action);
    add(policy.bad_arch_action);
    if (policy.x32_action) add(*policy.x32_action);
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
  // The neighbours too: `>= k` may be written `> k - 1`.
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

// Values that stand for those of variables: no constant of the policy, each given out once.
class Placeholders {
 public:
  explicit Placeholders(const std::set<std::uint32_t>& constants) : taken_(constants) {}

  // The first free one from `start` on in steps of `step`, which is odd.
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

// The first instruction in which two programs differ, the longer one's rest included.
std::optional<std::size_t> first_difference(const Program& a, const Program& b) {
  const auto at = std::ranges::mismatch(a, b).in1;
  if (at == a.end() && a.size() == b.size()) return std::nullopt;
  return static_cast<std::size_t>(at - a.begin());
}

// Where `one` and `other`, rendered with two values of one variable, have these values.
Result<std::vector<std::size_t>> find_places(const Policy& policy, const std::string& name,
                                             const Program& one, std::uint32_t value,
                                             const Program& other, std::uint32_t other_value) {
  const auto differ = [&](std::size_t pc, std::string_view what) {
    return refuse(policy, pc,
                  fmt::format("variable '{}': with the value {:#x} this is {}, with {:#x} {}; {}",
                              name, value, shown(one, pc), other_value, shown(other, pc), what));
  };
  if (one.size() != other.size())
    return differ(*first_difference(one, other),
                  fmt::format("expected programs of one length, found {} and {} instructions",
                              one.size(), other.size()));
  std::vector<std::size_t> places;
  for (std::size_t pc = 0; pc < one.size(); ++pc) {
    const Insn& a = one[pc];
    const Insn& b = other[pc];
    if (a == b) continue;
    if (a.code != b.code || a.jt != b.jt || a.jf != b.jf)
      return differ(pc, "expected the same instruction");
    if (a.k != value || b.k != other_value)
      return differ(pc, "expected the value itself as the operand");
    if (!has_free_operand(a)) return differ(pc, "expected an instruction that takes any operand");
    places.push_back(pc);
  }
  return places;
}

Status check_names(const Policy& policy, const std::set<std::string>& used) {
  std::set<std::string_view> names;
  for (const auto& [name, value] : policy.variables) {
    // Matchers would name it like no variable at all.
    if (name.empty())
      return make_error(ErrorCode::kPolicy, policy.name, "a variable has an empty name");
    if (!names.insert(name).second)
      return make_error(ErrorCode::kPolicy, policy.name,
                        fmt::format("variable '{}' is there twice", name));
  }
  for (const std::string& name : used)
    if (!names.contains(name))
      return make_error(ErrorCode::kPolicy, policy.name,
                        fmt::format("variable '{}' has no value", name));
  return Ok{};
}

}  // namespace

std::set<std::string> used_variables(const Policy& policy) {
  std::set<std::string> out;
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules) collect_variables(entry.rule, out);
  return out;
}

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

std::optional<PrecompiledFault> find_fault(const Precompiled& precompiled) {
  const Program& program = precompiled.program;
  if (const auto refusal = check(program))
    return PrecompiledFault{{}, {}, describe(*refusal, program)};
  std::set<std::string_view> names;
  std::map<std::size_t, std::string_view> owners;
  for (std::size_t i = 0; i < precompiled.variables.size(); ++i) {
    const Precompiled::Variable& variable = precompiled.variables[i];
    if (variable.name.empty()) return PrecompiledFault{i, {}, "expected a name, found none"};
    if (!names.insert(variable.name).second)
      return PrecompiledFault{i, {}, fmt::format("'{}' is there twice", variable.name)};
    for (std::size_t j = 0; j < variable.places.size(); ++j) {
      const std::size_t pc = variable.places[j];
      const auto fault = [&](std::string detail) {
        return PrecompiledFault{i, j, std::move(detail)};
      };
      if (pc >= program.size())
        return fault(fmt::format("expected one of {} instructions, found {}", program.size(), pc));
      if (j > 0 && pc <= variable.places[j - 1])
        return fault(fmt::format("expected ascending places, found {} after {}", pc,
                                 variable.places[j - 1]));
      if (!owners.emplace(pc, variable.name).second)
        return fault(fmt::format("{} is a place of '{}' already", pc, owners.at(pc)));
      if (!has_free_operand(program[pc]))
        return fault(fmt::format("expected an instruction that takes any operand, found {}",
                                 shown(program, pc)));
      if (program[pc].k != variable.value)
        return fault(
            fmt::format("expected an instruction with the variable's value {:#x}, found {}",
                        variable.value, shown(program, pc)));
    }
  }
  return std::nullopt;
}

Policy with_values(const Policy& policy, VariableValues values) {
  Policy out = policy;
  std::map<std::string_view, std::uint32_t> by_name(values.begin(), values.end());
  for (auto& [name, value] : out.variables)
    if (const auto found = by_name.find(name); found != by_name.end()) value = found->second;
  for (RuleSet& set : out.rule_sets)
    for (SyscallRule& entry : set.rules) set_values(entry.rule, by_name);
  return out;
}

Result<Precompiled> precompile(const Policy& policy, const Renderer& render) {
  const std::set<std::string> used = used_variables(policy);
  if (auto s = check_names(policy, used); !s) return s.error();
  // Three values for each: ascending large ones, their complements, which differ in every bit, and
  // descending small ones, so that a program that depends on how values compare shows it.
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
  Precompiled out;
  out.policy = policy.name;
  out.program = render(with_values(policy, base));
  if (const auto refusal = check(out.program))
    return make_error(ErrorCode::kRejected, policy.name, describe(*refusal, out.program));
  for (std::size_t i = 0; i < policy.variables.size(); ++i) {
    const auto& [name, value] = policy.variables[i];
    Precompiled::Variable variable{name, base[i].second, {}};
    if (used.contains(name)) {
      Values one = base;
      one[i].second = varied[i].second;
      auto places = find_places(policy, name, out.program, base[i].second,
                                render(with_values(policy, one)), varied[i].second);
      if (!places) return places.error();
      variable.places = std::move(*places);
    }
    out.variables.push_back(std::move(variable));
  }
  if (const auto fault = find_fault(out))
    return make_error(ErrorCode::kInternal, policy.name, fault->detail);

  const Program rendered = render(with_values(policy, small));
  const auto predicted = patch(out, small);
  if (!predicted) return predicted.error();
  if (const auto pc = first_difference(*predicted, rendered)) {
    std::vector<std::string> values;
    for (const auto& [name, value] : small)
      values.push_back(fmt::format("'{}' {:#x}", name, value));
    return refuse(
        policy, *pc,
        fmt::format("with other values for all variables ({}) expected {}, found {}",
                    fmt::join(values, ", "), shown(*predicted, *pc), shown(rendered, *pc)));
  }
  auto program = patch(out, policy.variables);
  if (!program) return program.error();
  out.program = std::move(*program);
  for (std::size_t i = 0; i < policy.variables.size(); ++i)
    out.variables[i].value = policy.variables[i].second;
  return out;
}

Result<Program> patch(const Precompiled& precompiled, VariableValues values) {
  std::map<std::string_view, const Precompiled::Variable*> known;
  for (const Precompiled::Variable& one : precompiled.variables) known.emplace(one.name, &one);
  Program out = precompiled.program;
  std::set<std::string_view> given;
  for (const auto& [name, value] : values) {
    const auto variable = known.find(name);
    if (variable == known.end()) {
      std::vector<std::string_view> names;
      names.reserve(precompiled.variables.size());
      for (const Precompiled::Variable& one : precompiled.variables) names.push_back(one.name);
      return make_error(ErrorCode::kUsage, name,
                        names.empty()
                            ? "unknown variable; there are none"
                            : fmt::format("unknown variable; known: {}{}", fmt::join(names, ", "),
                                          did_you_mean(similar_names(name, names))));
    }
    if (!given.insert(name).second)
      return make_error(ErrorCode::kUsage, name, "the variable is given twice");
    for (const std::size_t pc : variable->second->places) out[pc].k = value;
  }
  return out;
}

}  // namespace secequiv
