#include "analyze/derived.h"

#include "harness/bpf/check.h"

namespace secequiv {

Cases derived_cases(const std::optional<Policy>& also, const Source& before, const Source& after,
                    std::size_t most) {
  CaseLimits limits;
  limits.total = most;
  Cases all;
  const auto add = [&](const Cases& more) {
    all.dropped += more.dropped;
    all.inputs.insert(all.inputs.end(), more.inputs.begin(), more.inputs.end());
  };
  if (also) add(derive_cases(*also, limits));
  for (const Source* side : {&before, &after}) {
    if (side->policy) add(derive_cases(*side->policy, limits));
    if (!check(side->program, LengthRule::kUnlimited)) add(derive_cases(side->program, limits));
  }
  return all;
}

}  // namespace secequiv
