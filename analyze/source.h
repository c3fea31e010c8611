// Describes a filter as the input of a job. Owns this value: the program, the policy from which it
// was compiled, and the file. It must not know how filters are loaded: the command line reads
// files, the C interface takes memory.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"
#include "harness/report/counted_stack.h"
#include "harness/report/reported.h"
#include "harness/report/side.h"

namespace secequiv {

// A container profile. Its meaning depends on the container's capabilities and the host's kernel.
struct ContainerProfile {
  OciOptions options;              // the container and kernel for which it was read
  std::vector<std::string> asked;  // capabilities that its entries include or exclude
  std::vector<std::pair<unsigned, unsigned>> kernels;  // likewise: kernel versions
  // Reads the profile again, for another container or kernel.
  std::function<Result<Policy>(const OciOptions& options)> read;
};

struct Source {
  std::string name;  // for reports: a file's name, a command
  Program program;
  std::optional<Policy> policy;         // the policy from which `program` was compiled
  std::vector<SymbolUse> symbols = {};  // names without a value, if the job accepts them
  // Has no path unless the filter was read from a file.
  SourceFile file = {};
  std::optional<ContainerProfile> profile = {};  // the profile from which `policy` was imported
  // For reports: how `program` was made from `policy`, such as "compiled, not optimized".
  std::string compilation = {};
  std::vector<ProfilePart> parts = {};  // parts of the profile, including those that `policy` lacks
  std::optional<PolicyFormat> format = {};  // in which `policy` was written
  std::vector<MixedCall> mixed = {};        // calls for which the profile has several meanings
  // Asks libseccomp for its filter of the profile, and returns what contradicts `program`.
  std::function<std::vector<MixedCall>(const Assumption& about)> contradictions = {};
  std::vector<LoadFailure> failures = {};  // why some container runtimes do not load the profile

  // "policy.json (compiled, not optimized)"
  [[nodiscard]] std::string title() const {
    return compilation.empty() ? name : name + " (" + compilation + ")";
  }
};
inline constexpr const char* kNotOptimized = "compiled, not optimized";

inline SideReport side_of(const Source& source) {
  return {source.title(), source.program, {}, source.policy.has_value()};
}

// Returns the name with the place of an instruction, as far as the file shows it: "filter.asm:5",
// "filter.bpf: offset 16".
inline std::string instruction_place(const Source& source, std::size_t pc) {
  if (pc < source.file.lines.size())
    return fmt::format("{}:{}", source.name, source.file.lines[pc]);
  return source.file.raw ? fmt::format("{}: offset {}", source.name, pc * sizeof(Insn))
                         : source.title();
}

// A stack of one or more filters, newest first.
struct Stack {
  std::string name;  // for reports and errors
  std::vector<Source> filters;
};

// Counts the instructions of all filters.
inline std::size_t instructions(const Stack& stack) {
  std::size_t out = 0;
  for (const Source& source : stack.filters) out += source.program.size();
  return out;
}

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

inline bool is_policy(const std::vector<Source>& stack) {
  return stack.size() == 1 && stack.front().policy.has_value();
}

// Returns whether reports can name the rule or the line that decides an input.
inline bool names_rules(const std::vector<Source>& stack) {
  const SourceFile& file = stack.front().file;
  return is_policy(stack) || (stack.size() == 1 && !file.path.empty() && !file.lines.empty());
}

inline CountedStack counted(const Stack& stack) {
  CountedStack out{stack.name, {}};
  out.filters.reserve(stack.filters.size());
  for (const Source& source : stack.filters)
    out.filters.push_back({source.name, source.compilation, source.program.size()});
  return out;
}

// Returns the files in which reports show positions, or nothing for stacks.
inline std::optional<SideFiles> side_files(const std::vector<Source>& before,
                                           const std::vector<Source>& after) {
  if (before.size() != 1 || after.size() != 1) return std::nullopt;
  return SideFiles{before[0].file, after[0].file};
}

}  // namespace secequiv
