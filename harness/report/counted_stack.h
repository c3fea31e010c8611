// A filter or a stack of filters whose instructions are counted or timed. Owns how reports name it
// and how it was made. It must not know what is measured.
#pragma once

#include <string>
#include <vector>

#include "harness/report/describe.h"

namespace secequiv {

struct CountedFilter {
  std::string name;
  std::string compilation;  // how it was made from a policy; empty: the program as given
  std::size_t instructions;
};

struct CountedStack {
  std::string name;
  std::vector<CountedFilter> filters = {};  // newest first

  [[nodiscard]] std::size_t instructions() const {
    std::size_t out = 0;
    for (const CountedFilter& filter : filters) out += filter.instructions;
    return out;
  }
};

// Returns "docker.json, compiled and optimized by the built-in passes: 312 instructions", or
// several lines for a stack.
std::string counted_text(const CountedStack& stack);
void describe(Fields<CountedFilter>& filter);
void describe(Fields<CountedStack>& stack);

}  // namespace secequiv
