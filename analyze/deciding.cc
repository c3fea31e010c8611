#include "analyze/deciding.h"

#include "harness/bpf/interpreter.h"
#include "harness/seccomp/action.h"

namespace secequiv {

DecidingRule deciding_rule(std::span<const Source> stack, const SeccompData& data) {
  std::uint32_t result = 0;
  const Source* by = nullptr;
  for (const Source& source : stack) {
    const std::uint32_t value = run(source.program, data);
    if (by != nullptr && precedence(value) >= precedence(result)) continue;
    result = value;
    by = &source;
  }
  return by != nullptr && by->policy ? deciding_rule(*by->policy, data) : DecidingRule{};
}

}  // namespace secequiv
