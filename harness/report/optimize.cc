#include "harness/report/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace secequiv {

std::string passes_text(std::string_view option) {
  std::string out;
  const auto standard = standard_passes();
  for (const Pass& pass : all_passes())
    out += fmt::format("{:<9} {:<26} {}{}\n", kind_name(pass.kind()), pass.name, pass.law,
                       std::ranges::find(standard, &pass) == standard.end()
                           ? fmt::format(" It runs only if {} names it.", option)
                           : std::string());
  return out;
}

std::string steps_text(std::span<const PassStep> steps) {
  constexpr std::array kUnits = {"matchers", "entries", "instructions"};
  std::string out;
  for (const PassStep& step : steps)
    if (step.changed)
      out += fmt::format("round {} {:<26} {:>6} -> {} {}\n", step.round, step.pass, step.before,
                         step.after, kUnits[static_cast<std::size_t>(step.kind)]);
  return out;
}

}  // namespace secequiv
