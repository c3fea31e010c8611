#include "harness/report/sarif.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;
using State = ReportedCase::State;

constexpr std::size_t kInsnBytes = sizeof(Insn);

// Returns whether a character stands for itself in a URI. RFC 3986 requires %XX for all others.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

ordered_json artifact(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path)
    uri += is_plain(c)
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  ordered_json out{{"uri", uri}};
  if (!path.starts_with('/')) out["uriBaseId"] = "%SRCROOT%";
  return out;
}

// Returns an array with one element. A list in braces would copy the element.
ordered_json only(ordered_json element) {
  auto out = ordered_json::array();
  out.push_back(std::move(element));
  return out;
}

ordered_json location(const ReportedCase::Place& place) {
  ordered_json out = ordered_json::object();
  if (!place.path.empty()) {
    ordered_json physical{{"artifactLocation", artifact(place.path)}};
    if (place.pc && place.raw)
      physical["region"] = {{"byteOffset", *place.pc * kInsnBytes}, {"byteLength", kInsnBytes}};
    else if (place.line)
      physical["region"] = {{"startLine", *place.line}};
    out["physicalLocation"] = std::move(physical);
  }
  if (place.pc)
    out["logicalLocations"] =
        only(ordered_json{{"name", fmt::format("instruction {}", *place.pc)}, {"kind", "element"}});
  return out;
}

ordered_json thread_flow(const std::string& id, const std::vector<ReportedCase::Step>& steps) {
  ordered_json out{{"id", id}, {"locations", ordered_json::array()}};
  for (const ReportedCase::Step& step : steps) {
    ordered_json at = location(step.place);
    at["message"] = {{"text", step.message}};
    out["locations"].push_back({{"location", std::move(at)}});
  }
  return out;
}

std::size_t rule_index(const std::string& id) {
  const auto rules = case_kinds();
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (rules[i].id == id) return i;
  return rules.size();
}

ordered_json result(const ReportedCases& report, const ReportedCase& one) {
  ordered_json out{{"ruleId", one.kind}};
  if (const std::size_t index = rule_index(one.kind); index < case_kinds().size())
    out["ruleIndex"] = index;
  out["level"] = one.state == State::kFail && !one.only_stricter ? "error" : "warning";
  std::string text = one.state == State::kUnknown ? "not decided: " : "";
  text += printable(one.message, true);
  if (!one.detail.empty()) text += "\n" + printable(one.detail, true);
  out["message"] = {{"text", text}};
  // Code scanning services refuse a whole file if one result has no physical location.
  ReportedCase::Place place = one.place.value_or(ReportedCase::Place{});
  if (place.path.empty()) place.path = report.file.empty() ? "secequiv" : report.file;
  out["locations"] = only(location(place));
  if (one.before) {
    ordered_json at = location(*one.before);
    at["id"] = 1;
    at["message"] = {{"text", "the first program or policy decides differently here"}};
    out["relatedLocations"] = only(std::move(at));
  }
  if (one.traces.size() == 2) {
    ordered_json flow{{"message", {{"text", "the instructions that both programs execute"}}},
                      {"threadFlows", ordered_json::array()}};
    flow["threadFlows"].push_back(thread_flow("before", one.traces[0]));
    flow["threadFlows"].push_back(thread_flow("after", one.traces[1]));
    out["codeFlows"] = only(std::move(flow));
  }
  const std::string print =
      fmt::format("{}\n{}\n{}\n{}", report.command, report.subject, one.kind, one.name);
  out["partialFingerprints"] = {{"secequiv/v1", fmt::format("{:016x}", hash_of(print))}};
  if (one.witness) out["properties"] = {{"witness", to_json(*one.witness)}};
  return out;
}

}  // namespace

std::string sarif(const ReportedCases& report, std::string_view version) {
  ordered_json rules = ordered_json::array();
  for (const CaseKind& kind : case_kinds())
    rules.push_back({{"id", kind.id},
                     {"name", kind.id},
                     {"shortDescription", {{"text", kind.title}}},
                     {"fullDescription", {{"text", kind.text}}}});
  ordered_json results = ordered_json::array();
  ordered_json notifications = ordered_json::array();
  for (const ReportedCase& one : report.cases) {
    if (one.state == State::kPass || one.state == State::kSkipped) continue;
    results.push_back(result(report, one));
    if (!report.completed)
      notifications.push_back(
          {{"level", "error"}, {"message", {{"text", printable(one.message, true)}}}});
  }
  ordered_json invocation{{"executionSuccessful", report.completed},
                          {"exitCode", report.exit_status},
                          {"exitCodeDescription", report.limited_verdict()}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = std::move(notifications);
  ordered_json properties{{"verdict", report.verdict_text()},
                          {"reason", printable(report.limited_reason(), true)},
                          {"subject", printable(report.subject, true)}};
  if (!report.holds_for.empty()) properties["holdsFor"] = printable(report.holds_for, true);
  ordered_json run{
      {"tool",
       {{"driver",
         {{"name", "secequiv"}, {"semanticVersion", version}, {"rules", std::move(rules)}}}}},
      {"automationDetails", {{"id", fmt::format("secequiv/{}/", report.command)}}},
      {"invocations", only(std::move(invocation))},
      {"originalUriBaseIds",
       {{"%SRCROOT%", {{"description", {{"text", "the working directory of secequiv"}}}}}}},
      {"columnKind", "utf16CodeUnits"},
      {"results", std::move(results)},
      {"properties", std::move(properties)}};
  return render({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", only(std::move(run))}});
}

}  // namespace secequiv
