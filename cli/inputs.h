// Programs and policies that the command line names: files, standard input, and what commands
// print. Owns how they are read, and the values that --set gives to names in programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/source.h"
#include "cli/options.h"
#include "harness/policy/policy.h"

namespace secequiv::cli {

// Whether a program may contain names that --set gives no value.
enum class Names : std::uint8_t { kRefused, kTaken };

using Values = std::vector<std::pair<std::string, std::uint32_t>>;
// The values given by --set, each as NAME=VALUE.
Result<Values> parse_settings(const std::vector<std::string>& settings);

// A whole input file. Standard input, "-", can be read only once.
Result<std::string> read_input(const std::string& path);

// All the 64-byte seccomp_data records of these files.
Result<std::vector<SeccompData>> load_records(const std::vector<std::string>& paths);

// Reads a policy in any supported format; the content decides which.
Result<Policy> load_policy(const std::string& path, const Options& options);
// The policy, or none if `path` is empty.
Result<std::optional<Policy>> load_optional_policy(const std::string& path, const Options& options);
// Errors: kParse if the text is a program, which people take for a policy.
Status expect_no_program(std::string_view text, const std::string& name);
Result<Policy> parse_policy(std::string_view text, const std::string& name, const Options& options);
// Reads a policy with what was noted about its names, which the caller reports.
Result<Import> load_import(const std::string& path, const Options& options);
// Warns about names of system calls that no architecture has; with --strict-names they are errors.
Status check_names(const Import& imported, const Options& options);

// Reads the filters of a stack, separated by commas, unless the whole text names a file.
Result<std::vector<Source>> load_stack(const std::string& paths, const Options& options,
                                       Names names = Names::kRefused);

// Reads a program, or compiles a policy without optimization.
Result<Source> load_source(const std::string& path, const Options& options,
                           Names names = Names::kRefused);

// Errors: kRejected if the kernel's check refuses the program. Excessive length is only noted.
Status expect_accepted(const std::string& name, ProgramView program);

// As above, but kRejected if the kernel's check refuses a program. Excessive length is only noted.
Result<Source> load_accepted(const std::string& path, const Options& options);
Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Options& options);

// Warns if the names suggest that `before` was made from `after` and the sizes do not contradict
// this. A shell's pattern can sort the names in this order.
void note_swapped(const Source& before, const Source& after);

// Runs `command` and reads the program that it prints, in any form. Every error is kAdapter.
Result<Source> load_command(const std::string& command, double timeout, const Options& options);

// The policy that `check` uses without inputs, corpus/policies/gvisor/systrap.json, embedded.
std::string_view default_policy_text();

}  // namespace secequiv::cli
