#include "analyze/call_sets.h"

#include <algorithm>
#include <functional>
#include <span>

#include "harness/seccomp/action.h"
#include "verify/dd/actions.h"
#include "verify/dd/moved.h"

namespace secequiv {

using dd::Diagrams;
using dd::NodeId;

namespace {

// Returns a number in the widest gap of the table. Some filters refuse all numbers above those that
// they know, but not those in between.
std::uint32_t number_in_gap(std::span<const SyscallEntry> calls) {
  std::uint32_t out = dd::unused_number(Arch::kX86_64);
  std::uint32_t widest = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const std::uint32_t gap = calls[i].nr - calls[i - 1].nr;
    if (gap <= widest) continue;
    widest = gap;
    out = calls[i - 1].nr + gap / 2;
  }
  return out;
}

// Returns the inputs whose value has the property.
template <class Property>
NodeId where(dd::Space& space, NodeId function, const Property& holds) {
  return space.diagrams().substitute(function, [&](NodeId leaf) {
    return holds(space.known(leaf)) ? Diagrams::kOne : Diagrams::kZero;
  });
}

bool runs(const ReturnValue& value) { return value.action && lets_run(*value.action); }

}  // namespace

NodeId allowed_inputs(dd::Space& space, NodeId function) { return where(space, function, runs); }

ArchCalls::ArchCalls(dd::Space& space, const dd::Decisions& decisions, Arch arch)
    : space_(space),
      info_(arch_info(arch)),
      function_(space.fix(decisions.root, kArchWord, info_.audit)) {
  for (const SyscallEntry& call : info_.syscalls) numbers_.emplace(call.name, call.nr);
  allows_unlisted_ = allows(dd::unused_number(arch)) || allows(number_in_gap(info_.syscalls));
}

bool ArchCalls::allows_all() {
  return allows_unlisted_ && std::ranges::all_of(info_.syscalls, [&](const SyscallEntry& call) {
           return allows(call.nr);
         });
}

bool ArchCalls::allows_none() {
  return !allows_unlisted_ && std::ranges::all_of(info_.syscalls, [&](const SyscallEntry& call) {
    return of(call.nr).allowed == Diagrams::kZero;
  });
}

bool ArchCalls::restricts() {
  bool allowed = false;
  bool refused = false;
  for (const SyscallEntry& call : info_.syscalls) {
    allowed |= of(call.nr).allowed != Diagrams::kZero;
    refused |= of(call.nr).refused != Diagrams::kZero;
  }
  return allowed && refused;
}

bool ArchCalls::refuses_explicitly(const CallSets& call) {
  if (call.refused == Diagrams::kZero) return false;
  if (allows_unlisted_) return true;
  return call.allowed != Diagrams::kZero &&
         (dd::tested_words(space_, call.refused) & kAllArgumentWords) != 0;
}

const CallSets& ArchCalls::of(std::uint32_t nr) {
  const auto known = sets_.find(nr);
  return known != sets_.end() ? known->second : sets_.emplace(nr, make(nr)).first->second;
}

const CallSets* ArchCalls::of(std::string_view name) {
  const auto nr = number(name);
  return nr ? &of(*nr) : nullptr;
}

std::optional<std::uint32_t> ArchCalls::number(std::string_view name) const {
  const auto known = numbers_.find(name);
  return known != numbers_.end() ? std::optional(known->second) : std::nullopt;
}

CallSets ArchCalls::make(std::uint32_t nr) {
  NodeId function = space_.fix(function_, kNrWord, nr);
  const std::uint32_t tested = dd::tested_words(space_, function);
  for (int argument = 0; argument < kArgCount; ++argument) {
    const std::uint32_t high = half_word(argument, true, info_.endian);
    if ((tested >> high & 1) != 0) function = space_.fix(function, high, 0);
  }
  CallSets out;
  out.nr = nr;
  out.allowed = allowed_inputs(space_, function);
  out.refused = where(space_, function, std::not_fn(runs));
  const auto enosys = constant_value(info_.arch, "ENOSYS");
  out.forbidden = where(space_, function, [&](const ReturnValue& value) {
    return !runs(value) && value.value != (SECCOMP_RET_ERRNO | enosys.value_or(0));
  });
  return out;
}

}  // namespace secequiv
