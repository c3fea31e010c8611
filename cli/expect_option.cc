#include "cli/expect_option.h"

#include "analyze/load.h"
#include "cli/output.h"
#include "harness/base/file.h"
#include "harness/report/expectation.h"
#include "harness/report/json.h"

namespace secequiv::cli {

void ExpectOption::add(Command& command) {
  command.add_option("--expect", path,
                     "Compare with this stored difference, and list new (+) and missing (-) lines");
  command.add_option("--write-expect", write, "Store the difference in this file, for --expect")
      ->writes(Writes::kFile);
}

Result<std::optional<DiffJob::Expected>> ExpectOption::read() const {
  if (!path.empty() && !write.empty())
    return make_error(ErrorCode::kUsage, "--write-expect",
                      "expected one of --expect and --write-expect: one run cannot compare with a "
                      "stored difference and replace it");
  if (write == "-")
    return make_error(ErrorCode::kUsage, "--write-expect",
                      "expected a file, found '-': the report goes to standard output; --json "
                      "prints the difference in the form that --expect reads");
  if (path.empty()) return std::optional<DiffJob::Expected>();
  ASSIGN_OR_RETURN(const auto text, read_input(path, warn));
  ASSIGN_OR_RETURN(auto document, read_expectation(text, shown_name(path)));
  return std::optional(DiffJob::Expected{shown_name(path), std::move(document)});
}

Status ExpectOption::store(const DiffReport& found) const {
  if (write.empty() || found.verdict == Verdict::kFail) return Ok{};
  return write_file(write, render(stored_json(found)));
}

}  // namespace secequiv::cli
