#include "analyze/doors.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/call_sets.h"
#include "analyze/deciding.h"
#include "analyze/doorway.h"
#include "harness/seccomp/doors.h"
#include "verify/dd/actions.h"
#include "verify/dd/moved.h"

namespace secequiv {
namespace {

using dd::Diagrams;
using Cause = DoorFinding::Cause;

class DoorFinder {
 public:
  DoorFinder(dd::Space& space, const dd::Decisions& decisions, Arch host)
      : space_(space),
        host_(space, decisions, host),
        tests_arch_((dd::tested_words(space, decisions.root) >> kArchWord & 1) != 0),
        swapped_(host_.allows_none() && lets_some_run(space, decisions)) {
    if (host == Arch::kX86_64) others_.emplace_back(space, decisions, Arch::kX32);
    if (const auto compat = compat_arch(host)) others_.emplace_back(space, decisions, *compat);
  }

  std::vector<DoorFinding> find() {
    std::vector<ArchCalls*> inside{&host_};
    for (ArchCalls& other : others_)
      if (!through_numbers(other)) inside.push_back(&other);
    for (ArchCalls* const arch : inside)
      for (const Door& door : all_doors()) through(door, *arch);
    return merged();
  }

 private:
  // The last part names the door, unless the cause is the number of the call.
  using Key = std::tuple<Cause, bool, Arch, std::string_view>;

  void add(Cause cause, bool certain, Arch arch, OpenDoor open) {
    const std::string_view door = cause <= Cause::kSameCall ? std::string_view() : open.door;
    open_[{cause, !certain, arch, door}].push_back(std::move(open));
  }

  // Returns one finding for all doors of the same kind that open the same calls.
  std::vector<DoorFinding> merged() {
    std::vector<DoorFinding> out;
    std::map<std::tuple<Cause, bool, Arch, std::vector<std::string_view>>, std::size_t> known;
    for (auto& [key, open] : open_) {
      const auto& [cause, possible, arch, door] = key;
      std::vector<std::string_view> calls;
      calls.reserve(open.size());
      for (const OpenDoor& one : open) calls.push_back(one.call);
      const auto [at, is_new] = known.try_emplace({cause, possible, arch, calls}, out.size());
      if (is_new) out.push_back({cause, !possible, arch});
      std::ranges::move(open, std::back_inserter(out[at->second].open));
    }
    return out;
  }

  // Returns whether some call of an unknown architecture is allowed.
  static bool lets_some_run(dd::Space& space, const dd::Decisions& decisions) {
    const auto unknown = space.fix(decisions.root, kArchWord, dd::kUnknownAudit);
    return allowed_inputs(space, unknown) != Diagrams::kZero;
  }

  // Finds calls that the filter refuses on the host and allows on `other`. Returns whether the
  // filter does not look at the calls of `other` at all.
  bool through_numbers(ArchCalls& other) {
    const bool unchecked = other.function() == host_.function() && other.arch() != Arch::kX32;
    const bool open = other.allows_all();
    const Cause cause = swapped_    ? Cause::kSwappedArch
                        : unchecked ? tests_arch_ ? Cause::kSameNumbers : Cause::kUncheckedArch
                        : open      ? Cause::kOpenArch
                                    : Cause::kSameCall;
    if (!swapped_ && !host_.restricts()) return unchecked || open;
    for (const SyscallEntry& entry : host_.info().syscalls) {
      const auto nr = other.number(entry.name);
      const CallSets& refused = host_.of(entry.nr);
      if (!nr || refused.refused == Diagrams::kZero) continue;
      const bool intended =
          unchecked || swapped_ || other.allows_unlisted() || host_.refuses_explicitly(refused);
      if (!intended) continue;
      Doorway way(space_, host_, other, refused.refused, other.of(*nr).allowed);
      for (int i = 0; i < common_arguments(other.arch(), entry.name); ++i) way.same(i, i);
      const auto found = way.find(entry.nr, *nr);
      if (!found) continue;
      same_calls_.emplace(other.arch(), entry.name);
      add(cause, is_usual(other.arch()), other.arch(),
          {entry.name,
           entry.name,
           found->first,
           found->second,
           {},
           kernel_option(other.arch()),
           number_source(other.arch())});
    }
    return unchecked || open;
  }

  // Returns whether kernels usually have the entry for this architecture's calls: most
  // distributions leave x32 out or switch it off.
  static bool is_usual(Arch arch) { return arch != Arch::kX32; }
  static std::string_view kernel_option(Arch arch) {
    if (arch == Arch::kX32) return "CONFIG_X86_X32_ABI";
    return arch == Arch::kI386 ? "CONFIG_IA32_EMULATION" : "CONFIG_COMPAT";
  }
  static std::string_view number_source(Arch arch) {
    if (arch == Arch::kX32) return "arch/x86/entry/common.c do_syscall_x32";
    return arch == Arch::kI386 ? "arch/x86/entry/common.c do_int80_emulation"
                               : "arch/arm64/kernel/syscall.c do_el0_svc_compat";
  }

  // Looks for the door on `to`, for a call that is refused on the host or on `to`.
  void through(const Door& door, ArchCalls& to) {
    const CallSets* const opens = to.of(door.door);
    if (opens == nullptr || opens->allowed == Diagrams::kZero || found(door)) return;
    for (const std::string_view name : door.also) {
      if (name.empty()) continue;
      const CallSets* const needed = to.of(name);
      if (needed == nullptr || needed->allowed == Diagrams::kZero) return;
    }
    // These findings have one cause: calls of `to` are not filtered as those of the host are.
    if (same_calls_.contains({to.arch(), door.call}) ||
        same_calls_.contains({to.arch(), door.door}))
      return;
    if (!through(door, host_, to, *opens) && &to != &host_) through(door, to, to, *opens);
  }

