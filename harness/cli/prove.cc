// `prove`: equivalence of two programs over all inputs.
#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/cli/common.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "verify/decide.h"
#include "verify/smt/solver.h"

namespace secequiv::cli {
namespace {

struct ProveJob {
  Options options;
  std::string before;
  std::string after;
  std::string smt2;
  std::string engine = "z3";
};

int rejected(const Source& source, const Refusal& refusal, const Options& options) {
  const std::string detail = describe(refusal, source.program);
  if (options.json)
    return print(render({{"schema", "secequiv.prove/1"},
                         {"verdict", "rejected"},
                         {"file", source.name},
                         {"detail", detail}}),
                 exit_code(Verdict::kRejected));
  return print(fmt::format("rejected: {}: {}\n", source.name, detail),
               exit_code(Verdict::kRejected));
}

int prove(const ProveJob& job) {
  if (auto s = keep_json_alone(job.options, "--emit-smt2", job.smt2); !s)
    return report(s.error(), job.options);
  auto before = load_source(job.before, job.options);
  if (!before) return report(before.error(), job.options);
  auto after = load_source(job.after, job.options);
  if (!after) return report(after.error(), job.options);
  // A proof is about what programs decide; a length the kernel does not take is said, not refused.
  for (const Source* side : {&*before, &*after}) {
    if (const auto refusal = check(side->program, LengthRule::kUnlimited))
      return rejected(*side, *refusal, job.options);
    note_length(side->name, side->program);
  }
  const Pair pair{before->program, after->program, job.options.sameness()};
  if (!job.smt2.empty())
    if (const Status written = write_file(job.smt2, smt::equivalence_smt2(pair)); !written)
      return report(written.error(), job.options);
  const Engine engine = job.engine == "z3"   ? Engine::kZ3
                        : job.engine == "dd" ? Engine::kDd
                                             : Engine::kBoth;
  auto proof = decide(pair, engine, job.options.timeout);
  if (!proof) return report(proof.error(), job.options);
  if (!job.options.json) return print(proof_text(pair, *proof), exit_code(proof->verdict));
  auto document = to_json(*proof);
  document["before"] = to_json(SideReport{before->name, before->program, check(before->program)});
  document["after"] = to_json(SideReport{after->name, after->program, check(after->program)});
  return print(render(document), exit_code(proof->verdict));
}

}  // namespace

void add_prove(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("prove",
                                     "Prove two programs (or policies) equivalent, or show the "
                                     "smallest input on which they differ");
  auto job = std::make_shared<ProveJob>();
  sub->add_option("before", job->before, "Program in any form, or a policy")->required();
  sub->add_option("after", job->after, "Program in any form, or a policy")->required();
  sub->add_option(
         "--engine", job->engine,
         "z3; dd (decision diagrams, z3 for what they do not handle); both, which must agree")
      ->check(CLI::IsMember({"z3", "dd", "both"}))
      ->capture_default_str();
  sub->add_option("--emit-smt2", job->smt2, "Also write the query as SMT-LIB 2, for other solvers");
  job->options.add_input(*sub);
  job->options.add_timeout(*sub, "Seconds for the proof; running out gives 'unknown'");
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = prove(*job); });
}

}  // namespace secequiv::cli
