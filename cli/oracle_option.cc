#include "cli/oracle_option.h"

#include <fmt/format.h>

#include "harness/kernel/compare.h"

namespace secequiv::cli {

void OracleOption::add(CLI::App& app) {
  app.add_option("--oracle", name, "Also run the inputs in this evaluator, which must agree")
      ->check(one_of({"kernel"}));
}

Result<Oracle> OracleOption::open() const {
  if (name.empty()) return Oracle();
  if (auto s = kernel::available(); !s) return s.error();
  return Oracle([](std::span<const NamedProgram> programs, std::span<const SeccompData> inputs) {
    return kernel::second_opinion(programs, inputs);
  });
}

Result<std::optional<OracleReport>> ask(const Oracle& oracle, const std::vector<Source>& stack,
                                        const std::vector<Source>& other,
                                        const std::vector<SeccompData>& inputs) {
  if (!oracle) return std::optional<OracleReport>();
  std::vector<NamedProgram> programs;
  for (const std::vector<Source>* sources : {&stack, &other})
    for (const Source& source : *sources) programs.emplace_back(source.name, source.program);
  auto report = oracle(programs, inputs);
  if (!report) return report.error();
  return std::optional(std::move(*report));
}

std::string doubt_text(const OracleReport& report) {
  return fmt::format("fail: our interpreter is in doubt: {} and it disagree about {}\n", report.who,
                     report.in_doubt()->name);
}

}  // namespace secequiv::cli
