#include "cli/prove_job.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "analyze/oracle.h"
#include "cli/reading.h"
#include "harness/base/file.h"

namespace secequiv::cli {
namespace {

// Reads one side.
Result<std::vector<Source>> load_side(const std::string& paths, const Options& options) {
  auto out = load_stack(paths, reading(options, Names::kTaken));
  if (!out) return out;
  for (const Source& side : *out) note_length(side, reading(options));
  return out;
}

// Makes a job without filters.
Result<ProveJob> job_without_filters(const ProveOptions& given) {
  ProveJob job;
  ASSIGN_OR_RETURN(job.oracle, given.oracle.open());
  ASSIGN_OR_RETURN(job.engine, given.engine.engine(given.options));
  job.assumption = given.engine.assumption;
  job.host = given.options.oci().arch;
  job.budget = budget(given.options);
  return job;
}

}  // namespace

Result<ProveJob> prove_job(const ProveOptions& given) {
  ASSIGN_OR_RETURN(auto job, job_without_filters(given));
  for (const auto& [paths, stack] :
       {std::pair(&given.before, &job.before), std::pair(&given.after, &job.after)}) {
    ASSIGN_OR_RETURN(*stack, load_side(*paths, given.options));
  }
  job.notes = note_pair(job.before, job.after, reading(given.options));
  job.subject = fmt::format("{}, {}", given.before, given.after);
  job.sameness = given.options.sameness();
  job.refines = given.refines;
  job.all_traces = given.traces;
  job.certificate_folder = given.certificate.directory;
  job.certificate_limits = {given.options.timeout, given.options.max_memory};
  if (!given.smt2.empty())
    job.smt2 = [&](const std::string& query) { return write_file(given.smt2, query); };
  return job;
}

Result<PropertyJob> property_job(const ProveOptions& given) {
  const Options& options = given.options;
  if (!given.after.empty())
    return make_error(ErrorCode::kUsage, "--property",
                      fmt::format("expected one filter, found a second: '{}'", given.after));
  ASSIGN_OR_RETURN(auto job, job_without_filters(given));
  ASSIGN_OR_RETURN(auto properties, given.property.load(options));
  ASSIGN_OR_RETURN(job.after, load_side(given.before, options));
  job.subject = given.before;
  static_cast<ReadNotes&>(job.notes) = notes_about(job.after);
  return PropertyJob{std::move(job), std::move(properties)};
}

}  // namespace secequiv::cli
