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
  auto oracle = given.oracle.open();
  if (!oracle) return oracle.error();
  auto engine = given.engine.engine(given.options);
  if (!engine) return engine.error();
  job.oracle = std::move(*oracle);
  job.assumption = given.engine.assumption;
  job.host = given.options.oci().arch;
  job.engine = std::move(*engine);
  job.budget = budget(given.options);
  return job;
}

}  // namespace

Result<ProveJob> prove_job(const ProveOptions& given) {
  auto made = job_without_filters(given);
  if (!made) return made;
  ProveJob& job = *made;
  for (const auto& [paths, stack] :
       {std::pair(&given.before, &job.before), std::pair(&given.after, &job.after)}) {
    auto sources = load_side(*paths, given.options);
    if (!sources) return sources.error();
    *stack = std::move(*sources);
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
  return made;
}

Result<PropertyJob> property_job(const ProveOptions& given) {
  const Options& options = given.options;
  if (!given.after.empty())
    return make_error(ErrorCode::kUsage, "--property",
                      fmt::format("expected one filter, found a second: '{}'", given.after));
  auto job = job_without_filters(given);
  if (!job) return job.error();
  auto properties = given.property.load(options);
  if (!properties) return properties.error();
  auto filter = load_side(given.before, options);
  if (!filter) return filter.error();
  job->subject = given.before;
  job->after = std::move(*filter);
  static_cast<ReadNotes&>(job->notes) = notes_about(job->after);
  return PropertyJob{std::move(*job), std::move(*properties)};
}

}  // namespace secequiv::cli
