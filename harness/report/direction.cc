#include "harness/report/direction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace secequiv {
namespace {

using nlohmann::ordered_json;
using Part = Direction::Part;

// In short texts, up to this many calls are named, and larger sets are only counted.
constexpr std::size_t kNamed = 4;

bool only_host(const Direction& direction, Arch host) {
  return std::ranges::all_of(
      std::array{&direction.allowed, &direction.looser, &direction.stricter, &direction.changed},
      [&](const Part* part) {
        return std::ranges::all_of(part->calls,
                                   [&](const auto& call) { return call.arch == host; });
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
std::string names(const std::vector<Direction::Call>& calls, bool arches) {
  std::map<std::pair<std::string, bool>, std::vector<Arch>> by_name;
  for (const Direction::Call& call : calls)
    by_name[{std::string(name_of(call)), call.always}].push_back(call.arch);
  std::map<std::vector<Arch>, std::vector<std::string>> groups;
  for (const auto& [name, where] : by_name)
    groups[where].push_back(name.first + (name.second ? "" : " (some arguments)"));
  std::vector<std::string> out;
  out.reserve(groups.size());
  for (const auto& [where, list] : groups)
    out.push_back(fmt::format("{}", fmt::join(list, ", ")) +
                  (arches ? fmt::format(" on {}", fmt::join(names_of(where), ", ")) : ""));
  return fmt::format("{}", fmt::join(out, "; "));
}

// Returns whether the part contains every call of its architectures, and numbers without a name.
// With `always`, each call must differ for all its arguments. Without it, each call must differ for
// some arguments only.
bool is_every_call(const Part& part, bool always) {
  std::map<Arch, std::size_t> calls;
  for (const Direction::Call& call : part.calls) calls[call.arch] += call.always == always ? 1 : 0;
  return part.unnamed_numbers && !calls.empty() && std::ranges::all_of(calls, [](const auto& one) {
           return one.second == arch_info(one.first).syscalls.size();
         });
}

std::string part_text(const Part& part, bool arches, bool in_full) {
  std::string every = is_every_call(part, true)    ? "every system call"
                      : is_every_call(part, false) ? "every system call (some arguments)"
                                                   : "";
  std::vector<std::string> out;
  if (!every.empty()) {
    if (!arches && !part.unknown_arches) return every;
    std::vector<Arch> where;
    for (const Direction::Call& call : part.calls)
      if (std::ranges::find(where, call.arch) == where.end()) where.push_back(call.arch);
    out.push_back(fmt::format("{} on {}", every, fmt::join(names_of(where), ", ")));
  } else {
    std::set<std::string_view> distinct;
    for (const Direction::Call& call : part.calls) distinct.insert(name_of(call));
    if (!in_full && distinct.size() > kNamed)
      out.push_back(fmt::format("{} calls", distinct.size()));
    else if (!distinct.empty())
      out.push_back(names(part.calls, arches || part.unknown_arches));
    if (part.unnamed_numbers) out.emplace_back("numbers without a name");
  }
  if (part.unknown_arches) out.emplace_back("other architectures");
  return fmt::format("{}", fmt::join(out, "; "));
}

// Returns the 32-bit architecture whose calls the host's kernel also accepts.
std::optional<Arch> compat_of(Arch host) {
  if (host == Arch::kX86_64) return Arch::kI386;
  if (host == Arch::kAarch64) return Arch::kArm;
  return std::nullopt;
}

// If the filters do not distinguish architectures, a number that became more permissive is another
// call on the host's second architecture. Returns these calls as text.
std::string by_number_text(const Direction& direction, Arch host) {
  const auto compat = compat_of(host);
  if (!direction.by_number || !compat) return "";
  std::vector<std::string> out;
  for (const Part* part : {&direction.allowed, &direction.looser}) {
    if (is_every_call(*part, true) || is_every_call(*part, false)) continue;
    for (const Direction::Call& call : part->calls) {
      const std::string_view other = syscall_name(*compat, call.nr);
      if (!other.empty() && other != name_of(call))
        out.push_back(fmt::format("{} is {}", call.nr, other));
    }
  }
  if (out.empty()) return "";
  return fmt::format(" (on every architecture, by number: on {}, {})", arch_info(*compat).name,
                     fmt::join(out, ", "));
}

ordered_json part_json(const Part& part) {
  ordered_json calls = ordered_json::array();
  for (const Direction::Call& call : part.calls)
    calls.push_back({{"arch", arch_info(call.arch).name},
                     {"name", name_of(call)},
                     {"nr", call.nr},
                     {"always", call.always}});
  return {{"calls", std::move(calls)},
          {"unnamed_numbers", part.unnamed_numbers},
          {"unknown_arches", part.unknown_arches}};
}

}  // namespace

std::string direction_line(const Direction& direction, Arch host) {
  if (direction.empty()) return "";
  const bool arches = !only_host(direction, host);
  const auto shown = [&](const Part& part, bool in_full) {
    return part_text(part, arches, in_full);
  };
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (!direction.allowed.empty()) add(shown(direction.allowed, true) + " newly allowed");
  if (!direction.looser.empty()) add("more permissive: " + shown(direction.looser, true));
  out += by_number_text(direction, host);
  const bool only_data = out.empty() && direction.stricter.empty();
  if (!direction.stricter.empty())
    add(fmt::format("{}stricter: {}", direction.loosens() || !direction.complete ? "" : "only ",
                    shown(direction.stricter, false)));
  if (!direction.changed.empty())
    add(fmt::format("{}: {}",
                    only_data && direction.complete ? "only the data of actions changed"
                                                    : "other data of the same action",
                    shown(direction.changed, false)));
  if (direction.loosens()) out = "LOOSER: " + out;
  if (!direction.complete) out += " (for the inputs that were run; other inputs are undecided)";
  return out;
}

std::string direction_line(const std::optional<Direction>& direction, Arch host) {
  return direction ? direction_line(*direction, host) : "";
}

std::string directed(const std::string& line, const Witness& witness) {
  return line.empty() ? became_text(witness) : fmt::format("{}; {}", line, became_text(witness));
}

ordered_json to_json(const Direction& direction, Arch host) {
  return {{"summary", direction_line(direction, host)}, {"complete", direction.complete},
          {"by_number", direction.by_number},           {"allowed", part_json(direction.allowed)},
          {"looser", part_json(direction.looser)},      {"stricter", part_json(direction.stricter)},
          {"changed", part_json(direction.changed)}};
}

}  // namespace secequiv
