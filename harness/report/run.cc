#include "harness/report/run.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

std::string result_text(std::uint32_t result) {
  return fmt::format("{:#010x} {}\n", result, describe_action(result));
}

// A filter, with or without its steps.
struct ShownTrace {
  const RunReport::Filter& filter;
  bool steps;
};

void describe(Fields<ShownTrace>& filter) {
  filter(
      "steps", "With --trace: the instructions executed.",
      [](const ShownTrace& it) {
        return it.steps ? std::optional(it.filter.trace.steps) : std::nullopt;
      },
      list_of<TraceStep>(1));
  filter("result", "The filter's own value.",
         [](const ShownTrace& it) { return ShownValue{it.filter.trace.result}; });
  filter("name", "Where it came from.", [](const ShownTrace& it) { return it.filter.name; });
}

}  // namespace

std::string run_text(const RunReport& report) {
  std::string out = describe(report.data) + "\n";
  if (!report.possible.empty())
    return fmt::format("{}{}\n{}", out, kDependsOnArguments, others_text(report.possible));
  for (const RunReport::Filter& filter : report.filters) {
    if (report.steps) out += filter.name + "\n" + trace_text(filter.program, filter.trace);
    if (report.filters.size() > 1) out += filter.name + ": " + result_text(filter.trace.result);
  }
  out += result_text(report.result);
  if (report.oracle) out += oracle_text(*report.oracle);
  return report.verdict() == Verdict::kFail ? out + doubt_text(*report.oracle) : out;
}

void describe(Fields<RunReport>& report) {
  report.document("run", 1, "secequiv run --json",
                  "The results of one system call in each filter and in the whole stack.");
  report("data", "The input.", &RunReport::data);
  report(
      "possible",
      "Present if the call is from an audit record, which has no arguments, and the result "
      "depends on the arguments: every possible result, the loosest first.",
      [](const RunReport& it) { return unless_empty(it.possible); }, list_of<WhyReport::Other>(2));
  report.only_if([](const RunReport& it) { return it.possible.empty(); });
  report(
      "filters", "Newest first.",
      [](const RunReport& it) {
        std::vector<ShownTrace> out;
        out.reserve(it.filters.size());
        for (const RunReport::Filter& one : it.filters) out.push_back({one, it.steps});
        return out;
      },
      list_of<ShownTrace>(1));
  report("result", "The return value that the kernel applies.",
         [](const RunReport& it) { return ShownValue{it.result}; });
  report(
      "verdict", "With --oracle. Exit status: 0, or 1 if the oracle contradicts our interpreter.",
      [](const RunReport& it) {
        return it.oracle ? std::optional(verdict_name(it.verdict())) : std::nullopt;
      },
      words({"pass", "fail"}));
  report("oracle", "", &RunReport::oracle);
  if (!report.for_schema()) return;
  report.rule(has({"possible"}), lacks({"filters", "result"}), has({"filters", "result"}));
  report.always(together({"verdict", "oracle"}));
  report.rule(is_in_doubt(), is("verdict", "fail"), is("verdict", "pass"));
}

}  // namespace secequiv
