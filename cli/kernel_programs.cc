#include "cli/kernel_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/kernel.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

// Loads programs, and adds the inputs that are derived from them.
Status load(const KernelArguments& given, const std::vector<std::string>& paths,
            AskKernelJob& job) {
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(auto source, load_accepted(path, reading(given.options)));
    job.sources.push_back(std::move(source));
  }
  RETURN_IF_ERROR(can_ask(job.sources, *given.kernel));
  ASSIGN_OR_RETURN(const auto cases,
                   given.pair.cases({&job.sources.front(), &job.sources.back()}, given.options));
  job.inputs.insert(job.inputs.end(), cases.inputs.begin(), cases.inputs.end());
  return Ok{};
}

// Returns the entry that the user named. Nothing: any entry.
Result<std::optional<kernel::Entry>> chosen_entry(const KernelArguments& given) {
  if (given.entry == "any") return std::optional<kernel::Entry>();
  std::vector<std::string_view> known = {"any"};
  for (const kernel::Entry& entry : given.kernel->entries()) {
    if (entry.name == given.entry) return std::optional(entry);
    known.push_back(entry.name);
  }
  return make_error(ErrorCode::kUsage, "--entry",
                    fmt::format("expected one of {}, found '{}'{}", fmt::join(known, ", "),
                                given.entry, did_you_mean(similar_names(given.entry, known))));
}

Result<kernel::KernelReport> ask(const KernelArguments& given,
                                 const std::vector<std::string>& paths, AskKernelJob& job) {
  ASSIGN_OR_RETURN(const auto entry, chosen_entry(given));
  RETURN_IF_ERROR(load(given, paths, job));
  job.options.entry = entry;
  job.options.kernel = given.kernel.get();
  job.options.sameness = given.options.sameness();
  job.options.stop = was_interrupted;
  terminal::StatusLine line;
  job.progress = terminal::progress_on(line, "inputs");
  return ask_kernel(job);
}

Result<int> ask_pair(const KernelArguments& given, AskKernelJob job) {
  ASSIGN_OR_RETURN(const auto answer, ask(given, given.pair.inputs, job));
  const Pair pair{job.sources.front().program, job.sources.back().program,
                  given.options.sameness()};
  return print_verdict(
      given.options.json ? render(to_json(answer)) : kernel_text(answer, Question(pair)),
      exit_code(answer.verdict), given.options);
}

Result<int> ask_each(const KernelArguments& given, const AskKernelJob& each) {
  std::optional<kernel::KernelReport> all;
  for (const std::string& path : given.pair.inputs) {
    AskKernelJob job = each;
    ASSIGN_OR_RETURN(auto answer, ask(given, {path}, job));
    if (all)
      kernel::append(*all, std::move(answer));
    else
      all = std::move(answer);
    if (all->interrupted) break;
  }
  const Pair none;  // no two programs are compared
  return print_verdict(
      given.options.json ? render(to_json(*all)) : kernel_text(*all, Question(none)),
      exit_code(all->verdict), given.options);
}

}  // namespace

Result<int> ask_given(const KernelArguments& given) {
  AskKernelJob job = given.job;
  ASSIGN_OR_RETURN(job.inputs, load_records(given.files));
  return given.each ? ask_each(given, job) : ask_pair(given, std::move(job));
}

}  // namespace secequiv::cli
