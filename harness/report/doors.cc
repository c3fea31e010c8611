#include "harness/report/doors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/text.h"
#include "harness/compare/cache_change.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

using Cause = DoorFinding::Cause;

constexpr std::size_t kNamedDoorCalls = 3;

std::string joined(const std::vector<std::string>& names) {
  return first_and_count(names, kNamedDoorCalls, [](const std::string& name) { return name; });
}

// Returns each name once, in order.
template <class Name>
std::vector<std::string> distinct(const DoorFinding& finding, const Name& name) {
  std::vector<std::string> out;
  for (const OpenDoor& open : finding.open)
    if (std::string text = name(open); std::ranges::find(out, text) == out.end())
      out.push_back(std::move(text));
  return out;
}

std::vector<std::string> refused_calls(const DoorFinding& finding) {
  return distinct(finding, [](const OpenDoor& open) {
    return open.operation.empty() ? std::string(open.call)
                                  : fmt::format("{} ({})", open.call, open.operation);
  });
}

// Returns "x86_64", the architecture of the refused calls.
std::string_view refused_arch(const DoorFinding& finding) {
  const SeccompData& data = finding.open.front().refused;
  const auto arch = arch_from_data(data.arch(), data.nr());
  return arch ? arch_info(*arch).name : "another architecture";
}

std::string other_numbers(const DoorFinding& finding) {
  const std::string_view arch = arch_info(finding.arch).name;
  std::string_view why = "the filter does not test the architecture";
  if (finding.cause == Cause::kSameNumbers)
    why = "the filter treats these numbers like those of the other architecture";
  if (finding.cause == Cause::kSwappedArch)
    why = "the filter refuses its own architecture and allows unknown ones";
  if (finding.cause == Cause::kOpenArch) why = "the filter refuses nothing";
  if (finding.cause == Cause::kSameCall) why = "the same calls have other numbers";
  const auto calls = refused_calls(finding);
  return fmt::format("{}: {}; {} refused on {} and allowed on {}: {}", arch, why,
                     counted(calls.size(), "call"), refused_arch(finding), arch, joined(calls));
}

// Returns "i386:socketcall(0x1)".
std::string call_on(const SeccompData& data) {
  const auto arch = arch_from_data(data.arch(), data.nr());
  return fmt::format("{}:{}", arch ? arch_info(*arch).name : "?", shown_call(data));
}

std::string what_is_open(const DoorFinding& finding) {
  if (finding.cause <= Cause::kSameCall) return other_numbers(finding);
  const std::string_view arch = arch_info(finding.arch).name;
  const std::string calls = joined(refused_calls(finding));
  const auto doors = distinct(finding, [](const OpenDoor& open) { return std::string(open.door); });
  if (finding.cause == Cause::kIoUring)
    return fmt::format("{}: io_uring can do what is refused as {}", arch, calls);
  return fmt::format("{}: {} can do what is refused as {}", arch, joined(doors), calls);
}

}  // namespace

std::string_view door_cause(DoorFinding::Cause cause) {
  switch (cause) {
    case Cause::kUncheckedArch:
      return "unchecked_arch";
    case Cause::kSameNumbers:
      return "same_numbers";
    case Cause::kSwappedArch:
      return "swapped_arch";
    case Cause::kOpenArch:
      return "open_arch";
    case Cause::kSameCall:
      return "same_call";
    case Cause::kMultiplexer:
      return "multiplexer";
    case Cause::kOtherCall:
      return "other_call";
    case Cause::kIoUring:
      break;
  }
  return "io_uring";
}

std::string door_line(const DoorFinding& finding) {
  std::string out = finding.certain ? "certain: " : "possible: ";
  out += what_is_open(finding);
  const auto needs =
      distinct(finding, [](const OpenDoor& open) { return std::string(open.needs); });
  if (needs.size() == 1 && !needs.front().empty()) out += fmt::format("; needs {}", needs.front());
  return out;
}

std::string door_text(const DoorFinding& finding) {
  const OpenDoor& first = finding.open.front();
  const std::string by = first.rule.shown();
  return fmt::format("{}\n  refused: {}{}\n  allowed: {}\n  source:  {}\n", door_line(finding),
                     call_on(first.refused), by.empty() ? "" : fmt::format("  by {}", by),
                     call_on(first.allowed), first.source);
}

nlohmann::ordered_json to_json(const DoorFinding& finding) {
  auto open = nlohmann::ordered_json::array();
  for (const OpenDoor& one : finding.open) {
    nlohmann::ordered_json row{{"call", one.call},
                               {"door", one.door},
                               {"refused", to_json(one.refused)},
                               {"allowed", to_json(one.allowed)},
                               {"source", one.source}};
    if (!one.needs.empty()) row["needs"] = one.needs;
    if (!one.operation.empty()) row["operation"] = one.operation;
    if (one.rule.position.at != nullptr) row["origin"] = to_json(*one.rule.position.at);
    open.push_back(std::move(row));
  }
  nlohmann::ordered_json out{{"cause", door_cause(finding.cause)},
                             {"certain", finding.certain},
                             {"arch", arch_info(finding.arch).name}};
  out["open"] = std::move(open);
  return out;
}

}  // namespace secequiv
