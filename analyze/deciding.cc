#include "analyze/deciding.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/bpf/interpreter.h"
#include "harness/coverage/coverage.h"
#include "harness/seccomp/action.h"

namespace secequiv {

DecidingRule deciding_rule(const Source& source, const SeccompData& data) {
  if (source.policy) return deciding_rule(*source.policy, data);
  const auto& lines = source.file.lines;
  if (source.file.path.empty() || lines.size() != source.program.size()) return {};
  const Trace run = trace(source.program, data);
  const auto test = std::find_if(run.steps.rbegin(), run.steps.rend(),
                                 [](const TraceStep& step) { return step.outcome.has_value(); });
  RulePosition out{source.name, lines[run.steps.back().pc]};
  if (test != run.steps.rend())
    out.condition = fmt::format("after the test in line {}", lines[test->pc]);
  return {{}, {std::make_shared<const RulePosition>(std::move(out))}};
}

DecidingRule deciding_rule(std::span<const Source> stack, const SeccompData& data) {
  std::uint32_t result = 0;
  const Source* by = nullptr;
  for (const Source& source : stack) {
    const std::uint32_t value = run(source.program, data);
    if (by != nullptr && precedence(value) >= precedence(result)) continue;
    result = value;
    by = &source;
  }
  return by != nullptr ? deciding_rule(*by, data) : DecidingRule{};
}

}  // namespace secequiv
