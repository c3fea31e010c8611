// `actions`: what system calls get, whatever their arguments.
#include "verify/dd/actions.h"

#include <fmt/format.h>

#include "harness/cli/engine_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

constexpr std::size_t kColumns = 110;

struct ActionsJob {
  Options options;
  std::string filter;
  EngineOptions engine;
};

std::string name_of(Arch arch, std::uint32_t nr) { return std::string(syscall_name(arch, nr)); }

// "  title  count: names", broken into lines.
std::string paragraph(const std::string& title, Arch arch,
                      const std::vector<std::uint32_t>& calls) {
  std::string out;
  std::string line = fmt::format("  {:<20} {:>4}:", title, calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string name = name_of(arch, calls[i]) + (i + 1 < calls.size() ? "," : "");
    if (line.size() + 1 + name.size() > kColumns) {
      out += line + "\n";
      line = std::string(27, ' ');
    }
    line += " " + name;
  }
  return out + line + "\n";
}

nlohmann::ordered_json names_json(Arch arch, const std::vector<std::uint32_t>& calls) {
  auto out = nlohmann::ordered_json::array();
  for (const std::uint32_t nr : calls) out.push_back(name_of(arch, nr));
  return out;
}

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
      part["syscalls"] = names_json(arch.arch, calls);
      row["constant"].push_back(std::move(part));
      text += paragraph(describe_action(value), arch.arch, calls);
    }
    row["others"] = names_json(arch.arch, arch.others);
    if (!arch.others.empty()) text += paragraph("depends on more", arch.arch, arch.others);
    document["arches"].push_back(std::move(row));
  }
  return print(job.options.json ? render(document) : text);
}

}  // namespace

void add_actions(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "actions",
      "Which system calls get which action whatever their arguments, and which depend on more");
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
