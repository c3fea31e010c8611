// `diff`: counts all differences between two filters and describes them by readable regions.
#include "analyze/diff.h"

#include <fmt/format.h>

#include "analyze/provenance.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/expect_option.h"
#include "cli/interrupts.h"
#include "cli/link_option.h"
#include "cli/oracle_option.h"
#include "cli/reading.h"
#include "cli/report_files.h"
#include "harness/report/expectation.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

constexpr std::string_view kMoreRegions = "--max-regions";  // the option that makes the list longer

struct DiffOptions {
  Options options;
  std::string before;
  std::string after;
  EngineOptions engine;
  std::size_t max_regions = 20;
  ExpectOption expect;
  bool rules = false;
  OracleOption oracle;
  LinkOption link;
};

// Loads everything that the command line names.
Status load(const DiffOptions& given, DiffJob& job) {
  ASSIGN_OR_RETURN(auto expected, given.expect.read());
  job.expected = std::move(expected);
  ASSIGN_OR_RETURN(job.oracle, given.oracle.open());
  for (const auto& [path, into] :
       {std::pair(&given.before, &job.before), std::pair(&given.after, &job.after)}) {
    ASSIGN_OR_RETURN(auto stack, load_accepted_stack(*path, reading(given.options)));
    if (given.rules && !names_rules(stack))
      return make_error(
          ErrorCode::kUsage, "--rules",
          fmt::format("expected one policy or one program in asm form on each side, found {}",
                      stack.size() == 1
                          ? fmt::format("{0}; 'secequiv dis {0} > FILE.asm' writes that form",
                                        stack.front().title())
                          : "a stack of filters"));
    *into = {*path, std::move(stack)};
  }
  job.notes = note_pair(job.before.filters, job.after.filters, reading(given.options));
  ASSIGN_OR_RETURN(job.assumption, given.engine.parsed_assumption(given.options));
  job.assumed = given.engine.assumption;
  return Ok{};
}

// Returns whether the report needs rules. The text names rules on request; the page of two policies
// always names them.
bool needs_rules(const DiffOptions& given, const DiffJob& job) {
  const bool files = !given.options.html.empty() || given.options.wants_reports();
  return given.rules || (files && is_policy(job.before.filters) && is_policy(job.after.filters));
}

Page page_of(const DiffJob& job, const DiffReport& found) {
  std::vector<std::pair<std::string, const Source*>> sides;
  for (const auto& [role, stack] : {std::pair("before", &job.before), {"after", &job.after}})
    for (const Source& source : stack->filters) sides.emplace_back(role, &source);
  Page out = page(job, found, SECEQUIV_VERSION, kMoreRegions);
  out.provenance = provenance(sides, SECEQUIV_VERSION);
  return out;
}

Result<int> list_differences(const DiffOptions& given) {
  DiffJob job;
  RETURN_IF_ERROR(load(given, job));
  job.sameness = given.options.sameness();
  job.host = given.options.oci().arch;
  job.limits = diagram_limits(given.options);
  job.most_bytes = given.options.max_memory << 20;
  job.max_regions = given.max_regions;
  job.rules = needs_rules(given, job);
  job.whole = !given.expect.write.empty();
  ASSIGN_OR_RETURN(const auto link, given.link.link(job.before.filters, job.after.filters,
                                                    given.options, job.assumed));
  heed_interrupts();
  terminal::Ticker ticker;
  ticker.step("comparing", given.options.timeout);
  ASSIGN_OR_RETURN(auto found, diff(job));
  Status written = given.expect.store(found);
  if (!given.options.html.empty()) {
    Page page = page_of(job, found);
    page.link = link;
    if (auto s = write_html(std::move(page), given.options); !s) written = s;
  }
  const ReportedCases cases =
      reported(found, given.options.wants_reports() ? given.max_regions : 0);
  if (!given.rules) found.rules.clear();
  answer_is_known();
  return print_found(given.options.json ? render(to_json(found))
                                        : diff_text(found, kMoreRegions) + link_line(link),
                     cases, given.options, written);
}

}  // namespace

void add_diff(Commands& all) {
  const auto [sub, given] = add_command(
      all, "diff", "Describe and count every input on which two filters, policies or stacks differ",
      list_differences);
  add_filter(*sub, "before", given->before);
  add_filter(*sub, "after", given->after);
  add_max_regions(*sub, given->max_regions);
  given->expect.add(*sub);
  sub->add_flag("--rules", given->rules,
                "Explain each region, and name the rules or lines of both files that decide it");
  given->engine.add_assume(*sub);
  given->oracle.add(*sub);
  given->options.add(*sub, {kInput, kLimits, kSame, kWhole, kImport, kQuiet, kJson, kPage});
  given->link.add(*sub);
}

}  // namespace secequiv::cli
