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

void describe(Fields<OpenDoor>& open) {
  open.is("door", "A refused call and the allowed one.");
  open("call", "The refused call.", &OpenDoor::call);
  open("door", "The allowed call.", &OpenDoor::door);
  open("refused", "An input that the filter refuses. The filter was run on it.",
       &OpenDoor::refused);
  open("allowed", "An input with the same effect that the filter allows. The filter was run on it.",
       &OpenDoor::allowed);
  open("source", "Why both have the same effect: a manual page or a function of the kernel.",
       &OpenDoor::source);
  open("needs", "What the door needs besides permission.",
       [](const OpenDoor& it) { return unless_empty(it.needs); });
  open("operation", "The operation of io_uring.",
       [](const OpenDoor& it) { return unless_empty(it.operation); });
  open("origin", "Where the policy's file has the rule or the default action that refuses.",
       [](const OpenDoor& it) { return known(it.rule.position); });
}

void describe(Fields<DoorFinding>& finding) {
  finding.is("doors", "The doors of one cause.");
  finding(
      "cause",
      "unchecked_arch: the filter does not test the architecture. same_numbers: it tests the "
      "architecture, but treats the numbers of `arch` like those of the other architecture. "
      "swapped_arch: it refuses all calls of its own architecture and allows unknown ones. "
      "open_arch: it refuses nothing on `arch`. same_call: it allows the same calls on `arch`. "
      "multiplexer: one call does what several calls do. other_call: another call has the same "
      "effect. io_uring: requests in shared memory have it.",
      [](const DoorFinding& it) { return door_cause(it.cause); },
      names_of(door_cause, Cause::kIoUring));
  finding("certain",
          "Whether the effect is the same on usual kernels. If not, `needs` tells what else it "
          "takes. Only certain doors make the verdict fail.",
          &DoorFinding::certain);
  finding("arch", "The architecture of the allowed calls.",
          [](const DoorFinding& it) { return arch_info(it.arch).name; });
  finding("open", "The pairs of calls.", &DoorFinding::open, list_of<OpenDoor>(1));
}

}  // namespace secequiv
