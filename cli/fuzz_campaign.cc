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

void FuzzCampaignOptions::add(CLI::App& app) {
  app.add_option("input", pair.inputs,
                 "Programs before and after (by default, the built-in optimizer makes 'after')")
      ->expected(1, 2);
  pair.add(app);
  app.add_option("--corpus", corpus,
                 "Read inputs from this folder, and add the inputs that cover new edges");
  app.add_flag("--minimize", minimize,
               "Keep only one input in the folder for each edge when fuzzing ends");
  check.add(app);
}

Result<int> run_fuzz_campaign(const FuzzCampaignOptions& given, const Options& options,
                              const FuzzEffort& effort) {
  CampaignOptions campaigning;  // the campaign's clock starts with this constructor
  if (given.minimize && given.corpus.empty())
    return make_error(ErrorCode::kUsage, "--minimize", "expected --corpus as well");
  auto checking = given.check.check_options(options);
  if (!checking) return checking.error();
  checking->prove = !effort.no_prove;
  campaigning.check = std::move(*checking);
  PairNotes notes;
  const auto sides = given.pair.sides(options, TargetOptions{}, notes);
  if (!sides) return sides.error();
  const auto& [before, after] = *sides;
  campaigning.minimize = given.minimize;
  campaigning.fuzz = fuzz_options(given, effort);
  terminal::StatusLine line;
  campaigning.fuzz.progress = [&](const pair::FuzzStatus& status) {
    line.show([&] { return status_text(status); });
  };
  heed_interrupts();
  Cases derived;  // derived only once, because a policy may come from standard input
  const Derive derive = [&]() -> Result<std::vector<SeccompData>> {
    auto cases = given.pair.cases({&before, &after}, options);
    if (!cases) return cases.error();
    derived = std::move(*cases);
    return derived.inputs;
  };
  auto result = campaign(side_of(before), side_of(after), options.sameness(), derive, campaigning);
  if (!result) return result.error();
  result->dropped = derived.dropped;
  if (auto s = PairCheckOptions::conclude(before, after, std::move(notes), options, *result); !s)
    return s.error();
  const Status page = given.check.write_page(*result, before, after, derived.inputs, options, {});
  return print_found(options.json ? render(to_json(*result)) : check_text(*result),
                     reported(*result, "fuzz", {before.file, after.file}), options, page);
}

}  // namespace secequiv::cli
