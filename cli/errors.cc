#include "cli/errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/report_files.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct Named {
  Subject subject;
  std::string_view option;       // replaces the error's `where`, unless empty
  std::string_view advice = {};  // what to do instead
};
constexpr std::array kNamed = std::to_array<Named>({
    {Subject::kArch, "--arch"},
    {Subject::kAssumption, "--assume"},
    {Subject::kAuditRecord, "", "`why` and `run` read it with --audit, together with a filter"},
    {Subject::kCallArch, "--call-arch"},
    {Subject::kCallArgument, "--arg"},
    {Subject::kCallNumber, "--nr"},
    {Subject::kCallPointer, "--ip"},
    {Subject::kCallWords, "--words"},
    {Subject::kCertificate, "--certificate"},
    {Subject::kFilter, "--filter"},
    {Subject::kKernelVersion, "--kernel-version"},
    {Subject::kLastPass, "--stop-after"},
    {Subject::kNameValues, "--set", "use 'precompile' for the variables of a policy"},
    {Subject::kNotAPolicy, "", "use 'dis' to print it, and 'actions' or 'why' to explain it"},
    {Subject::kPasses, "--passes"},
    {Subject::kPolicies, "--policies"},
    {Subject::kProfile, "--profile"},
    {Subject::kPrograms, "--programs"},
    {Subject::kRealCalls, "--real"},
    {Subject::kRule, "--rule"},
    {Subject::kStack, "",
     "prove, diff, run, why, actions, guard, lift, optimize, cost, cache and bench accept stacks"},
});

}  // namespace

void print_error(const Error& error) {
  const char* const verdict = error.code == ErrorCode::kBudget ? "unknown: " : "";
  print_note(fmt::format("secequiv: {}{}\n", verdict, error.text()));
}

Error named(Error error) {
  const auto* const known = std::ranges::find(kNamed, error.subject, &Named::subject);
  if (known == kNamed.end()) return error;
  if (!known->option.empty()) error.where = known->option;
  if (!known->advice.empty()) error.detail += fmt::format("; {}", known->advice);
  return error;
}

namespace {

// Names the options of the command that set limits.
std::string limits_of(const Options& options) {
  std::vector<std::string> names;
  for (const char* name : {"--timeout", "--max-memory"})
    if (options.declared_by != nullptr && options.declared_by->find(name) != nullptr)
      names.emplace_back(name);
  return names.empty() ? "" : fmt::format(" (limits: {})", fmt::join(names, ", "));
}

}  // namespace

int report(const Error& found, const Options& options) {
  Error error = named(found);
  if (error.code == ErrorCode::kBudget && !was_interrupted()) error.detail += limits_of(options);
  terminal::end_status();
  print_error(error);
  if (::isatty(STDERR_FILENO) == 1)
    print_note(fmt::format("hint: secequiv --explain {}\n", error_name(error.code)));
  if (options.json) print_json(to_json(error));
  const int status = exit_code(error.code);
  if (auto s = write_report_files(reported(error, options.command_name(), status), options); !s)
    print_error(s.error());
  return status;
}

}  // namespace secequiv::cli
