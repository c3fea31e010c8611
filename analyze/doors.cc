#include "analyze/doors.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/deciding.h"
#include "harness/seccomp/doors.h"
#include "verify/dd/moved.h"
#include "verify/dd/ranges.h"

namespace secequiv {
namespace {

using dd::Diagrams;
using dd::NodeId;
using Cause = DoorFinding::Cause;

constexpr std::uint32_t kAllArgumentWords = 0xfff0;
// No call has these numbers.
constexpr std::uint32_t kUnusedNumber = 0x3fffffff;

// What happens to one call, as sets of arguments and instruction pointers.
struct CallSets {
  std::uint32_t nr = 0;
  NodeId allowed = Diagrams::kZero;
  NodeId refused = Diagrams::kZero;
  NodeId forbidden = Diagrams::kZero;  // refused, and not by pretending that the call is missing
};

// Returns a number in the widest gap of the table. Some filters refuse all numbers above those that
// they know, but not those in between.
std::uint32_t number_in_gap(std::span<const SyscallEntry> calls) {
  std::uint32_t out = kUnusedNumber;
  std::uint32_t widest = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const std::uint32_t gap = calls[i].nr - calls[i - 1].nr;
    if (gap <= widest) continue;
    widest = gap;
    out = calls[i - 1].nr + gap / 2;
  }
  return out;
}

// The calls of one architecture.
class Calls {
 public:
  Calls(dd::Space& space, const dd::Decisions& decisions, Arch arch)
      : space_(space),
        info_(arch_info(arch)),
        function_(space.fix(decisions.root, kArchWord, info_.audit)) {
    for (const SyscallEntry& call : info_.syscalls) numbers_.emplace(call.name, call.nr);
    const std::uint32_t x32 = arch == Arch::kX32 ? kX32Bit : 0;
    open_ = allows(kUnusedNumber | x32) || allows(number_in_gap(info_.syscalls));
  }

  [[nodiscard]] Arch arch() const { return info_.arch; }
  [[nodiscard]] const ArchInfo& info() const { return info_; }
  [[nodiscard]] NodeId function() const { return function_; }
  // Returns whether unlisted calls are allowed.
  [[nodiscard]] bool allows_unlisted() const { return open_; }

  // Returns whether no call is refused.
  bool allows_all() {
    return open_ && std::ranges::all_of(info_.syscalls,
                                        [&](const SyscallEntry& call) { return allows(call.nr); });
  }

  const CallSets& of(std::uint32_t nr) {
    const auto known = sets_.find(nr);
    return known != sets_.end() ? known->second : sets_.emplace(nr, make(nr)).first->second;
  }
  const CallSets* of(std::string_view name) {
    const auto nr = number(name);
    return nr ? &of(*nr) : nullptr;
  }
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view name) const {
    const auto known = numbers_.find(name);
    return known != numbers_.end() ? std::optional(known->second) : std::nullopt;
  }

  // Returns whether the filter refuses this call by intention (cases 1 and 2 in doors.h).
  bool refuses_explicitly(const CallSets& call) {
    if (call.refused == Diagrams::kZero) return false;
    if (open_) return true;
    return call.allowed != Diagrams::kZero &&
           (dd::tested_words(space_, call.refused) & kAllArgumentWords) != 0;
  }

  [[nodiscard]] std::uint32_t low_word(int argument) const {
    return half_word(argument, false, info_.endian);
  }

 private:
  bool allows(std::uint32_t nr) { return of(nr).allowed == Diagrams::kOne; }

  CallSets make(std::uint32_t nr) {
    NodeId function = space_.fix(function_, kNrWord, nr);
    const std::uint32_t tested = dd::tested_words(space_, function);
    for (int argument = 0; argument < kArgCount; ++argument) {
      const std::uint32_t high = half_word(argument, true, info_.endian);
      if ((tested >> high & 1) != 0) function = space_.fix(function, high, 0);
    }
    CallSets out;
    out.nr = nr;
    const auto where = [&](const auto& holds) {
      return space_.diagrams().substitute(function, [&](NodeId leaf) {
        return holds(space_.known(leaf)) ? Diagrams::kOne : Diagrams::kZero;
      });
    };
    const auto refuses = [](const ReturnValue& value) {
      return value.action && precedence(*value.action) <= precedence(SECCOMP_RET_ERRNO);
    };
    out.allowed =
        where([](const ReturnValue& value) { return value.action && lets_run(*value.action); });
    out.refused = where(refuses);
    const auto enosys = constant_value(info_.arch, "ENOSYS");
    out.forbidden = where([&](const ReturnValue& value) {
      return refuses(value) && value.value != (SECCOMP_RET_ERRNO | enosys.value_or(0));
    });
    return out;
  }

  dd::Space& space_;
  const ArchInfo& info_;
  NodeId function_;
  bool open_ = false;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, CallSets> sets_;
};

// Finds one input that the filter refuses, and one with the same effect that it allows.
class Doorway {
 public:
  Doorway(dd::Space& space, Calls& from, Calls& to) : space_(space), from_(from), to_(to) {}

