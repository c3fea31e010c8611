#include "analyze/direction.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/base/interrupt.h"
#include "harness/report/direction.h"
#include "verify/dd/direction.h"

namespace secequiv {
namespace {

// Returns a smaller input with exactly the same decisions of both sides.
Witness smaller(const Question& question, const Witness& witness) {
  return minimize(witness, [&](const SeccompData& data) -> std::optional<Witness> {
    const auto found = replay(question, data);
    if (!found || found->before != witness.before || found->after != witness.after) return {};
    return found;
  });
}

}  // namespace

Result<Direction> find_direction(const Question& question, Arch host, const dd::Limits& limits,
                                 std::span<const SeccompData> inputs) {
  auto found = dd::direction(question, host, limits);
  if (found || found.error().code != ErrorCode::kBudget) return found;
  Question same = question;
  same.goal = Question::Goal::kSame;
  std::vector<Witness> witnesses;
  std::size_t steps = 0;
  for (const auto* side : {&same.before, &same.after})
    for (const ProgramView program : *side) steps += program.size();
  const std::size_t between = between_looks(steps);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i % between == 0 && stop_wanted()) i = inputs.size() - 1;  // the caller's witness
    if (auto witness = replay(same, inputs[i])) witnesses.push_back(*witness);
  }
  Direction out = direction_of(witnesses);
  if (out.example) out.example = smaller(same, *out.example);
  return out;
}

Status add_directions(HuntReport& report, Sameness sameness, Arch host) {
  report.host = host;
  for (Finding& finding : report.findings) {
    if (finding.kind != FindingKind::kDifferent || !finding.after || !finding.witness) continue;
    const Pair pair{finding.subject.before, *finding.after, sameness};
    auto found = find_direction(Question(pair), host, {}, {&finding.witness->data, 1});
    if (!found) return found.error();
    finding.direction = std::move(*found);
  }
  std::ranges::sort(report.findings, {}, [](const Finding& finding) {
    const bool known = finding.direction && finding.direction->example;
    return std::tuple(!finding.failure, finding.kind,
                      known ? kind_of(*finding.direction->example) : Direction::Kind::kChanged,
                      finding.trial);
  });
  const Finding* first = report.findings.empty() ? nullptr : &report.findings.front();
  if (report.verdict == Verdict::kDifferent && first != nullptr && first->direction)
    report.reason = became_text(*first->witness);
  return Ok{};
}

}  // namespace secequiv
