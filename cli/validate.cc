// `validate`: checks whether the kernel accepts a program, or whether a policy is valid.
#include "harness/report/validate.h"

#include "cli/command.h"
#include "cli/reading.h"
#include "harness/bpf/refusal.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct Validation {
  Options options;
  std::vector<std::string> inputs;
  bool any_length = false;
};

int validate_one(const std::string& path, const Validation& job, std::vector<Json>& results) {
  Reading reader = reading(job.options);
  reader.failure = [](const LoadFailure&) {};  // the row shows it
  auto source = load_source(path, reader);
  if (!source) {
    const Error error = named(source.error());
    results.push_back(to_json(Unreadable{path, error}));
    print_error(error);
    return exit_code(error.code);
  }
  // A policy's unoptimized program may be too long for the kernel, because only the optimizer reads
  // that program.
  const bool unlimited = job.any_length || source->policy.has_value();
  Validated input{
      path, source->program, source->policy ? &*source->policy : nullptr,
      refusal_of(source->program, unlimited ? LengthRule::kUnlimited : LengthRule::kKernel)};
  if (input.refusal && input.refusal->rule != RefusalRule::kLength)
    input.where = instruction_place(*source, input.refusal->pc);
  input.failures = source->failures;
  if (unlimited) note_length(*source, reading(job.options));
  results.push_back(to_json(input));
  int status = input.failures.empty() ? 0 : exit_code(Verdict::kFail);
  if (input.refusal) status = exit_code(Verdict::kRejected);
  return job.options.json ? status : print_verdict(validated_text(input), status, job.options);
}

Result<int> validate(const Validation& job) {
  ValidateReport report;
  int status = 0;
  for (const std::string& path : job.inputs) {
    const int one = validate_one(path, job, report.results);
    // A wrong input takes precedence over a rejection, and this over a finding.
    if (status == 0 || one == 2 || (status == 1 && one != 0)) status = one;
  }
  if (!job.options.json) return status;
  return print_json(to_json(report), status);
}

}  // namespace

void add_validate(Commands& all) {
  const auto [sub, job] = add_command(
      all, "validate",
      "Check programs by the kernel's rules and policies by the rules of their format", validate);
  sub->add_option("input", job->inputs,
                  "Programs in any form, policies in any format; - for standard input")
      ->required();
  sub->add_flag("--any-length", job->any_length, "Accept programs of more than 4096 instructions");
  job->options.add(*sub, {kInput, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
