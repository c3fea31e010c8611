// `precompile`: a filter whose variables are filled in when it is installed, proven for all values.
#include "harness/optimize/precompile.h"

#include <fmt/format.h>

#include "cli/engine_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/optimize/optimizer.h"
#include "harness/optimize/precompiled_file.h"
#include "harness/policy/compile.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "verify/decide/precompiled.h"

namespace secequiv::cli {
namespace {

struct PrecompileJob {
  Options options;
  std::string policy;
  EngineOptions engine;
  bool no_proof = false;
};

// "variable fd = 0x3: 2 places (5, 9)", one a line.
std::string variable_lines(const Precompiled& precompiled) {
  std::string out;
  for (const Precompiled::Variable& v : precompiled.variables)
    out += fmt::format("variable {} = {:#x}: {}\n", v.name, v.value,
                       v.places.empty()
                           ? "not in the program"
                           : fmt::format("instruction{} {}", v.places.size() == 1 ? "" : "s",
                                         fmt::join(v.places, ", ")));
  return out;
}

std::string proof_lines(const Policy& policy, const Precompiled& precompiled,
                        const PrecompiledProof& proof) {
  std::string out;
  if (proof.witness) {
    out += "with\n";
    for (const auto& [name, value] : proof.witness->values)
      out += fmt::format("  ${:<10} = {:#010x}\n", name, value);
    if (auto patched = patch(precompiled, proof.witness->values)) {
      const Pair pair{compile(with_values(policy, proof.witness->values)), std::move(*patched),
                      Sameness::kRaw};
      out += witness_text(Question(pair), proof.witness->input);
    }
  }
  if (!proof.detail.empty()) out += fmt::format("{}: {}\n", proof.engine, proof.detail);
  return out + fmt::format("{}{} ({}, encoded in {:.1f} ms, solved in {:.1f} ms)\n",
                           verdict_name(proof.verdict),
                           proof.verdict == Verdict::kEquivalent
                               ? " for all values of the variables"
                               : "; nothing was written",
                           proof.engine, proof.encode_seconds * 1e3, proof.solve_seconds * 1e3);
}

nlohmann::ordered_json to_json(const Precompiled& precompiled,
                               const std::optional<PrecompiledProof>& proof, bool written) {
  nlohmann::ordered_json out{{"schema", "secequiv.precompile/1"}};
  if (proof) out["verdict"] = verdict_name(proof->verdict);
  out["policy"] = precompiled.policy;
  out["instructions"] = precompiled.program.size();
  out["variables"] = nlohmann::ordered_json::array();
  for (const Precompiled::Variable& v : precompiled.variables)
    out["variables"].push_back({{"name", v.name}, {"value", v.value}, {"places", v.places}});
  out["written"] = written;
  if (!proof) return out;
  out["engine"] = proof->engine;
  out["encode_seconds"] = proof->encode_seconds;
  out["solve_seconds"] = proof->solve_seconds;
  if (!proof->detail.empty()) out["detail"] = proof->detail;
  if (!proof->witness) return out;
  out["values"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : proof->witness->values)
    out["values"].push_back({{"name", name}, {"value", value}});
  out["witness"] = secequiv::to_json(proof->witness->input);
  return out;
}

int precompile_policy(const PrecompileJob& job) {
  const Options& options = job.options;
  if (auto s = keep_json_alone(options, "--output", options.output); !s)
    return report(s.error(), options);
  auto policy = load_policy(job.policy, options);
  if (!policy) return report(policy.error(), options);
  auto precompiled = precompile(
      *policy, [](const Policy& p) { return optimize(p, value_blind_passes()).program; });
  if (!precompiled) {
    precompiled.error().where = shown_name(job.policy);
    return report(precompiled.error(), options);
  }
  std::optional<PrecompiledProof> proof;
  if (job.no_proof) {
    warn("note: not proven; the file may be wrong for some values");
  } else {
    heed_interrupts();
    Ticker ticker;
    ticker.step("proving", options.timeout);
    auto proven = prove(*policy, *precompiled, options.timeout, job.engine.max_memory);
    if (!proven) return report(proven.error(), options);
    proof = std::move(*proven);
  }
  const bool written = !proof || proof->verdict == Verdict::kEquivalent;
  if (written)
    if (const Status s = write_file(options.output, write_precompiled(*precompiled)); !s)
      return report(s.error(), options);
  const int status = proof ? exit_code(proof->verdict) : 0;
  if (options.json) return print(render(to_json(*precompiled, proof, written)), status);
  if (written && options.output == "-") return status;
  std::string text =
      fmt::format("{}: {} instruction{}\n", shown_name(job.policy), precompiled->program.size(),
                  precompiled->program.size() == 1 ? "" : "s");
  text += variable_lines(*precompiled);
  if (proof) text += proof_lines(*policy, *precompiled, *proof);
  return print(text, status);
}

}  // namespace

void add_precompile(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "precompile", "Compile a policy so that its variables can be filled in later, with a proof");
  auto job = std::make_shared<PrecompileJob>();
  sub->add_option("policy", job->policy, "Policy, in any format; - for standard input")->required();
  sub->add_option("-o,--output", job->options.output, "Write to this file, - for standard output")
      ->capture_default_str();
  sub->add_flag("--no-prove", job->no_proof, "Skip the proofs");
  job->engine.add_memory(*sub);
  job->options.add_timeout(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = precompile_policy(*job); });
}

}  // namespace secequiv::cli
