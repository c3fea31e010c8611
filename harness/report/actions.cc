#include "harness/report/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/json.h"
#include "harness/report/names.h"
#include "harness/report/regions.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using OneArch = ActionsReport::OneArch;

bool permits(const ReturnValue& value) { return !value.action || lets_run(*value.action); }

std::vector<std::string> names_of(const OneArch& arch) {
  std::vector<std::string> out;
  out.reserve(arch.others.size());
  for (const ActionsReport::Conditional& call : arch.others) out.push_back(call.name);
  return out;
}

// Returns the calls whose action differs from that of numbers without a call.
std::vector<ActionsReport::Calls> special(const OneArch& arch) {
  std::vector<ActionsReport::Calls> out = arch.constant;
  std::erase_if(out, [&](const auto& calls) { return calls.value == arch.otherwise; });
  return out;
}

// Returns whether both architectures look the same in the text. Ignores the order of calls, because
// it follows their numbers, which differ between architectures.
bool same_text(const OneArch& a, const OneArch& b) {
  return a.otherwise == b.otherwise &&
         std::ranges::equal(special(a), special(b),
                            [](const auto& left, const auto& right) {
                              return left.value == right.value &&
                                     std::ranges::is_permutation(left.names, right.names);
                            }) &&
         std::ranges::is_permutation(a.others, b.others);
}

// Formats a call as "socket: ALLOW if arg0 != 0x28, else ERRNO(1 EPERM)".
std::string choices_text(const ActionsReport::Conditional& call) {
  std::string out = fmt::format("    {}:", call.name);
  if (call.choices.empty()) return out + " undecided, because a limit is reached\n";
  for (std::size_t i = 0; i < call.choices.size(); ++i) {
    const ActionsReport::Choice& choice = call.choices[i];
    const std::string action = action_text(choice.value);
    out +=
        i + 1 == call.choices.size() && i > 0
            ? fmt::format(" else {}", action)
            : fmt::format(" {} if {},", action,
                          short_condition(choice.named.empty() ? choice.condition : choice.named));
  }
  if (out.ends_with(',')) out.pop_back();
  return out + "\n";
}

std::string arch_text(const OneArch& arch, bool allowed) {
  std::string out;
  for (const ActionsReport::Calls& calls : allowed ? arch.constant : special(arch)) {
    if (allowed && !permits({calls.value, action_of(calls.value)})) continue;
    out += names_paragraph(describe_action(calls.value), calls.names);
  }
  const auto shown = [&](const ActionsReport::Conditional& call) {
    return !allowed || call.choices.empty() ||
           std::ranges::any_of(call.choices,
                               [](const auto& choice) { return permits(choice.value); });
  };
  std::vector<std::string> names;
  std::string conditions;
  for (const ActionsReport::Conditional& call : arch.others) {
    if (!shown(call)) continue;
    names.push_back(call.name);
    conditions += choices_text(call);
  }
  if (!names.empty()) out += names_paragraph("conditional", names) + conditions;
  if (allowed) return out.empty() ? "  none\n" : out;
  if (!arch.otherwise) return out;
  return out + fmt::format("  {:<20}       all others\n", describe_action(*arch.otherwise));
}

}  // namespace

std::string actions_text(const ActionsReport& report, bool allowed) {
  std::string out;
  std::vector<bool> shown(report.arches.size());
  for (std::size_t i = 0; i < report.arches.size(); ++i) {
    if (shown[i]) continue;
    std::string names(arch_info(report.arches[i].arch).name);
    for (std::size_t k = i + 1; k < report.arches.size(); ++k) {
      if (!same_text(report.arches[i], report.arches[k])) continue;
      shown[k] = true;
      names += fmt::format(", {}", arch_info(report.arches[k].arch).name);
    }
    out += names + "\n" + arch_text(report.arches[i], allowed);
  }
  if (report.others_by_number)
    out +=
        "every other architecture\n  decided by number, even if the number means another call "
        "there\n";
  return out;
}

void describe(Fields<ActionsReport::Calls>& calls) {
  using Calls = ActionsReport::Calls;
  calls.is("constant", "System calls that always get one return value.");
  calls.include([](const Calls& it) { return ShownValue{it.value}; });
  calls("syscalls", "Names, sorted by number.", &Calls::names,
        set_of(shapes::shape_of<std::string>(), 1));
}

void describe(Fields<ActionsReport::Choice>& choice) {
  using Choice = ActionsReport::Choice;
  choice.is("choice", "One decision.");
  choice("action", "The decision.", [](const Choice& it) { return action_text(it.value); });
  choice("condition",
         "The conditions under which it is taken; '...' stands for regions that are left out.",
         &Choice::condition);
}

void describe(Fields<ActionsReport::Conditional>& call) {
  using Conditional = ActionsReport::Conditional;
  call.is("conditional", "One system call.");
  call("syscall", "Its name.", &Conditional::name);
  call("choices",
       "The loosest decision first. The conditions exclude each other, and one of them holds. "
       "Empty if the limits were reached.",
       &Conditional::choices);
}

void describe(Fields<OneArch>& arch) {
  arch.is("arch", "Every system call in the architecture's table, once.");
  arch("arch", "The architecture's name.",
       [](const OneArch& it) { return arch_info(it.arch).name; });
  arch("constant", "The entries are sorted by return value, ascending.", &OneArch::constant);
  arch(
      "others",
      "Names of the system calls whose action depends on arguments or the instruction pointer.",
      [](const OneArch& it) { return names_of(it); }, set_of(shapes::shape_of<std::string>()));
  arch("conditions", "For each other system call: every possible decision and its condition.",
       &OneArch::others);
  arch("otherwise",
       "The decision for numbers that no system call has; absent if it depends on arguments.",
       [](const OneArch& it) {
         return it.otherwise ? std::optional(ShownValue{*it.otherwise}) : std::nullopt;
       });
}

void describe(Fields<ActionsReport>& report) {
  report.document("actions", 1, "secequiv actions --json",
                  "The action of each system call, if it depends on neither the arguments nor the "
                  "instruction pointer.");
  report("arches",
         "The architectures that the filters treat differently from unknown ones. If there are "
         "none, or if the action on unknown ones depends on the call, also the architectures that "
         "the host runs, such as x86_64, x32 and i386.",
         &ActionsReport::arches, list_of<OneArch>(1));
  report("others_by_number",
         "Whether the action on architectures that are not listed also depends on the call. The "
         "filters then decide by the number alone, although another architecture may use this "
         "number for another call.",
         &ActionsReport::others_by_number);
  report.include(&ActionsReport::notes);
}

}  // namespace secequiv
