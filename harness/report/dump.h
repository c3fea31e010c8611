// Filters found in processes, as text. Owns the report value and the titles of filters. It must not
// know how filters are found (harness/kernel/dump.h).
#pragma once

#include <string>
#include <vector>

#include "harness/bpf/text.h"

namespace secequiv {

struct DumpedFilter {
  std::string title;  // "process 7, filter 1 of 2 (the newest)"
  Program program;
};

struct DumpReport {
  std::vector<DumpedFilter> filters;
  bool complete = true;            // false: there may be other filters
  std::vector<std::string> notes;  // for standard error
};

// Returns the filter in `form`. Assembly has the title, and comments unless `plain` is set.
std::string dumped_text(const DumpedFilter& filter, Form form, bool plain);

}  // namespace secequiv
