#include "harness/report/policy_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/report/value_text.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::size_t kColumns = 96;
constexpr std::uint64_t kLowHalf = 0xffffffff;

// One action of a call and its condition.
struct Choice {
  std::uint32_t action = 0;
  std::vector<std::string> conditions;  // one must hold; empty: always

  friend auto operator<=>(const Choice&, const Choice&) = default;
};
using CallChoices = std::vector<Choice>;  // the first that holds decides

// Calls with the same choices on the same architectures.
struct Group {
  CallChoices choices;
  std::string arches;  // "", or "only on i386, x32: "
  std::vector<std::string> names;
};

// Appends words to lines that begin with `first`, or with `indent` blanks.
std::string wrapped(std::string first, const std::vector<std::string>& words, std::size_t indent) {
  std::string out;
  std::string line = std::move(first);
  bool empty = true;
  for (const std::string& word : words) {
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line = std::string(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + line + "\n";
}

std::string list_text(const std::string& first, const std::vector<std::string>& names,
                      std::size_t indent) {
  std::vector<std::string> words = names;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) words[i] += ",";
  return wrapped(first, words, indent);
}

// Breaks a condition between its tests and between the values of a list.
std::string sentence_text(const std::string& first, std::string_view text, std::size_t indent) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool breaks =
        text[i] == ' ' && i > 0 &&
        (text[i - 1] == ',' || rest.starts_with(" && ") || rest.starts_with(" || "));
    if (breaks) words.push_back(std::exchange(word, {}));
    if (!breaks) word += text[i];
  }
  words.push_back(word);
  return wrapped(first, words, indent);
}

class Conditions {
 public:
  Conditions(AskedCall call, bool halves) : call_(call), halves_(halves) {}

  [[nodiscard]] std::vector<std::string> alternatives_of(const Rule& rule) const {
    std::vector<Values> values;
    std::vector<std::string> out;
    add(rule, out, values);
    flush(values, out);
    return out;
  }

 private:
  // Values of one field, one of which the field must have.
  struct Values {
    std::string field;
    std::vector<std::string> names;
  };

  void add(const Rule& rule, std::vector<std::string>& out, std::vector<Values>& values) const {
    if (rule.kind == Rule::Kind::kAnyOf) {
      for (const Rule& child : rule.children) add(child, out, values);
      return;
    }
    if (const auto only = only_value(rule)) {
      if (!values.empty() && values.back().field != only->first) flush(values, out);
      if (values.empty()) values.push_back({only->first, {}});
      values.back().names.push_back(only->second);
      return;
    }
    flush(values, out);
    out.push_back(conjunction(rule));
  }

  static void flush(std::vector<Values>& values, std::vector<std::string>& out) {
    for (const auto& [field, names] : values)
      out.push_back(names.size() == 1 ? fmt::format("{} == {}", field, names.front())
                                      : fmt::format("{} in {{{}}}", field, fmt::join(names, ", ")));
    values.clear();
  }

  // Returns the field and the value if the rule is one test for a value.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> only_value(
      const Rule& rule) const {
    if (rule.kind != Rule::Kind::kArgs || matcher_count(rule) != 1) return std::nullopt;
    for (int field = 0; field <= kIpField; ++field)
      if (const Matcher& m = rule.fields[static_cast<std::size_t>(field)]; m.op == Matcher::Op::kEq)
        return std::pair(field_name(field, m), value_name(field, m));
    return std::nullopt;
  }

  [[nodiscard]] std::string conjunction(const Rule& rule) const {
    std::vector<std::string> tests;
    for (int field = 0; rule.kind == Rule::Kind::kArgs && field <= kIpField; ++field)
      if (const Matcher& m = rule.fields[static_cast<std::size_t>(field)];
          m.op != Matcher::Op::kAny)
        tests.push_back(test(field, m));
    for (const Rule& child : rule.children) {
      const std::vector<std::string> some = alternatives_of(child);
      tests.push_back(some.size() == 1 ? some.front()
                                       : fmt::format("({})", fmt::join(some, " || ")));
    }
    return tests.empty() ? "true" : fmt::format("{}", fmt::join(tests, " && "));
  }

  [[nodiscard]] std::string field_name(int field, const Matcher& m) const {
    const std::string name = field == kIpField ? "ip" : fmt::format("arg{}", field);
    return m.low_half && halves_ ? name + ".lo" : name;
  }

  [[nodiscard]] ArgumentValues names_of(int field) const {
    return {field < kArgCount ? std::optional(call_) : std::nullopt, field};
  }

  [[nodiscard]] std::string value_name(int field, const Matcher& m) const {
    return m.variable.empty() ? names_of(field)(m.value) : "$" + m.variable.text();
  }

  [[nodiscard]] std::string test(int field, const Matcher& m) const {
    const std::string name = field_name(field, m);
    const auto compared = [&](std::string_view sign) {
      return fmt::format("{} {} {}", name, sign, value_name(field, m));
    };
    switch (m.op) {
      case Matcher::Op::kAny:
        return "true";
      case Matcher::Op::kEq:
        return compared("==");
      case Matcher::Op::kNe:
        return compared("!=");
      case Matcher::Op::kGt:
        return compared(">");
      case Matcher::Op::kGe:
        return compared(">=");
      case Matcher::Op::kLt:
        return compared("<");
      case Matcher::Op::kLe:
        return compared("<=");
      case Matcher::Op::kMaskedEq:
        return m.variable.empty() ? mask_text(name, m.mask, false, m.value, names_of(field))
                                  : fmt::format("{} & {} == ${}", name,
                                                names_of(field).flags(m.mask), m.variable.text());
      case Matcher::Op::kBitsAllowlist:
        return fmt::format("{} & ~{} == 0x0", name, names_of(field).flags(m.mask));
      case Matcher::Op::kNonNegativeFd:
        return name + " <= 0x7fffffff";
    }
    return {};
  }

  AskedCall call_;
  bool halves_;
};

