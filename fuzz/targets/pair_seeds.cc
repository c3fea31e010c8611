#include <fmt/format.h>

#include <algorithm>

#include "fuzz/pair/corpus.h"
#include "fuzz/pair/session.h"
#include "fuzz/targets/seeds.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "harness/coverage/state.h"
#include "harness/inputs/cases.h"
#include "harness/policy/json.h"
#include "verify/dd/reach.h"

namespace secequiv::fuzz {
namespace {

void take_constants(const Program& program, std::set<std::string>& out) {
  for (const Insn& insn : program)
    if (is_conditional(insn))
      for (const std::uint32_t k : {insn.k - 1, insn.k, insn.k + 1}) out.insert(word_bytes(k));
}

}  // namespace

Result<TargetSeeds> pair_seeds(const std::string& before, const std::string& after,
                               const std::string& rules) {
  TargetSeeds out;
  ASSIGN_OR_RETURN(const auto policy, read_policy(rules, "the pair's policy"));
  const std::vector<SeccompData> derived =
      derive_cases(policy, {.per_syscall = 2000, .total = 200000}).inputs;
  for (const auto& [name, bytes] : {std::pair("before", &before), std::pair("after", &after)}) {
    ASSIGN_OR_RETURN(auto program, read_program(*bytes, name, Form::kRaw));
    if (const auto refusal = refusal_of(program, LengthRule::kUnlimited))
      return make_error(ErrorCode::kRejected, name, describe(*refusal, program));
    std::vector<SeccompData> inputs = derived;
    if (const auto proven = dd::edge_inputs(program, {}))
      inputs.insert(inputs.end(), proven->begin(), proven->end());
    for (const SeccompData& data : pair::one_per_edge(program, inputs))
      out.files[fmt::format("{}-{:04}", name, out.files.size())] = write_inputs({data});
    take_constants(program, out.dictionary);
    out.data[std::string("pair.") + name] = *bytes;
  }
  out.options = {{"len_control", 0}, {"max_len", int{pair::kMaxBytes}}, {"timeout", 25}};
  return out;
}

}  // namespace secequiv::fuzz
