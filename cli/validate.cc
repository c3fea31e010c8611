// `validate`: does the kernel accept this program; is this policy valid?
#include <fmt/format.h>

#include "cli/common.h"
#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/documents.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct Validation {
  Options options;
  std::vector<std::string> inputs;
  bool any_length = false;
};

int validate_one(const std::string& path, const Validation& job, nlohmann::ordered_json& results) {
  auto source = load_source(path, job.options);
  if (!source) {
    results.push_back(to_json(source.error()));
    results.back()["file"] = path;
    fmt::print(stderr, "secequiv: {}\n", source.error().text());
    return exit_code(source.error().code);
  }
  // A policy's unoptimized program may be long, because only the optimizer reads it.
  const bool unlimited = job.any_length || source->policy.has_value();
  const Validated input{
      path, source->program, source->policy ? &*source->policy : nullptr,
      check(source->program, unlimited ? LengthRule::kUnlimited : LengthRule::kKernel)};
  if (unlimited) note_length(source->name, source->program);
  results.push_back(to_json(input));
  const int status = input.refusal ? exit_code(Verdict::kRejected) : 0;
  return job.options.json ? status : print_verdict(validated_text(input), status, job.options);
}

int validate(const Validation& job) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  int status = 0;
  for (const std::string& path : job.inputs) {
    const int one = validate_one(path, job, results);
    if (status == 0 || one == 2) status = one;  // bad input outranks a rejection
  }
  if (!job.options.json) return status;
  return print(render(validate_document(results)), status);
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "validate", "Check programs by the kernel's rules and policies by the rules of their format");
  auto job = std::make_shared<Validation>();
  sub->add_option("input", job->inputs,
                  "Programs in any form, policies in any format; - for standard input")
      ->required();
  sub->add_flag("--any-length", job->any_length, "Accept programs of more than 4096 instructions");
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = validate(*job); });
}

}  // namespace secequiv::cli