// Returns whether the rule means the same for callers that have only the low halves of arguments.
bool tests_low_halves(const Rule& rule) {
  return std::ranges::all_of(rule.children, tests_low_halves) &&
         std::ranges::all_of(rule.fields, [](const Matcher& m) {
           return m.op == Matcher::Op::kAny || m.low_half ||
                  (m.op == Matcher::Op::kMaskedEq && m.mask <= kLowHalf);
         });
}

class PolicyPage {
 public:
  explicit PolicyPage(const Policy& policy) : policy_(policy) {}

  std::string text() {
    find_halves();
    collect();
    std::string out = head();
    std::vector<std::uint32_t> actions;
    for (const RuleSet& set : policy_.rule_sets)
      if (std::ranges::find(actions, set.action) == actions.end()) actions.push_back(set.action);
    const auto section = [&](const std::string& title, const auto& has) {
      std::string lines;
      for (const Group& group : groups_)
        if (has(group.choices)) lines += group_text(group);
      if (!lines.empty()) out += "\n" + title + "\n" + lines;
    };
    for (const std::uint32_t action : actions)
      section(describe_action(action), [&](const CallChoices& choices) {
        return choices.size() == 1 && choices[0].action == action && choices[0].conditions.empty();
      });
    for (const std::uint32_t action : actions)
      section(fmt::format("{} if a condition holds, else {}", describe_action(action),
                          describe_action(policy_.default_action)),
              [&](const CallChoices& choices) {
                return choices.size() == 1 && choices[0].action == action &&
                       !choices[0].conditions.empty();
              });
    section("Several actions: the first one whose condition holds decides",
            [](const CallChoices& choices) { return choices.size() > 1; });
    return out;
  }

 private:
  // 32-bit architectures on which all tests compare low halves. Their conditions look like those of
  // 64-bit ones.
  void find_halves() {
    for (const Arch arch : policy_.arches)
      if (arch_info(arch).bits == 32) narrow_.push_back(arch);
    for (const RuleSet& set : policy_.rule_sets)
      for (const SyscallRule& entry : set.rules)
        if (set.vsyscall || !tests_low_halves(entry.rule)) std::erase(narrow_, entry.arch);
  }

  [[nodiscard]] bool is_narrow(Arch arch) const {
    return std::ranges::find(narrow_, arch) != narrow_.end();
  }

  void collect() {
    std::map<std::pair<Arch, std::uint32_t>, CallChoices> calls;
    bool has_low_halves = false;
    for (const RuleSet& set : policy_.rule_sets)
      for (const SyscallRule& entry : set.rules) {
        if (policy_.x32_action_decides(arch_info(entry.arch).audit, entry.nr)) continue;
        auto conditions = rule_conditions(entry.rule, entry.arch, entry.nr, !is_narrow(entry.arch));
        if (set.vsyscall)
          conditions = {
              fmt::format("ip >= {}{}", hex_text(std::uint64_t{1} << 63),
                          conditions.empty()
                              ? ""
                              : " && (" + fmt::format("{}", fmt::join(conditions, " || ")) + ")")};
        has_low_halves = has_low_halves || (is_narrow(entry.arch) && !conditions.empty());
        calls[{entry.arch, entry.nr}].push_back({set.action, std::move(conditions)});
      }
    if (!has_low_halves) narrow_.clear();
    for (auto& [call, choices] : calls) {
      const auto* range = policy_.default_range(arch_info(call.first).audit, call.second);
      if (range != nullptr && !choices.back().conditions.empty())
        choices.push_back({range->action, {}});
    }
    // The architectures of each name and its choices.
    std::map<std::pair<CallChoices, std::string>, std::vector<Arch>> arches;
    for (auto& [call, choices] : calls) {
      const std::string_view name = syscall_name(call.first, call.second);
      arches[{std::move(choices),
              name.empty() ? fmt::format("syscall {}", call.second) : std::string(name)}]
          .push_back(call.first);
    }
    for (const auto& [key, on] : arches) add(key.first, key.second, on);
    std::ranges::sort(groups_, {},
                      [](const Group& group) { return std::pair(group.arches, group.names); });
  }

