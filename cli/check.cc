// `check`: runs a pair's inputs, compares the results, accounts for every edge, and proves
// equivalence.
#include "analyze/check_pair.h"
#include "cli/check_options.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/link_option.h"
#include "cli/pair_options.h"
#include "harness/base/file.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct CheckCommand {
  Options options;
  PairOptions pair;
  PairCheckOptions check;
  TargetOptions target;
  LinkOption link;
  std::string listing;
  bool traces = false;
};

Result<int> run_check(const CheckCommand& given) {
  const Options& options = given.options;
  if (auto s = keep_json_alone(options, "--listing", given.listing); !s) return s.error();
  const auto checking = given.check.check_options(options);
  if (!checking) return checking.error();
  PairNotes notes;
  const auto sides = given.pair.sides(options, given.target, notes);
  if (!sides) return sides.error();
  const auto& [before, after] = *sides;
  const auto link =
      given.link.link({&before, 1}, {&after, 1}, options, given.check.engine.assumption);
  if (!link) return link.error();
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("deriving inputs");
  const auto cases = given.pair.cases({&before, &after}, options);
  if (!cases) return cases.error();
  ticker.step("comparing and proving", options.timeout);
  auto result =
      check_pair(side_of(before), side_of(after), options.sameness(), cases->inputs, *checking);
  ticker.clear();
  if (!result) return result.error();
  result->dropped = cases->dropped;
  notes.require_loads = true;
  if (auto s = PairCheckOptions::conclude(before, after, std::move(notes), options, *result); !s)
    return s.error();
  result->all_traces = given.traces;
  Status written = Ok{};
  if (!given.listing.empty()) written = write_file(given.listing, result->listing);
  if (auto s = given.check.write_page(*result, before, after, cases->inputs, options, *link); !s)
    written = s;
  return print_found(
      options.json ? render(to_json(*result)) : check_text(*result) + link_line(*link),
      reported(*result, "check", {before.file, after.file}), options, written);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "check",
      "Test and prove two programs equivalent, or a policy and its optimized form", run_check);
  sub->add_option("input", given->pair.inputs,
                  "Programs or policies (default: a policy of gVisor); - for standard input")
      ->expected(1, 2);
  given->pair.add(*sub);
  add_listing(*sub, given->listing);
  add_trace(*sub, given->traces);
  given->target.add(*sub, false);
  given->check.add(*sub);
  given->options.add(*sub,
                     {kSandbox, kInput, kLimits, kSame, kWhole, kImport, kQuiet, kJson, kPage});
  given->link.add(*sub);
}

}  // namespace secequiv::cli
