#include "cli/command.h"

#include <algorithm>
#include <string_view>

namespace secequiv::cli {

WorkLimits limits_of(const CLI::App& command) {
  constexpr std::string_view kEndless[] = {"fuzz", "find-rules", "prove-rule"};
  WorkLimits out;
  if (std::ranges::find(kEndless, command.get_name()) != std::end(kEndless)) return out;
  if (const CLI::Option* const time = command.get_option_no_throw("--timeout")) {
    out.seconds = time->as<double>();
    // `check` accounts for edges within the time limit, and then proves within the same again. Half
    // a second lets these limits, which users know, be reached first.
    constexpr double kRest = 0.5;
    if (command.get_name() == "check") out.seconds = 2 * out.seconds + kRest;
  }
  if (const CLI::Option* const memory = command.get_option_no_throw("--max-memory"))
    out.mib = memory->as<std::size_t>();
  return out;
}

}  // namespace secequiv::cli
