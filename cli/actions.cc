// `actions`: what system calls get, whatever their arguments.
#include "verify/dd/actions.h"

#include <fmt/format.h>

#include "cli/engine_options.h"
#include "cli/names.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct ActionsJob {
  Options options;
  std::string filter;
  EngineOptions engine;
};

int actions(const ActionsJob& job) {
  auto stack = load_accepted_stack(job.filter, job.options);
  if (!stack) return report(stack.error(), job.options);
  const auto programs = views(*stack);
  dd::Space space(programs, job.engine.limits());
  const auto decisions = space.decisions(programs, job.options.sameness());
  const auto found = dd::constant_actions(space, decisions, job.options.oci().arch);
  if (space.exhausted()) return report(limits_reached(job.filter), job.options);
  nlohmann::ordered_json document{{"schema", "secequiv.actions/1"},
                                  {"arches", nlohmann::ordered_json::array()}};
  std::string text;
  for (const dd::ArchActions& arch : found) {
    nlohmann::ordered_json row{{"arch", arch_info(arch.arch).name},
                               {"constant", nlohmann::ordered_json::array()}};
    text += fmt::format("{}\n", arch_info(arch.arch).name);
    for (const auto& [value, calls] : arch.constant) {
      auto part = value_json(value);
      part["syscalls"] = names_of(arch.arch, calls);
      row["constant"].push_back(std::move(part));
      text += paragraph(describe_action(value), names_of(arch.arch, calls));
    }
    row["others"] = names_of(arch.arch, arch.others);
    if (!arch.others.empty())
      text += paragraph("depends on more", names_of(arch.arch, arch.others));
    document["arches"].push_back(std::move(row));
  }
  return print(job.options.json ? render(document) : text);
}

}  // namespace

void add_actions(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "actions", "List which system calls get which action, and which depend on arguments");
  auto job = std::make_shared<ActionsJob>();
  sub->add_option("filter", job->filter, "Program in any form, or a policy; several with commas")
      ->required();
  job->engine.add_memory(*sub);
  job->options.add_input(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = actions(*job); });
}

}  // namespace secequiv::cli
