#include "harness/report/direction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/text.h"
#include "harness/report/regions.h"

namespace secequiv {
namespace {

using Part = Direction::Part;

// In short texts, up to this many calls are named, and larger sets are only counted.
constexpr std::size_t kNamed = 4;
// If a changed default action loosens more calls than this, the line only counts these calls.
constexpr std::size_t kListed = 40;
// Groups that are not listed by name.
constexpr std::string_view kNumbers = "numbers without a name";
constexpr std::string_view kArches = "calls on other architectures";

// Returns whether only calls of the host differ, apart from the calls that by_number_text lists.
bool only_host(const Direction& direction, Arch host) {
  const auto own = [&](const Direction::Call& call) {
    return call.arch == host || (direction.by_number && call.arch == compat_arch(host));
  };
  return std::ranges::all_of(
      std::array{&direction.allowed, &direction.looser, &direction.stricter, &direction.changed},
      [&](const Part* part) {
        return !part->unknown_arches && std::ranges::all_of(part->calls, own);
      });
}

std::string_view name_of(const Direction::Call& call) { return syscall_name(call.arch, call.nr); }

std::vector<std::string_view> names_of(const std::vector<Arch>& arches) {
  std::vector<std::string_view> out;
  out.reserve(arches.size());
  for (const Arch arch : arches) out.push_back(arch_info(arch).name);
  return out;
}

// Joins names: "memfd_create, socket (some arguments)". With `arches`, calls on the same
// architectures stand together: "read on i386, x32".
std::string names(const std::vector<Direction::Call>& calls, bool arches, const NameList& list) {
  std::map<std::pair<std::string, bool>, std::vector<Arch>> by_name;
  for (const Direction::Call& call : calls)
    by_name[{std::string(name_of(call)), call.always}].push_back(call.arch);
  std::map<std::vector<Arch>, std::vector<std::string>> groups;
  for (const auto& [name, where] : by_name)
    groups[where].push_back(name.first + (name.second ? "" : " (some arguments)"));
  std::vector<std::string> out;
  out.reserve(groups.size());
  for (const auto& [where, grouped] : groups)
    out.push_back(list(grouped) +
                  (arches ? fmt::format(" on {}", fmt::join(names_of(where), ", ")) : ""));
  return fmt::format("{}", fmt::join(out, "; "));
}

// Options for showing the parts of one direction.
struct Style {
  Arch host;
  bool by_number;
  bool arches;  // name the architectures
  NameList list = comma_separated;
};

// x86_64 and x32 share one audit value, so they also share the numbers without a name.
bool has_unnamed(const Part& part, Arch arch) {
  return std::ranges::any_of(
      part.unnamed, [&](Arch one) { return arch_info(one).audit == arch_info(arch).audit; });
}

// Returns the architectures whose calls are all in the part: with `always` for all arguments,
// otherwise for some.
std::vector<Arch> complete_arches(const Part& part, bool always) {
  std::map<Arch, std::size_t> calls;
  for (const Direction::Call& call : part.calls) calls[call.arch] += call.always == always ? 1 : 0;
  std::vector<Arch> out;
  for (const auto& [arch, count] : calls)
    if (has_unnamed(part, arch) && count == arch_info(arch).syscalls.size()) out.push_back(arch);
  return out;
}

// Returns whether the part has every call of every architecture, because the filters decide by
// number. `complete`: the architectures whose calls are all in it. `always`: for all arguments.
bool is_every_call(const Part& part, const std::vector<Arch>& complete, bool always,
                   const Style& style) {
  if (complete.empty() || part.unknown_arches || !style.by_number) return false;
  const auto compat = compat_arch(style.host);
  const auto has = [&](Arch arch) { return std::ranges::find(complete, arch) != complete.end(); };
  const auto in_part = [&](const ArchInfo& info) {
    return info.audit != arch_info(style.host).audit || has(info.arch);
  };
  if (!std::ranges::all_of(all_arches(), in_part)) return false;
  if (!compat) return true;
  const auto expected = std::ranges::count_if(
      arch_info(*compat).syscalls, [&](const auto& one) { return !has_name(style.host, one.nr); });
  return std::ranges::count_if(part.calls, [&](const Direction::Call& call) {
           return call.arch == *compat && (call.always || !always);
         }) == expected;
}

constexpr std::string_view kEvery[] = {"every system call", "every system call (some arguments)"};

// Returns the calls that belong neither to a complete architecture nor to the host's second
// architecture, whose calls by_number_text lists.
std::vector<Direction::Call> single_calls(const Part& part, const Style& style) {
  std::vector<Arch> left_out = complete_arches(part, true);
  std::ranges::copy(complete_arches(part, false), std::back_inserter(left_out));
  if (const auto compat = compat_arch(style.host); compat && style.by_number)
    left_out.push_back(*compat);
  std::vector<Direction::Call> out;
  std::ranges::copy_if(part.calls, std::back_inserter(out), [&](const Direction::Call& call) {
    return std::ranges::find(left_out, call.arch) == left_out.end();
  });
  return out;
}

// Returns "380 calls", or their names.
std::string calls_text(const std::vector<Direction::Call>& calls, const Style& style,
                       bool in_full) {
  std::set<std::string_view> distinct;
  std::set<Arch> where;
  for (const Direction::Call& call : calls) {
    distinct.insert(name_of(call));
    where.insert(call.arch);
  }
  if (in_full || distinct.size() <= kNamed) return names(calls, style.arches, style.list);
  return counted(distinct.size(), "call") +
         (style.arches
              ? fmt::format(" on {}", fmt::join(names_of({where.begin(), where.end()}), ", "))
              : "");
}

std::string part_text(const Part& part, const Style& style, bool in_full) {
  std::vector<std::string> out;
  std::vector<Arch> shown;
  for (const bool always : {true, false}) {
    const std::vector<Arch> complete = complete_arches(part, always);
    const std::string every(kEvery[always ? 0 : 1]);
    if (is_every_call(part, complete, always, style)) return every;
    if (!complete.empty())
      out.push_back(fmt::format("{} on {}", every, fmt::join(names_of(complete), ", ")));
    std::ranges::copy(complete, std::back_inserter(shown));
  }
  const auto calls = single_calls(part, style);
  const auto is_shown = [&](Arch arch) { return std::ranges::find(shown, arch) != shown.end(); };
  const bool more_numbers = std::ranges::any_of(all_arches(), [&](const ArchInfo& info) {
    return has_unnamed(part, info.arch) && !is_shown(info.arch);
  });
  if (!calls.empty()) out.push_back(calls_text(calls, style, in_full));
  if (more_numbers) out.emplace_back(kNumbers);
  if (part.unknown_arches) out.emplace_back(kArches);
  return fmt::format("{}", fmt::join(out, "; "));
}

// Returns whether the line only counts the calls of the fallback, because a list would be too long.
bool counts_fallback(const Direction& direction, const Style& style) {
  if (!direction.fallback || direction.arches) return false;
  std::set<std::string_view> names;
  for (const Direction::Call& call : single_calls(direction.fallback->part, style))
    names.insert(name_of(call));
  return names.size() > kListed;
}

// If the filters do not distinguish architectures, a number that became more permissive may be
// another call on the host's second architecture. Returns these calls as text.
std::string by_number_text(const Direction& direction, const Style& style) {
  const auto compat = compat_arch(style.host);
  if (!style.by_number || !compat) return "";
  bool needed = false;
  std::vector<std::string> out;
  for (const Part* part : {&direction.allowed, &direction.looser}) {
    const std::vector<Arch> complete = complete_arches(*part, true);
    const std::vector<Arch> partly = complete_arches(*part, false);
    if (is_every_call(*part, complete, true, style) || is_every_call(*part, partly, false, style))
      continue;
    needed = needed || !complete.empty() || !partly.empty();
    std::vector<Direction::Call> calls = single_calls(*part, style);
    std::ranges::copy_if(part->calls, std::back_inserter(calls),
                         [&](const auto& call) { return call.arch == *compat; });
    for (const Direction::Call& call : calls) {
      const std::string_view other = syscall_name(*compat, call.nr);
      if (other.empty() || (call.arch != *compat && other == name_of(call))) continue;
      if (std::string text = fmt::format("{} is {}", call.nr, other);
          std::ranges::find(out, text) == out.end())
        out.push_back(std::move(text));
    }
  }
  if (counts_fallback(direction, style)) return " (on every architecture, by number)";
  if (out.empty()) return needed ? " (on every architecture, by number)" : "";
  return fmt::format(" (on every architecture, by number: on {}, {})", arch_info(*compat).name,
                     style.list(out));
}

// Returns "KILL_PROCESS -> ERRNO(1 EPERM)", or only "ERRNO" if there are several errors.
std::string step_text(const Direction::Step& step) {
  const auto text = [](const ReturnValue& value) {
    return value.action && !value.value ? action_name(*value.action) : action_text(value);
  };
  return fmt::format("{} -> {}", text(step.before), text(step.after));
}

// Returns `part` without the items that `other` also has.
Part without(Part part, const Part& other) {
  const auto has = [](const auto& list, const auto& one) {
    return std::ranges::find(list, one) != list.end();
  };
  std::erase_if(part.calls, [&](const auto& call) { return has(other.calls, call); });
  std::erase_if(part.unnamed, [&](Arch arch) { return has(other.unnamed, arch); });
  part.unknown_arches = part.unknown_arches && !other.unknown_arches;
  return part;
}

// Returns "default action ERRNO(1 EPERM) -> ALLOW (every call without a rule, 320 calls)".
std::string fallback_text(const Direction& direction, Style style) {
  const auto compat = compat_arch(style.host);
  std::vector<Direction::Call> calls = direction.fallback->part.calls;
  if (style.by_number && compat)
    std::erase_if(calls, [&](const Direction::Call& call) { return call.arch == *compat; });
  return fmt::format("default action {} (every call without a rule, {})",
                     step_text(*direction.fallback), calls_text(calls, style, false));
}

std::string arches_text(const Direction::Arches& arches) {
  const auto list = [](const std::vector<Arch>& of) {
    std::set<std::string_view> out;
    for (const Arch arch : of)
      out.insert(arch_info(*arch_from_data(arch_info(arch).audit, 0)).name);
    return fmt::format("{}", fmt::join(out, ", "));
  };
  return fmt::format(
      "the filters are for different architectures, {} before and {} after (see --arch)",
      list(arches.before), list(arches.after));
}

// Returns what became more permissive, in the order of danger.
std::vector<std::string> looser_texts(const Direction& direction, const Style& style) {
  const bool counted = counts_fallback(direction, style);
  const bool in_full = !direction.arches;
  const auto listed = [&](const Part& part) {
    return counted ? without(part, direction.fallback->part) : part;
  };
  std::vector<std::string> out;
  if (counted) out.push_back(fallback_text(direction, style));
  if (const Part allowed = listed(direction.allowed); !allowed.empty())
    out.push_back(part_text(allowed, style, in_full) + " newly allowed");
  for (const Direction::Step& step : direction.looser_steps)
    if (const Part part = listed(step.part); !part.empty())
      out.push_back(part_text(part, style, in_full) + ": " + step_text(step));
  return out;
}

}  // namespace

std::string comma_separated(std::span<const std::string> texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string direction_line(const Direction& direction, Arch host, const NameList& list) {
  if (direction.empty()) return "";
  const Style style{host, direction.by_number, !only_host(direction, host), list};
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (direction.loosens()) {
    for (const std::string& text : looser_texts(direction, style)) add(text);
    out += by_number_text(direction, style);
  }
  const bool only_data = out.empty() && direction.stricter.empty();
  if (!direction.stricter.empty())
    add(fmt::format("{}stricter: {}", direction.only_stricter() ? "only " : "",
                    part_text(direction.stricter, style, false)));
  if (!direction.changed.empty())
    add(fmt::format("{}: {}",
                    only_data && direction.complete ? "only the data of actions changed"
                                                    : "other data of the same action",
                    part_text(direction.changed, style, false)));
  if (direction.arches) out = arches_text(*direction.arches) + "; " + out;
  if (direction.loosens()) out = "LOOSER: " + out;
  if (direction.same_effect)
    out +=
        "; as the kernel sees it: the same, because it ignores the bits that matter (--same "
        "effect)";
  if (direction.without_choices)
    out += " (apart from inputs for which libseccomp chooses)";
  else if (!direction.complete)
    out += " (for the inputs that were run; other inputs are undecided)";
  return out;
}

std::string fallback_calls(const Direction& direction, Arch host) {
  const Style style{host, direction.by_number, !only_host(direction, host)};
  if (!counts_fallback(direction, style)) return "";
  return fmt::format("default action {}: {}\n", step_text(*direction.fallback),
                     part_text(direction.fallback->part, style, true));
}

std::string direction_line(const std::optional<Direction>& direction, Arch host) {
  return direction ? direction_line(*direction, host) : "";
}

std::string_view headline(const Direction& direction) {
  if (direction.loosens()) return "LOOSER";
  if (direction.only_stricter()) return "only stricter";
  return direction.complete && !direction.changed.empty() ? "only data changed" : "";
}

CallCount count_calls(const Direction& direction, Arch host, std::span<const Part* const> parts) {
  std::map<std::pair<Arch, std::uint32_t>, Direction::Call> calls;
  Part all;
  for (const Part* part : parts) {
    for (const Direction::Call& call : part->calls)
      calls[{call.arch, call.nr}] = {call.arch, call.nr, true};
    std::ranges::copy(part->unnamed, std::back_inserter(all.unnamed));
    all.unknown_arches = all.unknown_arches || part->unknown_arches;
  }
  std::ranges::copy(calls | std::views::values, std::back_inserter(all.calls));
  const Style style{host, direction.by_number, !only_host(direction, host)};
  const bool every = is_every_call(all, complete_arches(all, true), false, style);
  std::set<std::string_view> distinct;
  for (const Direction::Call& call : all.calls)
    if (!direction.by_number || call.arch != compat_arch(host)) distinct.insert(name_of(call));
  CallCount out{every ? "every" : std::to_string(distinct.size()), {}};
  if (!all.unnamed.empty() && !every) out.others.push_back(kNumbers);
  if (all.unknown_arches) out.others.push_back(kArches);
  return out;
}

std::string directed(const std::string& line, const Witness& witness) {
  return line.empty() ? became_text(witness) : fmt::format("{}; {}", line, became_text(witness));
}

void describe(Fields<Direction::Call>& call) {
  call("arch", "", [](const Direction::Call& it) { return arch_info(it.arch).name; });
  call("name", "", [](const Direction::Call& it) { return name_of(it); });
  call("nr", "", &Direction::Call::nr);
  call("always", "False if this holds only for some arguments.", &Direction::Call::always);
}

void describe(Fields<Direction::Part>& part) {
  part.is("direction_part", "Some of the inputs.");
  part("calls", "System calls with a name, by architecture, then number.", &Part::calls);
  part("unnamed_numbers", "Whether numbers without a name are affected, too.",
       [](const Part& it) { return !it.unnamed.empty(); });
  part("unknown_arches", "Whether architectures that secequiv does not know are affected, too.",
       &Part::unknown_arches);
}

void describe(Fields<ShownDirection>& direction) {
  direction.is("direction", "The effect of the difference on callers.");
  direction("summary", "The first line of the text.",
            [](const ShownDirection& it) { return direction_line(it.direction, it.host); });
  direction("complete",
            "False if a limit was reached; the lists then come only from inputs that were run.",
            [](const ShownDirection& it) { return it.direction.complete; });
  direction("by_number",
            "True if the difference is the same on every architecture. The calls are then those of "
            "the host, of x32 if the host is x86_64, and of the host's 32-bit architecture if the "
            "host has no call with this number.",
            [](const ShownDirection& it) { return it.direction.by_number; });
  direction("allowed", "Calls whose action was neither ALLOW nor LOG and now is one of them.",
            [](const ShownDirection& it) { return it.direction.allowed; });
  direction("looser", "Calls that became more permissive in another way.",
            [](const ShownDirection& it) { return it.direction.looser; });
  direction("stricter", "Calls that became less permissive.",
            [](const ShownDirection& it) { return it.direction.stricter; });
  direction("changed", "Calls whose action is the same, but whose data differs.",
            [](const ShownDirection& it) { return it.direction.changed; });
  direction(
      "same_effect",
      "True if the filters are proven to differ only on bits that the kernel ignores, so that "
      "--same effect finds them the same.",
      [](const ShownDirection& it) { return if_true(it.direction.same_effect); }, only_true());
}

}  // namespace secequiv
