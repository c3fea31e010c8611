// Programs and policies that the command line names: files, standard input, and what commands
// print. Owns how they are read, and the values that --set gives to names in programs.
#pragma once

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

// A file of 64-byte seccomp_data records.
Result<std::vector<SeccompData>> load_records(const std::string& path);

// Reads a policy in any supported format, which its content tells.
Result<Policy> load_policy(const std::string& path, const Options& options);
Result<Policy> parse_policy(std::string_view text, const std::string& name, const Options& options);

// Reads the filters of a stack, separated by commas, unless the whole text names a file.
Result<std::vector<Source>> load_stack(const std::string& paths, const Options& options,
                                       Names names = Names::kRefused);

// Reads a program, or compiles a policy without optimization.
Result<Source> load_source(const std::string& path, const Options& options,
                           Names names = Names::kRefused);

// As above, but kRejected if the kernel's check refuses a program. Excessive length is only noted.
Result<Source> load_accepted(const std::string& path, const Options& options);
Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Options& options);

// Runs `command` and reads the program that it prints, in any form. Every error is kAdapter.
Result<Source> load_command(const std::string& command, double timeout, const Options& options);

// The policy that `check` uses without inputs, corpus/policies/gvisor/systrap.json, embedded.
std::string_view default_policy_text();

}  // namespace secequiv::cli
