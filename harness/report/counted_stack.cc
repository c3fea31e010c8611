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

void describe(Fields<CountedFilter>& filter) {
  filter.is("counted_filter", "One program.");
  filter("name", "Where it came from.", &CountedFilter::name);
  filter("instructions", "Its length.", &CountedFilter::instructions, at_least(1));
  filter("compilation", "If it was made from a policy: how it was compiled and optimized.",
         [](const CountedFilter& it) { return unless_empty(it.compilation); });
}

void describe(Fields<CountedStack>& stack) {
  stack("name", "Where it came from.", &CountedStack::name);
  stack("filters", "Its programs, newest first.", &CountedStack::filters,
        list_of<CountedFilter>(1));
}

}  // namespace secequiv
