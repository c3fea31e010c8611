#include "analyze/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/base/text.h"

namespace secequiv {
namespace {

using enum VersionState;

bool fails(const HuntReport& report) {
  return std::ranges::any_of(report.findings, [](const Finding& one) { return one.failure; });
}

class Bisection {
 public:
  Bisection(const std::vector<std::string>& versions, const BisectTools& tools) : tools_(tools) {
    for (const std::string& version : versions)
      report_.versions.push_back({version, kUntried, {}, {}});
  }

  Result<BisectReport> run() {
    for (;;) {
      while (const auto next = to_try()) {
        if (stopped()) break;
        RETURN_IF_ERROR(try_version(*next));
      }
      if (stopped() || !first()) break;
      ASSIGN_OR_RETURN(const auto corrected, compare_with_first());
      if (!corrected) break;
    }
    conclude();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool stopped() const { return tools_.stop && tools_.stop(); }
  [[nodiscard]] VersionState state(std::size_t i) const { return report_.versions[i].state; }

  [[nodiscard]] std::optional<std::size_t> first() const {
    for (std::size_t i = 0; i < report_.versions.size(); ++i)
      if (state(i) == kFinding) return i;
    return {};
  }
  [[nodiscard]] std::optional<std::size_t> last_pass(std::size_t before) const {
    for (std::size_t i = before; i-- > 0;)
      if (state(i) == kPass) return i;
    return {};
  }

  // Returns the version to try next: first the newest that can be tried, then the oldest, then one
  // near the middle between the last that passes and the first with a finding.
  [[nodiscard]] std::optional<std::size_t> to_try() const {
    const std::size_t count = report_.versions.size();
    std::size_t newest = count;
    while (newest > 0 && state(newest - 1) == kSkipped) --newest;
    if (newest == 0) return {};
    if (state(newest - 1) == kUntried) return newest - 1;
    std::size_t oldest = 0;
    while (state(oldest) == kSkipped) ++oldest;
    if (state(oldest) == kUntried) return oldest;
    const auto end = first();
    if (!end || *end == oldest) return {};
    const std::size_t begin = last_pass(*end).value_or(oldest);
    const std::size_t middle = (begin + *end) / 2;
    std::optional<std::size_t> best;
    const auto distance = [&](std::size_t i) { return i < middle ? middle - i : i - middle; };
    for (std::size_t i = begin + 1; i < *end; ++i)
      if (state(i) == kUntried && (!best || distance(i) < distance(*best))) best = i;
    return best;
  }

  Result<Ok> try_version(std::size_t i) {
    VersionAnswer& answer = report_.versions[i];
    if (tools_.progress) tools_.progress(answer.version);
    ASSIGN_OR_RETURN(const auto obstacle, tools_.start(answer.version));
    if (stopped()) return Ok{};
    if (!obstacle.empty()) return skip(answer, obstacle);
    for (std::size_t known = findings_.size(); known-- > 0;) {
      auto report = tools_.hunt(&findings_[known]);
      if (!report) return give_up(answer, report.error());
      shown_[{i, known}] = fails(*report);
      if (!fails(*report)) continue;
      set_found(i, known, std::move(*report));
      return Ok{};
    }
    auto report = tools_.hunt(nullptr);
    if (!report) return give_up(answer, report.error());
    if (fails(*report)) {
      const std::size_t number = findings_.size();
      findings_.push_back(report->findings.front());
      shown_[{i, number}] = true;
      set_found(i, number, std::move(*report));
    } else if (report->verdict == Verdict::kPass) {
      answer.state = kPass;
      answer.reason = report->reason;
    } else if (!report->interrupted) {
      return skip(answer, report->reason);
    }
    return Ok{};
  }

  void set_found(std::size_t i, std::size_t number, HuntReport report) {
    report_.versions[i].state = kFinding;
    report_.versions[i].reason = report.reason;
    number_[i] = number;
    reports_.insert_or_assign(i, std::move(report));
  }

  static Result<Ok> skip(VersionAnswer& answer, const std::string& why) {
    answer.state = kSkipped;
    answer.reason = why;
    return Ok{};
  }
  static Result<Ok> give_up(VersionAnswer& answer, const Error& error) {
    if (error.code != ErrorCode::kAdapter) return error;
    return skip(answer, error.detail);
  }

  // Sends the failing program of the first version with a finding to all versions that were tried
  // without it. Returns whether an older version fails, too, although fuzzing found nothing there.
  Result<bool> compare_with_first() {
    const std::size_t at = *first();
    const std::size_t number = number_.at(at);
    if (findings_[number].subject.before.empty()) return false;
    bool corrected = false;
    for (std::size_t i = 0; i < report_.versions.size() && !stopped(); ++i) {
      const bool tried = state(i) == kPass || state(i) == kFinding;
      if (!tried || shown_.contains({i, number})) continue;
      if (tools_.progress) tools_.progress(report_.versions[i].version);
      ASSIGN_OR_RETURN(const auto obstacle, tools_.start(report_.versions[i].version));
      if (!obstacle.empty()) continue;
      auto report = tools_.hunt(&findings_[number]);
      if (!report && report.error().code != ErrorCode::kAdapter) return report.error();
      if (!report) continue;
      shown_[{i, number}] = fails(*report);
      if (!fails(*report) || state(i) == kFinding) continue;
      set_found(i, number, std::move(*report));
      corrected = corrected || i < at;
    }
    return corrected;
  }

  void conclude() {
    report_.first = first();
    if (report_.first) return conclude_found();
    const VersionAnswer& newest = report_.versions.back();
    const auto tried = last_pass(report_.versions.size());
    if (stopped()) {
      report_.reason = "interrupted before a version showed a finding";
    } else if (newest.state == kPass) {
      report_.verdict = Verdict::kPass;
      report_.reason =
          fmt::format("no version that was tried has a finding; {} is the newest", newest.version);
    } else {
      report_.reason = tried ? fmt::format("no finding up to {}, but newer versions were skipped",
                                           report_.versions[*tried].version)
                             : "no version could be tried";
    }
  }

  void conclude_found() {
    const std::size_t at = *report_.first;
    const std::size_t number = number_.at(at);
    report_.last_pass = last_pass(at);
    report_.found = std::move(reports_.at(at));
    report_.verdict = report_.found->verdict;
    for (std::size_t i = 0; i < report_.versions.size(); ++i)
      if (const auto shown = shown_.find({i, number}); shown != shown_.end())
        report_.versions[i].same_finding = shown->second;
    note_doubts();
    const std::string& version = report_.versions[at].version;
    report_.reason = fmt::format("{} is the first version with a finding", version);
    if (report_.last_pass)
      report_.reason +=
          fmt::format(", {} the last without", report_.versions[*report_.last_pass].version);
    report_.reason += ": " + report_.found->reason;
  }

  // Adds a note for each reason to doubt the result of the bisection.
  void note_doubts() {
    const std::size_t at = *report_.first;
    const auto names = [this](std::size_t from, std::size_t to, auto wanted) {
      std::string out;
      for (std::size_t i = from; i < to; ++i)
        if (wanted(report_.versions[i]))
          out += (out.empty() ? "" : ", ") + report_.versions[i].version;
      return out;
    };
    const auto add = [this](const std::string& versions, std::string_view text) {
      if (!versions.empty()) report_.notes.push_back(fmt::format("{}: {}", versions, text));
    };
    const std::size_t after_pass = report_.last_pass ? *report_.last_pass + 1 : 0;
    const std::size_t end = report_.versions.size();
    add(names(after_pass, at, [](const auto& one) { return one.state == kSkipped; }),
        "skipped, so the first version with a finding may be among these");
    add(names(after_pass, at, [](const auto& one) { return one.state == kUntried; }),
        "interrupted before these versions were tried");
    add(names(at, end, [](const auto& one) { return one.state == kPass; }),
        "newer, but without a finding: the history is not monotone");
    add(names(at, end,
              [](const auto& one) {
                return one.state == kFinding && one.same_finding == std::optional(false);
              }),
        "newer, with another finding, but without this one: the history is not monotone");
  }

  const BisectTools& tools_;
  BisectReport report_;
  std::vector<Finding> findings_;              // the distinct findings of all versions
  std::map<std::size_t, std::size_t> number_;  // by version: the index of its finding in findings_
  std::map<std::size_t, HuntReport> reports_;  // by version: the report of its fuzzing
  std::map<std::pair<std::size_t, std::size_t>, bool> shown_;  // by version and finding
};

}  // namespace

Result<BisectReport> bisect(const std::vector<std::string>& versions, const BisectTools& tools) {
  return Bisection(versions, tools).run();
}

}  // namespace secequiv
