// `diff`: everything two filters differ in, counted and in readable regions.
#include "analyze/diff.h"

#include <fmt/format.h>

#include "cli/engine_options.h"
#include "cli/oracle_option.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/report/expectation.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct DiffOptions {
  Options options;
  std::string before;
  std::string after;
  EngineOptions engine;
  std::size_t max_regions = 20;
  std::string expect;
  std::string write_expect;
  bool rules = false;
  OracleOption oracle;
};

// Everything that the command line names.
Status load(const DiffOptions& given, DiffJob& job) {
  if (!given.expect.empty() && !given.write_expect.empty())
    return make_error(ErrorCode::kUsage, "--write-expect",
                      "expected without --expect: the run that compares with a stored difference "
                      "does not replace it");
  if (given.write_expect == "-")
    return make_error(ErrorCode::kUsage, "--write-expect",
                      "expected a file, found '-': standard output has the report, with --json in "
                      "the same form");
  if (!given.expect.empty()) {
    const auto text = read_input(given.expect);
    if (!text) return text.error();
    auto document = read_expectation(*text, shown_name(given.expect));
    if (!document) return document.error();
    job.expected = {shown_name(given.expect), std::move(*document)};
  }
  auto oracle = given.oracle.open();
  if (!oracle) return oracle.error();
  job.oracle = std::move(*oracle);
  for (const auto& [path, into] :
       {std::pair(&given.before, &job.before), std::pair(&given.after, &job.after)}) {
    auto stack = load_accepted_stack(*path, given.options);
    if (!stack) return stack.error();
    const bool single = stack->size() == 1;
    if (given.rules && !(single && stack->front().policy))
      return make_error(ErrorCode::kUsage, "--rules",
                        fmt::format("expected one policy on each side, found {}",
                                    single ? stack->front().name : "a stack of filters"));
    *into = {*path, std::move(*stack)};
  }
  Question question;
  if (auto s = given.engine.assume(given.options, question); !s) return s;
  job.assumption = std::move(question.assumption);
  return Ok{};
}

int list_differences(const DiffOptions& given) {
  DiffJob job;
  if (auto s = load(given, job); !s) return report(s.error(), given.options);
  job.sameness = given.options.sameness();
  job.host = given.options.oci().arch;
  job.limits = given.engine.limits();
  job.max_regions = given.max_regions;
  job.rules = given.rules;
  job.whole = !given.write_expect.empty();
  heed_interrupts();
  Ticker ticker;
  ticker.step("comparing");
  const auto found = diff(job);
  if (!found) return report(found.error(), given.options);
  if (job.whole && found->verdict != Verdict::kFail)
    if (auto s = write_file(given.write_expect, render(stored_json(*found))); !s)
      return report(s.error(), given.options);
  return print_found(
      given.options.json ? render(to_json(*found)) : diff_text(*found, "--max-regions"),
      reported(*found, given.options.wants_reports() ? given.max_regions : 0), given.options);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "diff", "Describe and count every input on which two filters, policies or stacks differ");
  auto given = std::make_shared<DiffOptions>();
  sub->add_option("before", given->before, "Program in any form, or a policy; several with commas")
      ->required();
  sub->add_option("after", given->after, "Program in any form, or a policy; several with commas")
      ->required();
  sub->add_option("--max-regions", given->max_regions,
                  "List at most this many regions; counts stay complete")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  sub->add_option(
      "--expect", given->expect,
      "Pass if the difference equals this stored one, else list new (+) and missing (-)");
  sub->add_option("--write-expect", given->write_expect, "Store the difference for --expect");
  sub->add_flag("--rules", given->rules,
                "Explain each region, and name the rules of both policies that decide it");
  given->engine.add_assume(*sub);
  given->engine.add_memory(*sub);
  given->oracle.add(*sub);
  given->options.add_input(*sub);
  given->options.add_same(*sub);
  given->options.add_import(*sub);
  given->options.add_quiet(*sub);
  given->options.add_json(*sub);
  given->options.add_reports(*sub);
  sub->callback([given, &context] { context.status = list_differences(*given); });
}

}  // namespace secequiv::cli
