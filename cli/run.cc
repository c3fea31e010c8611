// `run`: emulate one system call, with the trace if wanted.
#include <fmt/format.h>

#include "cli/call_options.h"
#include "cli/oracle_option.h"
#include "harness/compare/pair.h"
#include "harness/report/documents.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"

namespace secequiv::cli {
namespace {

struct RunJob {
  Options options;
  std::vector<std::string> inputs;
  CallOptions call;
  bool trace = false;
  OracleOption oracle;
};

// A filter that cannot be asked about is as good as none was asked: the user wants this one answer.
Result<std::optional<OracleReport>> opinion(const RunJob& job, const std::vector<Source>& sources,
                                            const SeccompData& data) {
  const auto oracle = job.oracle.open();
  if (!oracle) return oracle.error();
  auto said = ask(*oracle, sources, {}, {data});
  if (!said || !*said) return said;
  for (const AskedProgram& program : (*said)->programs)
    if (!program.not_asked.empty())
      return make_error(ErrorCode::kRejected, program.name, program.not_asked);
  return said;
}

int emulate(RunJob& job) {
  auto data = job.call.read(job.options);
  if (!data) return report(data.error(), job.options);
  std::vector<Source> sources;
  for (const std::string& path : job.inputs) {
    auto source = load_accepted(path, job.options);
    if (!source) return report(source.error(), job.options);
    sources.push_back(std::move(*source));
  }
  const auto said = opinion(job, sources, *data);
  if (!said) return report(said.error(), job.options);
  std::vector<ProgramView> stack(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) stack[i] = sources[i].program;
  const std::uint32_t result = run_stack(stack, *data);
  std::string text = describe(*data) + "\n";
  std::vector<NamedTrace> runs;
  for (const Source& source : sources) {
    const Trace steps = trace(source.program, *data);
    if (job.trace) text += source.name + "\n" + trace_text(source.program, steps);
    if (sources.size() > 1) text += source.name + ": " + result_text(steps.result);
    runs.push_back({source.name, steps});
  }
  auto document = run_document(*data, runs, result, job.trace);
  text += result_text(result);
  Verdict verdict = Verdict::kPass;
  if (*said) {
    const OracleReport& asked = **said;
    if (asked.in_doubt()) verdict = Verdict::kFail;
    document["verdict"] = verdict_name(verdict);
    document["oracle"] = to_json(asked);
    text += oracle_text(asked);
    if (asked.in_doubt()) text += doubt_text(asked);
  }
  return print(job.options.json ? render(document) : text, exit_code(verdict));
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "run", "Emulate one system call through a filter, or through a stack of filters");
  auto job = std::make_shared<RunJob>();
  sub->add_option("input", job->inputs, "Programs or policies, newest first; - for standard input")
      ->required();
  job->call.add(*sub, job->options);
  sub->add_flag("--trace", job->trace, "Show every instruction executed");
  job->oracle.add(*sub);
  job->options.add_input(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = emulate(*job); });
}

}  // namespace secequiv::cli