  // Starts with these sets of refused and of allowed inputs. No value is common to both yet.
  void start(NodeId refused, NodeId allowed) {
    refused_ = refused;
    allowed_ = allowed;
    common_.clear();
  }

  [[nodiscard]] bool closed() const {
    return refused_ == Diagrams::kZero || allowed_ == Diagrams::kZero;
  }

  // The refused call's argument has the same value as the door's.
  void same(int refused, int door) { common_.emplace_back(refused, door); }

  // Returns whether the filter allows the door only for a few values of an argument that decides
  // about the refused call. Whoever listed these values wanted them.
  bool lists_values() {
    const std::uint32_t decides = dd::tested_words(space_, refused_);
    return std::ranges::any_of(common_, [&](const auto& pair) {
      return (decides >> from_.low_word(pair.first) & 1) != 0 &&
             has_few_values(to_.low_word(pair.second));
    });
  }
  void refused_is(int argument, std::uint64_t value) {
    refused_ = space_.diagrams().both(refused_, equal(argument, value));
  }
  void door_is(int argument, std::uint64_t value) {
    allowed_ = space_.diagrams().both(allowed_, equal(argument, value));
  }
  void door_has(int argument, std::uint64_t bits) {
    for (std::uint32_t bit = 0; bit < 32; ++bit)
      if ((bits >> bit & 1) != 0)
        allowed_ = space_.diagrams().both(allowed_, literal(argument, bit));
  }

  // Keeps the refused inputs that the filter would allow without the flag.
  void only_for_flag(NodeId allowed, int argument, std::uint64_t flag) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(flag));
    const std::uint32_t level = space_.order().level(from_.low_word(argument), bit);
    Diagrams& diagrams = space_.diagrams();
    refused_ = diagrams.both(diagrams.restrict(refused_, level, true),
                             diagrams.restrict(allowed, level, false));
    has_flag(argument, flag);
  }
  void has_flag(int argument, std::uint64_t flag) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(flag));
    refused_ = space_.diagrams().both(refused_, literal(argument, bit));
  }

  // Returns the inputs, if there are any.
  std::optional<std::pair<SeccompData, SeccompData>> find(std::uint32_t refused_nr,
                                                          std::uint32_t door_nr) {
    if (closed()) return std::nullopt;
    dd::WordMap to{};
    for (std::uint32_t word = 0; word < to.size(); ++word) to[word] = word;
    std::uint32_t kept = 0;
    for (const auto& [refused, door] : common_) {
      to[from_.low_word(refused)] = to_.low_word(door);
      kept |= 1U << from_.low_word(refused);
    }
    const NodeId effects = dd::for_some(space_, refused_, kAllArgumentWords & ~kept);
    const NodeId through = space_.diagrams().both(dd::moved(space_, effects, to), allowed_);
    if (through == Diagrams::kZero || space_.exhausted()) return std::nullopt;
    auto door = space_.smallest(through);
    if (!door) return std::nullopt;
    NodeId same = refused_;
    kept |= 3U << kIpWord;
    for (std::uint32_t word = 0; word < to.size(); ++word)
      if ((kept >> word & 1) != 0) same = space_.fix(same, word, door->words[to[word]]);
    if (same == Diagrams::kZero) return std::nullopt;  // only after a limit
    auto refused = space_.smallest(same);
    if (!refused) return std::nullopt;
    for (std::uint32_t word = 0; word < to.size(); ++word)
      if ((kept >> word & 1) != 0) refused->words[word] = door->words[to[word]];
    refused->set_nr(refused_nr);
    refused->set_arch(from_.info().audit);
    door->set_nr(door_nr);
    door->set_arch(to_.info().audit);
    return std::pair(*refused, *door);
  }

 private:
  // Returns whether the allowed inputs have only a few values of this word.
  bool has_few_values(std::uint32_t word) {
    constexpr std::size_t kFew = 64;
    constexpr std::uint32_t kOthers = kAllArgumentWords | 3U << kIpWord;
    const NodeId values = dd::for_some(space_, allowed_, kOthers & ~(1U << word));
    const auto ranges = dd::ranges(space_, values, word, kFew);
    if (!ranges) return false;
    std::uint64_t count = 0;
    for (const dd::WordRange& range : *ranges)
      if (range.then != Diagrams::kZero) count += std::uint64_t{range.last} - range.first + 1;
    return count <= kFew;
  }

  NodeId equal(int argument, std::uint64_t value) {
    dd::Words& words = space_.words();
    return words.set(words.eq(words.load(from_.low_word(argument)),
                              words.constant(static_cast<std::uint32_t>(value))));
  }
  NodeId literal(int argument, std::uint32_t bit) {
    return space_.diagrams().literal(space_.order().level(from_.low_word(argument), bit));
  }

  dd::Space& space_;
  Calls& from_;
  Calls& to_;
  NodeId refused_ = Diagrams::kZero;
  NodeId allowed_ = Diagrams::kZero;
  std::vector<std::pair<int, int>> common_;
};

