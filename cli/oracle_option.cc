#include "cli/oracle_option.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "harness/base/text.h"
#include "harness/kernel/booted.h"
#include "harness/kernel/compare.h"

namespace secequiv::cli {
namespace {

constexpr std::string_view kKernel = "kernel";
constexpr std::string_view kBooted = "kernel:";

Check oracle_name() {
  return {[](const std::string& name) -> std::string {
            if (name == kKernel || (name.starts_with(kBooted) && name.size() > kBooted.size()))
              return {};
            return fmt::format("expected kernel or kernel:NAME, found '{}'{}", name,
                               did_you_mean(similar_names(name, std::array{kKernel})));
          },
          "kernel[:NAME]"};
}

}  // namespace

Result<std::shared_ptr<kernel::Kernel>> open_kernel(const std::string& name) {
  if (name.empty())  // the running kernel outlives every owner
    return std::shared_ptr<kernel::Kernel>(&kernel::running(), [](kernel::Kernel*) {});
  ASSIGN_OR_RETURN(auto booted, kernel::boot(name));
  return std::shared_ptr<kernel::Kernel>(std::move(booted));
}

void OracleOption::add(Command& command) {
  command
      .add_option("--oracle", name,
                  "Also run the inputs in the kernel, or kernel:NAME as in `kernel --on NAME`")
      ->check(oracle_name());
}

Result<Oracle> OracleOption::open() const {
  if (name.empty()) return Oracle();
  ASSIGN_OR_RETURN(auto kernel, open_kernel(name == kKernel ? "" : name.substr(kBooted.size())));
  RETURN_IF_ERROR(kernel::available(*kernel));
  return Oracle([kernel = kernel](std::span<const NamedProgram> programs,
                                  std::span<const SeccompData> inputs) {
    return kernel::second_opinion(programs, inputs, *kernel);
  });
}

}  // namespace secequiv::cli
