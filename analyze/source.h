// A filter as the input of a job: the program, the policy that it was made from, and the file. Owns
// no loading: the command line reads files, the C interface takes memory.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/policy/policy.h"
#include "harness/report/reported.h"

namespace secequiv {

// A container profile, which means something else for a container with other capabilities.
struct ContainerProfile {
  std::vector<std::string> granted;  // the capabilities for which it was read
  std::vector<std::string> asked;    // those that its entries include or exclude
  // Reads it again, for a container with these capabilities.
  std::function<Result<Policy>(const std::vector<std::string>& capabilities)> read;
};

struct Source {
  std::string name;  // for reports: a file's name, "policy.json (compiled)", a command
  Program program;
  std::optional<Policy> policy;                  // that `program` was compiled from
  std::vector<SymbolUse> symbols = {};           // names without a value, if the job takes them
  SourceFile file = {};                          // no path unless it was read from a file
  std::optional<ContainerProfile> profile = {};  // that `policy` was imported from
  // For reports: how `program` was made from `policy`, as "compiled, not optimized".
  std::string compilation = {};
};

// One filter, or several stacked on each other, newest first.
struct Stack {
  std::string name;  // for reports and errors
  std::vector<Source> filters;
};

inline std::vector<ProgramView> views(const std::vector<Source>& stack) {
  std::vector<ProgramView> out;
  out.reserve(stack.size());
  for (const Source& source : stack) out.emplace_back(source.program);
  return out;
}

inline std::vector<const Source*> all_filters(const std::vector<Stack>& stacks) {
  std::vector<const Source*> out;
  for (const Stack& stack : stacks)
    for (const Source& source : stack.filters) out.push_back(&source);
  return out;
}

// Files to report positions in; none for stacks.
inline std::optional<SideFiles> side_files(const std::vector<Source>& before,
                                           const std::vector<Source>& after) {
  if (before.size() != 1 || after.size() != 1) return std::nullopt;
  return SideFiles{before[0].file, after[0].file};
}

}  // namespace secequiv
