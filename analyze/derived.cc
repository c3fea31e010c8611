#include "analyze/derived.h"

#include "harness/bpf/refusal.h"

namespace secequiv {

Cases derived_cases(const std::optional<Policy>& also, std::span<const Source* const> sources,
                    std::size_t most) {
  CaseLimits limits;
  limits.total = most;
  Cases all;
  const auto add = [&](const Cases& more) {
    all.dropped += more.dropped;
    all.inputs.insert(all.inputs.end(), more.inputs.begin(), more.inputs.end());
  };
  if (also) add(derive_cases(*also, limits));
  for (const Source* source : sources) {
    if (source->policy) add(derive_cases(*source->policy, limits));
    if (!refusal_of(source->program, LengthRule::kUnlimited))
      add(derive_cases(source->program, limits));
  }
  return all;
}

std::vector<InputSet> input_sets(const std::optional<Policy>& also, const Source& source) {
  std::vector<InputSet> out;
  if (const auto& policy = also ? also : source.policy)
    out.push_back({"policy", derive_cases(*policy).inputs});
  const std::vector<SeccompData> known = out.empty() ? std::vector<SeccompData>{} : out[0].inputs;
  out.push_back({"program", derive_cases(source.program, {}, known).inputs});
  return out;
}

}  // namespace secequiv