class DoorFinder {
 public:
  DoorFinder(dd::Space& space, const dd::Decisions& decisions, Arch host)
      : space_(space), host_(space, decisions, host) {
    if (host == Arch::kX86_64) others_.emplace_back(space, decisions, Arch::kX32);
    if (const auto compat = compat_arch(host)) others_.emplace_back(space, decisions, *compat);
  }

  std::vector<DoorFinding> find() {
    std::vector<Calls*> inside{&host_};
    for (Calls& other : others_)
      if (!through_numbers(other)) inside.push_back(&other);
    for (Calls* const arch : inside)
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

  // Finds calls that the filter refuses on the host and allows on `other`. Returns whether the
  // filter does not look at the calls of `other` at all.
  bool through_numbers(Calls& other) {
    const bool unchecked = other.function() == host_.function() && other.arch() != Arch::kX32;
    const bool open = other.allows_all();
    const Cause cause = unchecked ? Cause::kUncheckedArch
                        : open    ? Cause::kOpenArch
                                  : Cause::kSameCall;
    if (!restricts()) return unchecked || open;
    for (const SyscallEntry& entry : host_.info().syscalls) {
      const auto nr = other.number(entry.name);
      const CallSets& refused = host_.of(entry.nr);
      if (!nr || refused.refused == Diagrams::kZero) continue;
      const bool intended =
          unchecked || other.allows_unlisted() || host_.refuses_explicitly(refused);
      if (!intended) continue;
      Doorway way(space_, host_, other);
      way.start(refused.refused, other.of(*nr).allowed);
      for (int i = 0; i < common_arguments(other.arch(), entry.name); ++i) way.same(i, i);
      const auto found = way.find(entry.nr, *nr);
      if (!found) continue;
      same_calls_.emplace(other.arch(), entry.name);
      add(cause, true, other.arch(),
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

  // Returns whether the filter allows some calls of the host and refuses others.
  bool restricts() {
    bool allows = false;
    bool refuses = false;
    for (const SyscallEntry& entry : host_.info().syscalls) {
      allows |= host_.of(entry.nr).allowed != Diagrams::kZero;
      refuses |= host_.of(entry.nr).refused != Diagrams::kZero;
    }
    return allows && refuses;
  }

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
  void through(const Door& door, Calls& to) {
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

  bool through(const Door& door, Calls& from, Calls& to, const CallSets& opens) {
    const CallSets* const refused = from.of(door.call);
    if (refused == nullptr || !from.refuses_explicitly(*refused)) return false;
    // Filters refuse such calls because they cannot see the arguments.
    if (has_arguments_in_memory(from.arch(), door.call)) return false;
    Doorway way(space_, from, to);
    way.start(door.newer ? refused->forbidden : refused->refused, opens.allowed);
    if (way.closed() || !is_undone(door, from, *refused, way) || !link(door, from, to, way))
      return false;
    if (!from.allows_unlisted() && !to.allows_unlisted() && way.lists_values()) return false;
    const auto inputs = way.find(refused->nr, opens.nr);
    if (!inputs) return false;
    const Cause cause = door.kind == DoorKind::kMultiplexer ? Cause::kMultiplexer
                        : door.kind == DoorKind::kIoUring   ? Cause::kIoUring
                                                            : Cause::kOtherCall;
    add(cause, door.certain(), to.arch(),
        {door.call, door.door, inputs->first, inputs->second, door.operation, door.needs,
         door.source});
    found_.emplace(door.call, door.door);
    return true;
  }

  // Restricts the way to refusals that the door undoes. Returns whether there may be any.
  bool is_undone(const Door& door, Calls& from, const CallSets& call, Doorway& way) {
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
      way.has_flag(argument, *value);
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
  static bool link(const Door& door, const Calls& from, const Calls& to, Doorway& way) {
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
  Calls host_;
  std::vector<Calls> others_;
  std::set<std::pair<Arch, std::string_view>> same_calls_;
  std::set<std::pair<std::string_view, std::string_view>> found_;  // refused call, door
  std::map<Key, std::vector<OpenDoor>> open_;
};

}  // namespace

std::vector<DoorFinding> find_doors(dd::Space& space, const dd::Decisions& decisions, Arch host) {
  return DoorFinder(space, decisions, host).find();
}

Result<std::vector<DoorFinding>> doors(const DoorsJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const auto decisions = space.decisions(programs, Sameness::kBehaviour);
  auto findings = find_doors(space, decisions, job.host);
  if (space.exhausted()) return dd::limits_reached(job.stack.name);
  for (DoorFinding& finding : findings)
    for (OpenDoor& open : finding.open) {
      if (lets_run(run_stack(programs, open.refused)) ||
          !lets_run(run_stack(programs, open.allowed)))
        return make_error(ErrorCode::kInternal, job.stack.name,
                          "a door does not replay: " + describe(open.allowed));
      open.rule = deciding_rule(job.stack.filters, open.refused);
    }
  return findings;
}

}  // namespace secequiv
