#include "analyze/precompile.h"

#include "harness/bpf/text.h"
#include "harness/optimize/optimizer.h"
#include "harness/optimize/precompile.h"
#include "harness/policy/compile.h"
#include "harness/seccomp/annotate.h"
#include "verify/smt/policy_proof.h"

namespace secequiv {
namespace {

PrecompileReport report_of(const Policy& policy, const SymbolicProgram& program) {
  PrecompileReport out;
  out.policy = policy.name;
  out.instructions = program.program.size();
  for (const auto& [name, value] : policy.variables) {
    PrecompileReport::Variable& variable = out.variables.emplace_back(name, value);
    for (const SymbolUse& use : program.uses)
      if (use.name == name) variable.places.push_back(use.pc);
  }
  return out;
}

// An instruction with a name gets no comment, because the comment would describe the placeholder.
std::vector<std::string> comments_of(const SymbolicProgram& program) {
  std::vector<std::string> out = annotate(program.program);
  for (const SymbolUse& use : program.uses) out[use.pc].clear();
  return out;
}

void add_sides(const Policy& policy, SymbolicProgram program, PrecompileReport& report) {
  auto values = policy.variables;
  for (std::size_t i = 0; i < values.size(); ++i) values[i].second = report.proof->symbols[i];
  fill(program, values);
  report.before = compile(with_values(policy, values));
  report.after = std::move(program.program);
}

}  // namespace

Result<Precompiled> precompile(const PrecompileJob& job) {
  ASSIGN_OR_RETURN(const auto made, compile_with_names(job.policy, [](const Policy& p) {
                     return optimize(p, value_blind_passes()).program;
                   }));
  Precompiled out{report_of(job.policy, made), {}};
  out.assembly = precompile_header(out.report) + write_symbolic(made, comments_of(made));
  if (!job.prove) return out;
  // The proof reads the text that was written, as its users will read it.
  ASSIGN_OR_RETURN(const auto read, read_symbolic(out.assembly, job.policy.name, Form::kAsm));
  ASSIGN_OR_RETURN(out.report.proof,
                   smt::prove(job.policy, read, job.timeout_seconds, job.memory_mib));
  if (out.report.proof->witness) add_sides(job.policy, read, out.report);
  return out;
}

}  // namespace secequiv