  bool through(const Door& door, ArchCalls& from, ArchCalls& to, const CallSets& opens) {
    const CallSets* const refused = from.of(door.call);
    if (refused == nullptr || !from.refuses_explicitly(*refused)) return false;
    // Filters refuse such calls because they cannot see the arguments.
    if (has_arguments_in_memory(from.arch(), door.call)) return false;
    Doorway way(space_, from, to, door.newer ? refused->forbidden : refused->refused,
                opens.allowed);
    if (way.closed() || !is_undone(door, from, *refused, way) || !link(door, from, to, way))
      return false;
    if (!from.allows_unlisted() && !to.allows_unlisted() && way.lists_values()) return false;
    const auto inputs = way.find(refused->nr, opens.nr);
    if (!inputs) return false;
    const Cause cause = door.kind == DoorKind::kMultiplexer ? Cause::kMultiplexer
                        : door.kind == DoorKind::kIoUring   ? Cause::kIoUring
                                                            : Cause::kOtherCall;
    const bool usual = is_usual(to.arch());
    add(cause, door.certain() && usual, to.arch(),
        {door.call, door.door, inputs->first, inputs->second, door.operation,
         usual || !door.needs.empty() ? door.needs : kernel_option(to.arch()), door.source});
    found_.emplace(door.call, door.door);
    return true;
  }

  // Restricts the way to refusals that the door undoes. Returns whether there may be any.
  bool is_undone(const Door& door, ArchCalls& from, const CallSets& call, Doorway& way) {
    const bool whole = call.allowed == Diagrams::kZero;
    const DoorFor& undoes = door.undoes;
    if (undoes.what == DoorFor::What::kAny) return true;
    if (undoes.what == DoorFor::What::kListed) return from.allows_unlisted();
    if (undoes.what == DoorFor::What::kWhole) return whole;
    const int argument = door_argument(from.arch(), door.call, undoes.argument);
    const auto value = parse_value(undoes.value, from.arch());
    if (!value) return false;
    if (undoes.what == DoorFor::What::kOperation) {
      constexpr std::uint32_t kUnknownOperation = 0x7ffffffe;
      if (space_.fix(call.allowed, from.low_word(argument), kUnknownOperation) == Diagrams::kZero)
        return false;
      way.refused_is(argument, *value);
    } else if (whole) {
      if (undoes.what == DoorFor::What::kFlag) return false;
      way.refused_has(argument, *value);
    } else {
      way.only_for_flag(call.allowed, argument, *value);
    }
    return !way.closed();
  }

  static std::optional<int> argument_of(const DoorValue& value, Arch arch, std::string_view call) {
    if (value.from != DoorValue::From::kArgument || has_arguments_in_memory(arch, call))
      return std::nullopt;
    return door_argument(arch, call, value.argument);
  }
  static std::optional<std::uint64_t> constant_of(const DoorValue& value, Arch arch) {
    if (value.constant.empty()) return std::nullopt;
    const auto number = parse_value(value.constant, arch);
    return number ? std::optional(*number) : std::nullopt;
  }

  // Connects the values that both calls use. Returns whether they can be equal.
  static bool link(const Door& door, const ArchCalls& from, const ArchCalls& to, Doorway& way) {
    using From = DoorValue::From;
    for (const auto& [refused, opens] : door.links) {
      const auto in_refused = argument_of(refused, from.arch(), door.call);
      const auto in_door = argument_of(opens, to.arch(), door.door);
      const auto known_refused = constant_of(refused, from.arch());
      const auto known_door = constant_of(opens, to.arch());
      if (in_refused && in_door)
        way.same(*in_refused, *in_door);
      else if (in_refused && opens.from == From::kConstant && known_door)
        way.refused_is(*in_refused, *known_door);
      else if (in_door && refused.from == From::kConstant && known_refused)
        way.door_is(*in_door, *known_refused);
      else if (in_door && refused.from == From::kBits && known_refused)
        way.door_has(*in_door, *known_refused);
      else if (refused.from == From::kConstant && opens.from == From::kConstant &&
               *known_refused != *known_door)
        return false;
    }
    return true;
  }

  [[nodiscard]] bool found(const Door& door) const {
    return found_.contains({door.call, door.door});
  }

  dd::Space& space_;
  ArchCalls host_;
  bool tests_arch_;
  bool swapped_;  // the filter refuses everything on the host and allows some unknown architecture
  std::vector<ArchCalls> others_;
  std::set<std::pair<Arch, std::string_view>> same_calls_;
  std::set<std::pair<std::string_view, std::string_view>> found_;  // refused call, door
  std::map<Key, std::vector<OpenDoor>> open_;
};

}  // namespace

std::vector<DoorFinding> find_doors(dd::Space& space, const dd::Decisions& decisions, Arch host) {
  return DoorFinder(space, decisions, host).find();
}

Result<std::vector<DoorFinding>> doors(dd::Space& space, const dd::Decisions& decisions,
                                       const Stack& stack, Arch host) {
  const auto programs = views(stack.filters);
  auto findings = find_doors(space, decisions, host);
  if (space.exhausted()) return dd::limits_reached(stack.name);
  for (DoorFinding& finding : findings)
    for (OpenDoor& open : finding.open) {
      if (lets_run(run_stack(programs, open.refused)) ||
          !lets_run(run_stack(programs, open.allowed)))
        return make_error(ErrorCode::kInternal, stack.name,
                          "a door does not replay: " + describe(open.allowed));
      open.rule = deciding_rule(stack.filters, open.refused);
    }
  return findings;
}

}  // namespace secequiv
