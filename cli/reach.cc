// `reach`: which inputs reach which instruction.
#include "verify/dd/reach.h"

#include <fmt/format.h>

#include "cli/engine_options.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/report/diff.h"
#include "harness/report/json.h"
#include "harness/seccomp/annotate.h"
#include "verify/dd/regions.h"

namespace secequiv::cli {
namespace {

struct ReachJob {
  Options options;
  std::string program;
  std::string at;
  std::size_t max_regions = 20;
  EngineOptions engine;
};

std::string kind_of(const Obligation& obligation, const Insn& insn) {
  if (obligation.kind == Obligation::Kind::kLine) return "";
  const bool taken = obligation.kind == Obligation::Kind::kTrue;
  return fmt::format(" {}", outcome_name(insn, taken));
}

// The obligations asked about, with how many inputs meet each and the smallest of them.
Status list(const ReachJob& job, std::optional<std::size_t> only, const Source& source,
            dd::Space& space, dd::Reach& reach, std::string& text, nlohmann::ordered_json& rows) {
  dd::Regions regions(space);
  for (const Obligation& obligation : CoverageMap(source.program).obligations()) {
    if (only && *only != obligation.pc) continue;
    const dd::NodeId set = reach.set(obligation);
    const RegionList found = regions.list(set, only ? job.max_regions : 0);
    const auto smallest =
        set == dd::Diagrams::kZero ? std::optional<SeccompData>() : space.smallest(set);
    if (space.exhausted()) return limits_reached(source.name);
    auto row = to_json(obligation);
    row["count"] = found.count;
    row["region_count"] = found.region_count;
    if (smallest) row["smallest"] = to_json(*smallest);
    row["regions"] = nlohmann::ordered_json::array();
    text += fmt::format(
        "{:>6}{:<6} {:<40} {}\n", obligation.pc, kind_of(obligation, source.program[obligation.pc]),
        insn_text(source.program, obligation.pc),
        smallest
            ? fmt::format("{} inputs, such as {}", count_text(found.count), describe(*smallest))
            : "infeasible: no input");
    for (const Region& region : found.regions) {
      row["regions"].push_back(condition_text(region, job.options.oci().arch));
      text += fmt::format("         {}\n", condition_text(region, job.options.oci().arch));
    }
    if (only) text += not_shown_text(found, found.regions.size(), 9);
    rows.push_back(std::move(row));
  }
  return Ok{};
}

int reach_inputs(const ReachJob& job) {
  auto source = load_accepted(job.program, job.options);
  if (!source) return report(source.error(), job.options);
  std::optional<std::size_t> at;
  if (!job.at.empty()) {
    at = parse_unsigned(job.at);
    if (!at || *at >= source->program.size())
      return report(make_error(ErrorCode::kUsage, "--at",
                               fmt::format("expected an instruction from 0 to {}, found {}",
                                           source->program.size() - 1, job.at)),
                    job.options);
  }
  const ProgramView programs[] = {source->program};
  dd::Space space(programs, job.engine.limits());
  dd::Reach reach(space, source->program);
  std::string text;
  nlohmann::ordered_json document{{"schema", "secequiv.reach/1"},
                                  {"obligations", nlohmann::ordered_json::array()}};
  if (auto s = list(job, at, *source, space, reach, text, document["obligations"]); !s)
    return report(s.error(), job.options);
  return print(job.options.json ? render(document) : text);
}

}  // namespace

void add_reach(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "reach", "Count the inputs that reach each instruction, or prove that none does");
  auto job = std::make_shared<ReachJob>();
  sub->add_option("program", job->program,
                  "Program in any form, or a policy (compiled, not optimized)")
      ->required();
  sub->add_option("--at", job->at,
                  "Describe only this instruction, with all the inputs that reach it");
  sub->add_option("--max-regions", job->max_regions,
                  "List at most this many regions; counts stay complete")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  job->engine.add_memory(*sub);
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = reach_inputs(*job); });
}

}  // namespace secequiv::cli