  void add(const CallChoices& choices, const std::string& name, const std::vector<Arch>& on) {
    const bool everywhere = std::ranges::all_of(policy_.arches, [&](Arch arch) {
      return std::ranges::find(on, arch) != on.end() ||
             (syscall_nr(arch, name) == std::nullopt && syscall_nr(on.front(), name));
    });
    std::string arches = everywhere ? "" : fmt::format("only on {}: ", arch_names(on));
    const auto known = std::ranges::find_if(groups_, [&](const Group& group) {
      return group.arches == arches && group.choices == choices;
    });
    if (known == groups_.end())
      groups_.push_back({choices, std::move(arches), {name}});
    else
      known->names.push_back(name);
  }

  // Returns the names in the order of the policy.
  [[nodiscard]] std::string arch_names(const std::vector<Arch>& some) const {
    std::vector<std::string_view> out;
    for (const Arch arch : policy_.arches)
      if (std::ranges::find(some, arch) != some.end()) out.push_back(arch_info(arch).name);
    return fmt::format("{}", fmt::join(out, ", "));
  }

  // Returns the ranges without the numbers that x32_action decides.
  [[nodiscard]] std::vector<DefaultRange> default_ranges() const {
    std::vector<DefaultRange> out;
    for (const std::uint32_t audit : policy_.audit_values())
      std::ranges::copy(policy_.default_ranges_of(audit), std::back_inserter(out));
    return out;
  }

  [[nodiscard]] std::string head() const {
    std::string out;
    const auto row = [&](std::string_view title, const std::string& value) {
      out += fmt::format("{:<20} {}\n", title, value);
    };
    row("architectures", arch_names(policy_.arches));
    row("calls without a rule", describe_action(policy_.default_action));
    for (const DefaultRange& range : default_ranges())
      row(range.first == 0 && range.last == 0xffffffff
              ? fmt::format("  on {}", arch_info(range.arch).name)
              : fmt::format("  on {}, numbers {} to {}", arch_info(range.arch).name,
                            hex_text(range.first), hex_text(range.last)),
          describe_action(range.action));
    if (policy_.has_arch(Arch::kX86_64) && policy_.has_x32_action(AUDIT_ARCH_X86_64))
      row("x32 calls", describe_action(*policy_.x32_action));
    row("other architectures", describe_action(policy_.bad_arch_action));
    if (!narrow_.empty())
      out += fmt::format("Conditions on {} compare only the low halves of arguments.\n",
                         arch_names(narrow_));
    return out;
  }

  [[nodiscard]] std::string group_text(const Group& group) const {
    const CallChoices& choices = group.choices;
    std::string out = list_text("  " + group.arches, group.names, 4);
    if (choices.size() == 1) {
      for (const std::string& condition : choices[0].conditions)
        out += sentence_text(&condition == choices[0].conditions.data() ? "      " : "      or ",
                             condition, 10);
      return out;
    }
    for (const Choice& choice : choices) {
      const std::string action = describe_action(choice.action);
      if (choice.conditions.empty()) return out + fmt::format("      else {}\n", action);
      for (const std::string& condition : choice.conditions)
        out += sentence_text(&condition == choice.conditions.data()
                                 ? fmt::format("      {} if ", action)
                                 : "        or ",
                             condition, 12);
    }
    return out + fmt::format("      else {}\n", describe_action(policy_.default_action));
  }

  const Policy& policy_;
  std::vector<Arch> narrow_;
  std::vector<Group> groups_;
};

}  // namespace

std::vector<std::string> rule_conditions(const Rule& rule, Arch arch, std::uint32_t nr,
                                         bool halves) {
  if (rule.kind == Rule::Kind::kMatchAll) return {};
  return Conditions({arch, nr}, halves).alternatives_of(rule);
}

std::string policy_text(const Policy& policy) { return PolicyPage(policy).text(); }

}  // namespace secequiv
