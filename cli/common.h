// What all subcommands share: one option vocabulary, loading of programs and policies, and how
// results leave the process. Owns the mapping from Result and Verdict to text, JSON and exit
// status. Subcommands are one thin file each.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/source.h"
#include "harness/adapter/confinement.h"
#include "harness/base/result.h"
#include "harness/bpf/text.h"
#include "harness/compare/verdict.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"
#include "harness/report/reported.h"
#include "harness/seccomp/action.h"

namespace secequiv::cli {

// Where a subcommand leaves its exit status.
struct Context {
  int status = 0;
};

// Options that mean the same everywhere. Each add_ function declares the ones a subcommand takes.
struct Options {
  std::string from;  // form of program inputs, empty = by content
  bool big_endian = false;
  std::vector<std::string> set;  // NAME=VALUE of names in program inputs
  std::string to;                // form of the program written
  std::string output = "-";
  bool json = false;
  double timeout = 60;
  std::string same = "raw";
  std::string arch = "x86_64";  // of the host
  std::vector<std::string> capabilities;
  std::string kernel = "6.1";
  std::string command;  // whose report `junit` and `sarif` get
  std::string junit;    // files, or empty
  std::string sarif;
  std::string html;
  bool no_sandbox = false;
  bool quiet = false;
  std::string filter;  // which one of a file that holds several

  void add_input(CLI::App& app);
  void add_output(CLI::App& app, const char* default_form);
  void add_json(CLI::App& app);
  // --junit and --sarif: what the command found goes there with print_found(), or report(). With
  // `page` also --html (page.h).
  void add_reports(CLI::App& app, bool page = false);
  [[nodiscard]] bool wants_reports() const { return !junit.empty() || !sarif.empty(); }
  void add_timeout(CLI::App& app, const char* text);
  void add_same(CLI::App& app);
  void add_import(CLI::App& app);   // --arch and add_profile's
  void add_profile(CLI::App& app);  // --cap, --kernel, --filter
  void add_sandbox(CLI::App& app);
  void add_quiet(CLI::App& app);

  [[nodiscard]] Sameness sameness() const {
    return same == "raw" ? Sameness::kRaw : Sameness::kBehaviour;
  }
  [[nodiscard]] std::optional<Form> input_form() const;
  [[nodiscard]] OciOptions oci() const;
  // Of commands under test. The first time, says on standard error what is not permitted here.
  [[nodiscard]] std::shared_ptr<const Confinement> confinement() const;
  [[nodiscard]] ImportOptions import() const;
};

// May programs have names that --set gives no value?
enum class Names : std::uint8_t { kRefused, kTaken };

using Values = std::vector<std::pair<std::string, std::uint32_t>>;
// What --set says, each NAME=VALUE.
Result<Values> parse_settings(const std::vector<std::string>& settings);

// A whole input file; standard input, "-", can be taken once.
Result<std::string> read_input(const std::string& path);

// In any format, told apart by content.
Result<Policy> load_policy(const std::string& path, const Options& options);
Result<Policy> parse_policy(std::string_view text, const std::string& name, const Options& options);

// Several, separated by commas, unless the whole text names a file.
Result<std::vector<Source>> load_stack(const std::string& paths, const Options& options,
                                       Names names = Names::kRefused);

// A program, or a policy compiled without optimization.
Result<Source> load_source(const std::string& path, const Options& options,
                           Names names = Names::kRefused);

// The same, refused (kRejected) if the kernel's check refuses a program for more than its length;
// that is only said.
Result<Source> load_accepted(const std::string& path, const Options& options);
Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Options& options);

// The program that `command` prints, in any form. Errors: kAdapter, whatever is wrong with it.
Result<Source> load_command(const std::string& command, double timeout, const Options& options);

// A number, or a system call's name on `arch`, if that is known.
Result<std::uint32_t> parse_nr(const std::string& text, std::optional<Arch> arch);
Result<std::uint64_t> parse_u64(const std::string& text, std::string_view what);

// A finite number of seconds above 0; or 0, too.
CLI::Validator seconds(bool or_none = false);
// One of these words.
CLI::Validator one_of(std::vector<std::string> words);
// An architecture's name.
CLI::Validator architecture();

// One line on standard error.
void warn(std::string_view text);
// Says on standard error that a program is too long for the kernel, if it is.
void note_length(const std::string& name, ProgramView program);

// Refuses a second thing that would go to standard output: `option`, given as `path`, beside a
// report that is JSON.
Status keep_json_alone(const Options& options, const char* option, const std::string& path);

// Writes to standard output; returns `status`, or that of the error if a full disk or a closed pipe
// kept the text from arriving.
int print(std::string_view text, int status = 0);
// The same of a report whose last line is its verdict; with --quiet only that, and nothing of 0.
int print_verdict(std::string_view text, int status, const Options& options);
// The same after writing the files of add_reports; the exit status is that of `found`, or, of a
// pass, that of what could not be written, `also` or those files.
int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also = Ok{});
// Removes the reports that earlier runs left where this command line wants its own, whatever comes
// of it: nobody must take an old verdict for this run's. Files that are no reports stay.
void drop_old_reports(std::span<char* const> arguments);
// The error on standard error (and as JSON on standard output with --json, and in the files of
// add_reports); returns its exit status.
int report(const Error& error, const Options& options);

// The subcommands. Each declares itself on `app` and leaves its exit status in `context`.
void add_asm(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_cache(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_cost(CLI::App& app, Context& context);
void add_cover(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_dis(CLI::App& app, Context& context);
void add_dump(CLI::App& app, Context& context);
void add_fuzz(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_actions(CLI::App& app, Context& context);
void add_kernel(CLI::App& app, Context& context);
void add_lint(CLI::App& app, Context& context);
void add_mutate(CLI::App& app, Context& context);
void add_optimize(CLI::App& app, Context& context);
void add_patch(CLI::App& app, Context& context);
void add_plugin_host(CLI::App& app, Context& context);
void add_precompile(CLI::App& app, Context& context);
void add_prove(CLI::App& app, Context& context);
void add_prove_rule(CLI::App& app, Context& context);
void add_reach(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_why(CLI::App& app, Context& context);

// The embedded default policy, corpus/policies/gvisor/systrap.json.
std::string_view default_policy_text();

}  // namespace secequiv::cli
