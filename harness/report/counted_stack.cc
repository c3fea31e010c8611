#include "harness/report/counted_stack.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace secequiv {
namespace {

std::string filter_line(const CountedFilter& filter) {
  return fmt::format("{}{}{}: {}\n", filter.name, filter.compilation.empty() ? "" : ", ",
                     filter.compilation, counted(filter.instructions, "instruction"));
}

}  // namespace

std::string counted_text(const CountedStack& stack) {
  if (stack.filters.size() == 1) return filter_line(stack.filters.front());
  std::string out = fmt::format("{}: a stack; the kernel runs every filter in it\n", stack.name);
  for (const CountedFilter& filter : stack.filters) out += "  " + filter_line(filter);
  return out;
}

nlohmann::ordered_json filters_json(const CountedStack& stack) {
  auto out = nlohmann::ordered_json::array();
  for (const CountedFilter& filter : stack.filters) {
    out.push_back({{"name", filter.name}, {"instructions", filter.instructions}});
    if (!filter.compilation.empty()) out.back()["compilation"] = filter.compilation;
  }
  return out;
}

}  // namespace secequiv
