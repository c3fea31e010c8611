#include "cli/fuzz_campaign.h"

#include <fmt/format.h>

#include "analyze/campaign.h"
#include "cli/arguments.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "harness/report/check.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

std::string status_text(const pair::FuzzStatus& status) {
  const double millions = static_cast<double>(status.evaluations) / 1e6;
  return fmt::format("{:.0f} s: {} runs, {:.1f} M inputs ({:.2f} M/s), {} edges covered",
                     status.seconds, status.runs, millions, millions / status.seconds,
                     status.edges);
}

pair::FuzzOptions fuzz_options(const FuzzCampaignOptions& given, const FuzzEffort& effort) {
  pair::FuzzOptions out;
  out.seconds = effort.trials > 0 ? 1e9 : effort.seconds;
  if (effort.trials > 0) out.evaluations = effort.trials;
  out.jobs = effort.jobs;
  out.seed = effort.seed;
  out.corpus = given.corpus;
  out.stop = was_interrupted;
  return out;
}

}  // namespace

void FuzzCampaignOptions::add(Command& command) {
  command
      .add_option("input", pair.inputs,
                  "Programs before and after (by default, the built-in optimizer makes 'after')")
      ->expected(1, 2);
  pair.add(command);
  command
      .add_option("--corpus", corpus,
                  "Read inputs from this folder, and add the inputs that cover new edges")
      ->writes(Writes::kFolder);
  command.add_flag("--minimize", minimize,
                   "Keep only one input in the folder for each edge when fuzzing ends");
  check.add(command);
}

Result<int> run_fuzz_campaign(const FuzzCampaignOptions& given, const Options& options,
                              const FuzzEffort& effort) {
  CampaignOptions campaigning;  // the campaign's clock starts with this constructor
  if (given.minimize && given.corpus.empty())
    return make_error(ErrorCode::kUsage, "--minimize", "expected --corpus as well");
  ASSIGN_OR_RETURN(auto checking, given.check.check_options(options));
  checking.prove = !effort.no_prove;
  campaigning.check = std::move(checking);
  PairNotes notes;
  ASSIGN_OR_RETURN(const auto sides, given.pair.sides(options, TargetOptions{}, notes));
  const auto& [before, after] = sides;
  campaigning.minimize = given.minimize;
  campaigning.fuzz = fuzz_options(given, effort);
  terminal::StatusLine line;
  campaigning.fuzz.progress = [&](const pair::FuzzStatus& status) {
    line.show([&] { return status_text(status); });
  };
  heed_interrupts();
  Cases derived;  // derived only once, because a policy may come from standard input
  const Derive derive = [&]() -> Result<std::vector<SeccompData>> {
    ASSIGN_OR_RETURN(derived, given.pair.cases({&before, &after}, options));
    return derived.inputs;
  };
  ASSIGN_OR_RETURN(auto result, campaign(side_of(before), side_of(after), options.sameness(),
                                         derive, campaigning));
  result.dropped = derived.dropped;
  RETURN_IF_ERROR(PairCheckOptions::conclude(before, after, std::move(notes), options, result));
  const Status page = given.check.write_page(result, before, after, derived.inputs, options, {});
  return print_found(options.json ? render(to_json(result)) : check_text(result),
                     reported(result, "fuzz", {before.file, after.file}), options, page);
}

}  // namespace secequiv::cli
