#include "cli/oracle_option.h"

#include "cli/values.h"
#include "harness/kernel/compare.h"

namespace secequiv::cli {

void OracleOption::add(CLI::App& app) {
  app.add_option("--oracle", name,
                 "Also run the inputs in this evaluator, and fail if it disagrees")
      ->check(one_of({"kernel"}));
}

Result<Oracle> OracleOption::open() const {
  if (name.empty()) return Oracle();
  if (auto s = kernel::available(); !s) return s.error();
  return Oracle([](std::span<const NamedProgram> programs, std::span<const SeccompData> inputs) {
    return kernel::second_opinion(programs, inputs);
  });
}

}  // namespace secequiv::cli
