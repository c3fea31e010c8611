#include "verify/dd/actions.h"

#include <algorithm>

namespace secequiv::dd {
namespace {

// One diagram of return values or, if values are computed, one diagram for each bit.
using Function = std::vector<NodeId>;

Function fixed(Space& space, const Function& function, std::uint32_t word, std::uint32_t value) {
  Function out;
  out.reserve(function.size());
  for (const NodeId id : function) out.push_back(space.fix(id, word, value));
  return out;
}

std::optional<std::uint32_t> constant(const Space& space, const Function& function) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (!space.diagrams().is_leaf(function[i])) return std::nullopt;
    out |= space.diagrams().node(function[i]).pattern << i;
  }
  return out;
}

}  // namespace

Actions constant_actions(Space& space, const Decisions& decisions, Arch host) {
  Function all{decisions.root};
  if (decisions.computed) {
    const Bits bits = space.words().bits(space.value(decisions));
    all.assign(bits.begin(), bits.end());
  }
  const Function unknown = fixed(space, all, kArchWord, kUnknownAudit);
  const auto is_distinguished = [&](const ArchInfo& info) {
    return fixed(space, all, kArchWord, info.audit) != unknown;
  };
  // Programs of x86_64, x32 and i386 all run on one machine.
  const auto on_host = [&](const ArchInfo& info) {
    return info.audit == arch_info(host).audit || info.arch == compat_arch(host);
  };
  Actions out;
  out.others_by_number = !constant(space, unknown);
  const bool host_too =
      out.others_by_number || std::ranges::none_of(all_arches(), is_distinguished);
  for (const ArchInfo& info : all_arches()) {
    if (!is_distinguished(info) && !(host_too && on_host(info))) continue;
    const Function here = fixed(space, all, kArchWord, info.audit);
    ArchActions& row = out.arches.emplace_back(info.arch);
    for (const SyscallEntry& call : info.syscalls) {
      if (const auto value = constant(space, fixed(space, here, kNrWord, call.nr)))
        row.constant[*value].push_back(call.nr);
      else
        row.others.push_back(call.nr);
    }
  }
  return out;
}

}  // namespace secequiv::dd
