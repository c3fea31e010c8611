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

// How many calls are named where a number would do.
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

// "memfd_create, socket (some arguments)"; with `arches`, the calls of each set of architectures
// together: "read (i386, x32)".
std::string names(const std::vector<Direction::Call>& calls, bool arches) {
  std::map<std::string, std::pair<std::vector<Arch>, bool>> by_name;
  for (const Direction::Call& call : calls) {
    auto& [where, always] =
        by_name.try_emplace(std::string(name_of(call)), std::vector<Arch>(), true).first->second;
    where.push_back(call.arch);
    always = always && call.always;
  }
  std::map<std::vector<Arch>, std::vector<std::string>> groups;
  for (const auto& [name, found] : by_name)
    groups[found.first].push_back(name + (found.second ? "" : " (some arguments)"));
  std::vector<std::string> out;
  for (const auto& [where, list] : groups) {
    std::vector<std::string_view> shown;
    for (const Arch arch : where) shown.push_back(arch_info(arch).name);
    out.push_back(fmt::format("{}", fmt::join(list, ", ")) +
                  (arches ? fmt::format(" on {}", fmt::join(shown, ", ")) : std::string()));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

// Whether every call of every architecture in the part has its kind, numbers without a name
// included: each for all arguments (`always`), or each for some.
bool is_every_call(const Part& part, bool always) {
  std::map<Arch, std::size_t> calls;
  for (const Direction::Call& call : part.calls) calls[call.arch] += call.always == always ? 1 : 0;
  return part.unnamed_numbers && !calls.empty() && std::ranges::all_of(calls, [](const auto& one) {
           return one.second == arch_info(one.first).syscalls.size();
         });
}

std::string part_text(const Part& part, bool arches, bool in_full) {
  if (!arches || part.unknown_arches) {
    if (is_every_call(part, true)) return "every system call";
    if (is_every_call(part, false)) return "every system call (some arguments)";
  }
  std::vector<std::string> out;
  std::set<std::string_view> distinct;
  for (const Direction::Call& call : part.calls) distinct.insert(name_of(call));
  if (in_full || distinct.size() <= kNamed) {
    if (!distinct.empty()) out.push_back(names(part.calls, arches));
  } else {
    out.push_back(fmt::format("{} calls", distinct.size()));
  }
  if (part.unnamed_numbers) out.emplace_back("numbers without a name");
  if (part.unknown_arches) out.emplace_back("other architectures");
  return fmt::format("{}", fmt::join(out, ", "));
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
          {"allowed", part_json(direction.allowed)},    {"looser", part_json(direction.looser)},
          {"stricter", part_json(direction.stricter)},  {"changed", part_json(direction.changed)}};
}

}  // namespace secequiv
