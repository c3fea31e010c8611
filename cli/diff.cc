// `diff`: every difference between two filters, counted and in readable regions.
#include "analyze/diff.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/inputs.h"
#include "cli/oracle_option.h"
#include "cli/progress.h"
#include "cli/provenance.h"
#include "harness/base/file.h"
#include "harness/report/diff_page.h"
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

// Loads everything that the command line names.
Status load(const DiffOptions& given, DiffJob& job) {
  if (!given.expect.empty() && !given.write_expect.empty())
    return make_error(ErrorCode::kUsage, "--write-expect",
                      "expected one of --expect and --write-expect: one run cannot compare with a "
                      "stored difference and replace it");
  if (given.write_expect == "-")
    return make_error(ErrorCode::kUsage, "--write-expect",
                      "expected a file, found '-': the report goes to standard output; --json "
                      "prints it in the form of this file");
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
  if (job.before.filters.size() == 1 && job.after.filters.size() == 1)
    note_swapped(job.before.filters.front(), job.after.filters.front());
  auto assumption = given.engine.parsed_assumption(given.options);
  if (!assumption) return assumption.error();
  job.assumption = std::move(*assumption);
  return Ok{};
}

// Returns whether the page can name rules: it does so for two policies, even if the text does not.
bool names_rules(const DiffOptions& given, const DiffJob& job) {
  const auto policy = [](const Stack& stack) {
    return stack.filters.size() == 1 && stack.filters.front().policy.has_value();
  };
  return given.rules || (!given.options.html.empty() && policy(job.before) && policy(job.after));
}

Status write_page(const DiffOptions& given, const DiffJob& job, const DiffReport& found) {
  if (given.options.html.empty()) return Ok{};
  Page page = diff_page(found);
  page.command = given.options.command;
  page.version = SECEQUIV_VERSION;
  page.sides[0].side.name = job.before.name;
  page.sides[1].side.name = job.after.name;
  std::vector<std::pair<std::string, const Source*>> sides;
  sides.reserve(job.before.filters.size() + job.after.filters.size());
  for (const Source& source : job.before.filters) sides.emplace_back("before", &source);
  for (const Source& source : job.after.filters) sides.emplace_back("after", &source);
  page.provenance = provenance(sides);
  page.options = options_of(*given.options.declared_by);
  return write_file(given.options.html, html(page));
}

Result<int> list_differences(const DiffOptions& given) {
  DiffJob job;
  if (auto s = load(given, job); !s) return s.error();
  job.sameness = given.options.sameness();
  job.host = given.options.oci().arch;
  job.limits = given.engine.limits();
  job.limits.seconds = given.options.timeout;
  job.most_bytes = given.engine.max_memory << 20;
  job.max_regions = given.max_regions;
  job.rules = names_rules(given, job);
  job.whole = !given.write_expect.empty();
  heed_interrupts();
  Ticker ticker;
  ticker.step("comparing", given.options.timeout);
  auto found = diff(job);
  if (!found) return found.error();
  if (job.whole && found->verdict != Verdict::kFail)
    if (auto s = write_file(given.write_expect, render(stored_json(*found))); !s) return s.error();
  if (auto s = write_page(given, job, *found); !s) return s.error();
  if (!given.rules) found->rules.clear();
  answer_is_known();
  return print_found(
      given.options.json ? render(to_json(*found)) : diff_text(*found, "--max-regions"),
      reported(*found, given.options.wants_reports() ? given.max_regions : 0), given.options);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  const auto [sub, given] =
      add_command(app, context, "diff",
                  "Describe and count every input on which two filters, policies or stacks differ",
                  list_differences);
  add_filter(*sub, "before", given->before);
  add_filter(*sub, "after", given->after);
  add_max_regions(*sub, given->max_regions);
  sub->add_option("--expect", given->expect,
                  "Compare with this stored difference, and list new (+) and missing (-) lines");
  sub->add_option("--write-expect", given->write_expect, "Store the difference for --expect");
  sub->add_flag("--rules", given->rules,
                "Explain each region, and name the rules of both policies that decide it");
  given->engine.add_assume(*sub);
  given->engine.add_memory(*sub);
  given->oracle.add(*sub);
  given->options.add(*sub, {kInput, kTimeout, kSame, kImport, kQuiet, kJson, kPage});
}

}  // namespace secequiv::cli
