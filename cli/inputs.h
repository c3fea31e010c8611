// Programs and policies that the command line names: in files, on standard input, and in the output
// of commands. Owns how they are read, and the values that --set gives to names in programs. It
// must not know any command.
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

// Whether a program may contain names to which --set gives no value.
enum class Names : std::uint8_t { kRefused, kTaken };

using Values = std::vector<std::pair<std::string, std::uint32_t>>;
// Reads the values of --set, each as NAME=VALUE.
Result<Values> parse_settings(const std::vector<std::string>& settings);

// Reads a whole input file. Standard input, "-", can be read only once.
Result<std::string> read_input(const std::string& path);

// Reads all 64-byte seccomp_data records in these files.
Result<std::vector<SeccompData>> load_records(const std::vector<std::string>& paths);

// Reads a policy in any supported format. The content decides which format it is.
Result<Policy> load_policy(const std::string& path, const Options& options);
// Reads the policy, or returns nothing if `path` is empty.
Result<std::optional<Policy>> load_optional_policy(const std::string& path, const Options& options);
// Checks that a text read as a policy is not a program, a common mistake. Errors: kParse.
Status expect_no_program(std::string_view text, const std::string& name);
Result<Policy> parse_policy(std::string_view text, const std::string& name, const Options& options);
// Reads a policy, and prints the importer's notes about it. The caller calls check_names().
Result<Import> load_import(const std::string& path, const Options& options);
// Warns about names of system calls that no architecture has; with --strict-names they are errors.
Status check_names(const Import& imported, const Options& options);

// Reads the filters of a stack, separated by commas, unless the whole text names a file.
Result<std::vector<Source>> load_stack(const std::string& paths, const Options& options,
                                       Names names = Names::kRefused);

// Reads a program, or compiles a policy without optimization.
Result<Source> load_source(const std::string& path, const Options& options,
                           Names names = Names::kRefused);

// Checks that the kernel accepts the program. If it is only too long, warns. Errors: kRejected.
Status expect_accepted(const std::string& name, ProgramView program);

// Like load_source() and load_stack(), and check every program with expect_accepted().
Result<Source> load_accepted(const std::string& path, const Options& options);
Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Options& options);

// Warns if the names of the files suggest that the user swapped the two sides and the sizes do not
// contradict this. A shell's pattern can put names in the wrong order.
void note_swapped(const Source& before, const Source& after);

// Runs `command` and reads the program that it prints, in any form. All its errors are kAdapter.
Result<Source> load_command(const std::string& command, double timeout, const Options& options);

// Returns the embedded policy that `check` uses without inputs:
// corpus/policies/gvisor/systrap.json.
std::string_view default_policy_text();

}  // namespace secequiv::cli
