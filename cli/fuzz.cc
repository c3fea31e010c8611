// `fuzz`: runs code under test on generated programs, or a fixed pair on mutated inputs.
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/fuzz_campaign.h"
#include "cli/fuzz_target.h"

namespace secequiv::cli {
namespace {

struct FuzzOptions {
  const CLI::App* app = nullptr;
  Options options;
  FuzzTargetOptions target;
  FuzzCampaignOptions campaign;
  FuzzEffort effort;
  bool list = false;
};

// Options that apply only to a pair are errors without a pair. Options that do not apply to a pair
// are errors with a pair.
constexpr const char* kPairGroup = "Pair of programs";
constexpr const char* kTargetGroup = "Under test";

// Groups the options that are in no group yet.
void put_in_group(CLI::App& app, const std::string& group) {
  for (CLI::Option* option : app.get_options())
    if (option->get_group() == "Options" && option != app.get_help_ptr()) option->group(group);
}

std::string given_of_group(const CLI::App& app, const std::string& group) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_group() == group && option->count() > 0) return option->get_name();
  return {};
}

Result<int> run_fuzz(const FuzzOptions& given) {
  if (given.list) return print(target_list());
  const bool pair = given.campaign.given();
  if (const std::string foreign = given_of_group(*given.app, pair ? kTargetGroup : kPairGroup);
      !foreign.empty())
    return make_error(ErrorCode::kUsage, foreign,
                      pair ? "does not apply to a pair of programs"
                           : "applies only to a pair of programs, and none is given");
  if (given.options.sameness() == Sameness::kEffect &&
      (pair || !given.target.target.evaluator.empty() || given.effort.no_prove))
    return make_error(
        ErrorCode::kUsage, "--same",
        "effects need --optimizer or --compiler, and proofs; for two files use prove");
  return pair ? run_fuzz_campaign(given.campaign, given.options, given.effort)
              : run_fuzz_target(given.target, given.options, given.effort);
}

}  // namespace

void add_fuzz(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "fuzz",
      "Test an optimizer, compiler or interpreter, or fuzz a fixed pair of programs", run_fuzz);
  given->app = sub;
  given->campaign.add(*sub);
  given->options.add(*sub, {kProofLimits});
  put_in_group(*sub, kPairGroup);
  given->target.add(*sub);
  put_in_group(*sub, kTargetGroup);
  given->effort.add(*sub);
  add_number(*sub, "--jobs", given->effort.jobs, 1, 256,
             "Fuzz in this many processes, and report what all of them find");
  sub->add_flag("--list", given->list, "List the built-in names, and exit");
  given->options.add(*sub, {kSandbox, kInput, kSame, kWhole, kImport, kQuiet, kJson, kPage});
  for (const char* option : {"--html", "--require-whole"})
    sub->get_option(option)->group(kPairGroup);
}

}  // namespace secequiv::cli
