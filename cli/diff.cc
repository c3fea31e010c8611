// `diff`: everything two filters differ in, counted and in readable regions.
#include "harness/report/diff.h"

#include <fmt/format.h>

#include "cli/engine_options.h"
#include "cli/oracle_option.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/bpf/check.h"
#include "harness/policy/json.h"
#include "harness/report/documents.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/rule.h"
#include "harness/report/text.h"
#include "verify/dd/diff.h"

namespace secequiv::cli {
namespace {

// More regions than this are not compared with an expectation, nor written as one.
constexpr std::size_t kMostExpected = 100'000;

struct DiffJob {
  Options options;
  std::string before;
  std::string after;
  EngineOptions engine;
  std::size_t max_regions = 20;
  std::string expect;
  std::string write_expect;
  bool rules = false;
  OracleOption oracle;

  [[nodiscard]] bool whole() const { return !expect.empty() || !write_expect.empty(); }
};

// Adds to every region what it means and which rules of the policies decide on its example; the
// same as text.
std::string add_rules(const DiffJob& job, const Difference& difference, const Policy& before,
                      const Policy& after, nlohmann::ordered_json& document) {
  std::string text;
  for (std::size_t i = 0; i < difference.changes.size(); ++i) {
    const Change& change = difference.changes[i];
    const std::size_t shown = std::min(job.max_regions, change.where.regions.size());
    for (std::size_t k = 0; k < shown; ++k) {
      const Region& region = change.where.regions[k];
      const SeccompData example = region.example();
      const std::string meaning = summary(change, region, job.options.oci().arch);
      const std::string was = deciding_rule(before, example);
      const std::string now = deciding_rule(after, example);
      auto& row = document["changes"][i]["regions"][k];
      row["summary"] = meaning;
      row["before_rule"] = was;
      row["after_rule"] = now;
      text += fmt::format("{}\n  before: {}\n  after:  {}\n", short_condition(meaning), was, now);
    }
    text += not_shown_text(change.where, shown, 2);
  }
  return text;
}

Status policies_only(const std::vector<Source>& stack) {
  if (stack.size() == 1 && stack[0].policy) return Ok{};
  return make_error(ErrorCode::kUsage, "--rules",
                    fmt::format("expected one policy on each side, found {}",
                                stack.size() == 1 ? stack[0].name : "a stack of filters"));
}

// All of it is in the document that is compared or written.
Status complete(const Difference& difference) {
  for (const Change& change : difference.changes) {
    if (change.computed())
      return make_error(ErrorCode::kUsage, "diff",
                        "--expect and --write-expect are for constant return values; a program "
                        "computes one from the input (RET A)");
    if (!change.where.is_all(change.where.regions.size()))
      return make_error(ErrorCode::kBudget, "diff",
                        fmt::format("{} regions are too many for --expect and --write-expect, "
                                    "which take {} for each change",
                                    change.where.region_count, kMostExpected));
  }
  return Ok{};
}

Result<nlohmann::ordered_json> expectation(const DiffJob& job) {
  auto text = read_input(job.expect);
  if (!text) return text.error();
  return read_expectation(*text, shown_name(job.expect));
}

int compare(const DiffJob& job, const nlohmann::ordered_json& expected,
            const nlohmann::ordered_json& found, const std::optional<OracleReport>& said,
            bool nothing_differs) {
  const std::string name = shown_name(job.expect);
  const auto lines = unexpected(expected, name, found);
  if (!lines) return report(lines.error(), job.options);
  const AskedProgram* const not_asked = said && !nothing_differs ? said->not_asked() : nullptr;
  const Verdict verdict = !lines->empty() ? Verdict::kFail
                          : not_asked     ? Verdict::kUnknown
                                          : Verdict::kPass;
  ReportedCases cases{"diff",
                      fmt::format("{}, {}", job.before, job.after),
                      verdict,
                      exit_code(verdict),
                      fmt::format("compared with {}", name),
                      {}};
  cases.file = job.expect;
  for (const std::string& line : *lines) {
    ReportedCase& one = cases.cases.emplace_back("difference", ReportedCase::State::kFail, line);
    one.name = fmt::format("{}", cases.cases.size());
  }
  if (said) add_oracle(cases, *said);
  conclude(cases);
  if (job.options.json) {
    nlohmann::ordered_json out = found;
    out["verdict"] = verdict_name(verdict);
    out["unexpected"] = *lines;
    if (said) out["oracle"] = to_json(*said);
    return print_found(render(out), cases, job.options);
  }
  std::string out;
  for (const std::string& line : *lines) out += line + "\n";
  if (said) out += oracle_text(*said);
  if (verdict == Verdict::kUnknown)
    out +=
        fmt::format("unknown: the difference is the expected one, but {} was not asked about {}\n",
                    said->who, not_asked->name);
  else
    out += lines->empty() ? "pass: the difference is the expected one\n"
                          : fmt::format("fail: {} region{} not as {} says\n", lines->size(),
                                        lines->size() == 1 ? " is" : "s are", name);
  return print_found(out, cases, job.options);
}

// An input of each region listed.
std::vector<SeccompData> examples(const Difference& difference) {
  std::vector<SeccompData> out;
  for (const Change& change : difference.changes)
    for (const Region& region : change.where.regions) out.push_back(region.example());
  return out;
}

int diff(const DiffJob& job) {
  if (!job.expect.empty() && !job.write_expect.empty())
    return report(make_error(ErrorCode::kUsage, "--write-expect",
                             "expected without --expect: what was agreed on is not replaced in "
                             "the run that compares with it"),
                  job.options);
  if (job.write_expect == "-")
    return report(make_error(ErrorCode::kUsage, "--write-expect",
                             "expected a file, found '-': standard output has the report, with "
                             "--json in the same form"),
                  job.options);
  nlohmann::ordered_json expected;
  if (!job.expect.empty()) {
    auto read = expectation(job);
    if (!read) return report(read.error(), job.options);
    expected = std::move(*read);
  }
  const auto oracle = job.oracle.open();
  if (!oracle) return report(oracle.error(), job.options);
  auto before = load_accepted_stack(job.before, job.options);
  if (!before) return report(before.error(), job.options);
  auto after = load_accepted_stack(job.after, job.options);
  if (!after) return report(after.error(), job.options);
  if (job.rules)
    for (const std::vector<Source>* stack : {&*before, &*after})
      if (auto s = policies_only(*stack); !s) return report(s.error(), job.options);
  Question question;
  question.before = views(*before);
  question.after = views(*after);
  question.sameness = job.options.sameness();
  if (auto s = job.engine.assume(job.options, question); !s) return report(s.error(), job.options);
  heed_interrupts();
  Ticker ticker;
  ticker.step("comparing");
  auto found =
      dd::diff(question, job.whole() ? kMostExpected : job.max_regions, job.engine.limits());
  if (!found) return report(found.error(), job.options);
  if (job.whole())
    if (auto s = complete(*found); !s) return report(s.error(), job.options);
  const auto said = ask(*oracle, *before, *after, examples(*found));
  if (!said) return report(said.error(), job.options);
  const bool doubt = *said && (*said)->in_doubt();
  const Arch host = job.options.oci().arch;
  if (job.whole() && !doubt) {
    const auto document = to_json(*found, question, kMostExpected, host);
    if (!job.write_expect.empty())
      if (auto s = write_file(job.write_expect, render(document)); !s)
        return report(s.error(), job.options);
    if (!job.expect.empty()) return compare(job, expected, document, *said, found->changes.empty());
  }
  const Verdict verdict = doubt                    ? Verdict::kFail
                          : found->changes.empty() ? Verdict::kEquivalent
                                                   : Verdict::kDifferent;
  auto shown = to_json(*found, question, job.max_regions, host);
  std::string text =
      job.rules ? add_rules(job, *found, *before->front().policy, *after->front().policy, shown)
                : diff_text(*found, job.max_regions, host);
  if (*said) {
    shown["oracle"] = to_json(**said);
    if (doubt) shown["verdict"] = verdict_name(verdict);
    text += oracle_text(**said);
  }
  // A row for each region, with traces, is more than the regions themselves.
  ReportedCases cases = reported(
      *found, question, verdict, fmt::format("{}, {}", job.before, job.after),
      side_files(*before, *after), job.options.wants_reports() ? job.max_regions : 0, host);
  if (*said) add_oracle(cases, **said);
  conclude(cases);
  if (job.options.json) return print_found(render(shown), cases, job.options);
  if (doubt) return print_found(text + doubt_text(**said), cases, job.options);
  return print_found(assuming_text(question) + text + differ_text(verdict, *found), cases,
                     job.options);
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "diff", "Describe and count every input on which two filters, policies or stacks differ");
  auto job = std::make_shared<DiffJob>();
  sub->add_option("before", job->before, "Program in any form, or a policy; several with commas")
      ->required();
  sub->add_option("after", job->after, "Program in any form, or a policy; several with commas")
      ->required();
  sub->add_option("--max-regions", job->max_regions,
                  "List at most this many regions; counts stay complete")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  sub->add_option(
      "--expect", job->expect,
      "Pass if the difference equals this stored one, else list new (+) and missing (-)");
  sub->add_option("--write-expect", job->write_expect, "Store the difference for --expect");
  sub->add_flag("--rules", job->rules,
                "Explain each region, and name the rules of both policies that decide it");
  job->engine.add_assume(*sub);
  job->engine.add_memory(*sub);
  job->oracle.add(*sub);
  job->options.add_input(*sub);
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  job->options.add_reports(*sub);
  sub->callback([job, &context] { context.status = diff(*job); });
}

}  // namespace secequiv::cli
