// `precompile`: makes a filter whose variables get their values at installation, and proves it
// right for all values.
#include "analyze/precompile.h"

#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct PrecompileArguments {
  Options options;
  std::string policy;
  bool no_proof = false;
};

Result<int> precompile_policy(const PrecompileArguments& given) {
  const Options& options = given.options;
  if (auto s = keep_json_alone(options, "--output", options.output); !s) return s.error();
  auto policy = load_policy(given.policy, reading(options));
  if (!policy) return policy.error();
  if (given.no_proof)
    options.note("note: the program is not proven, so it may be wrong for some values");
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("proving", options.timeout);
  auto made =
      precompile({std::move(*policy), !given.no_proof, options.timeout, given.options.max_memory});
  ticker.clear();
  if (!made) {
    made.error().where = shown_name(given.policy);
    return made.error();
  }
  int status = made->report.proof ? exit_code(made->report.proof->verdict) : 0;
  if (made->report.may_be_written()) {
    const auto written = write_output(made->assembly, options);
    if (!written) return written;
    if (status == 0) status = *written;
  }
  if (options.json) return print_json(to_json(made->report), status);
  if (made->report.may_be_written() && options.output == "-") return status;
  return print(precompile_text(made->report, shown_name(given.policy)), status);
}

}  // namespace

void add_precompile(CLI::App& app, Context& context) {
  const auto [sub, given] =
      add_command(app, context, "precompile",
                  "Compile a policy with variables to fill in later, and prove the result correct",
                  precompile_policy);
  sub->add_option("policy", given->policy, "Policy, in any format; - for standard input")
      ->required();
  given->options.add_output(*sub);
  sub->add_flag("--no-prove", given->no_proof, "Skip the proofs");
  given->options.add(*sub, {kLimits, kImport, kJson});
}

}  // namespace secequiv::cli
