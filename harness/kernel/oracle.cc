#include "harness/kernel/oracle.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/kernel/instrument.h"

namespace secequiv::kernel {
namespace {

// This is getpid on x86_64. It never runs, because our filter returns an error. No container's
// filter forbids it.
constexpr std::uint32_t kHarmless = 39;

// Combines the results of all passes.
Result<std::vector<std::uint32_t>> values_of(const Instrumented& instrumented,
                                             std::span<const SeccompData> calls, Entry entry) {
  std::vector<std::uint32_t> out(calls.size());
  for (const Pass& pass : instrumented.passes) {
    auto traced = Traced::start(pass.program);
    if (!traced) return traced.error();
    const auto replies = (*traced)->ask(calls, entry);
    if (!replies) return replies.error();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Reply& reply = (*replies)[i];
      if (reply.killed) continue;
      if (instrumented.values.empty()) {
        out[i] |= std::uint32_t{reply.number} << pass.shift;
      } else if (reply.number < instrumented.values.size()) {
        out[i] = instrumented.values[reply.number];
      } else {
        return make_error(ErrorCode::kInternal, "kernel",
                          "the instrumented filter returned an index outside of the table of "
                          "return values; please report this");
      }
    }
  }
  return out;
}

// Precondition: all `inputs` (at least one) have the same values in the fixed words.
Result<std::vector<std::uint32_t>> evaluate_group(ProgramView program, const LoadPlan& plan,
                                                  std::span<const SeccompData> inputs) {
  const auto instrumented = instrument(program, plan, inputs.front());
  if (!instrumented) return instrumented.error();
  std::vector<SeccompData> calls;
  calls.reserve(inputs.size());
  for (const SeccompData& input : inputs) calls.push_back(carried(input, plan, kHarmless));
  return values_of(*instrumented, calls, Entry::kX86_64);
}

}  // namespace

bool is_filtered_already() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp:")) return line.find_first_of("12") != line.npos;
  return true;
}

Status askable(ProgramView program) {
  if (const auto refusal = refusal_of(program))
    return Error{ErrorCode::kRejected, "kernel", static_cast<std::int64_t>(refusal->pc),
                 describe(*refusal, program)};
  return has_room(program);
}

Result<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                            std::span<const SeccompData> inputs) {
  if (auto s = askable(program); !s) return s.error();
  const LoadPlan plan = plan_loads(program, inputs);
  if (inputs.empty()) return std::vector<std::uint32_t>{};
  if (plan.fixed.empty()) return evaluate_group(program, plan, inputs);
  // Evaluates the inputs in groups. A group has the same values in the fixed words, and the program
  // is installed once for it.
  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<std::uint32_t> key;
    key.reserve(plan.fixed.size());
    for (const std::uint8_t word : plan.fixed) key.push_back(inputs[i].words[word]);
    groups[key].push_back(i);
  }
  std::vector<std::uint32_t> out(inputs.size());
  std::vector<SeccompData> group;
  for (const auto& [key, members] : groups) {
    if (key != groups.begin()->first && stop_wanted()) return interrupted();
    group.clear();
    for (const std::size_t i : members) group.push_back(inputs[i]);
    const auto values = evaluate_group(program, plan, group);
    if (!values) return values;
    for (std::size_t m = 0; m < members.size(); ++m) out[members[m]] = (*values)[m];
  }
  return out;
}

Result<std::vector<std::optional<std::uint32_t>>> evaluate_direct(
    ProgramView program, std::span<const SeccompData> inputs, Entry entry) {
  if (auto s = askable(program); !s) return s.error();
  if (is_filtered_already())
    return make_error(ErrorCode::kUnavailable, "kernel",
                      "this process already has a seccomp filter, which may decide first");
  std::vector<SeccompData> calls;
  for (const SeccompData& input : inputs)
    if (!bypasses_filters(input, entry)) calls.push_back(input);
  const auto instrumented = instrument(program, direct_loads(), {});
  if (!instrumented) return instrumented.error();
  const auto values = values_of(*instrumented, calls, entry);
  if (!values) return values.error();
  std::vector<std::optional<std::uint32_t>> out;
  std::size_t next = 0;
  for (const SeccompData& input : inputs)
    out.push_back(bypasses_filters(input, entry) ? std::nullopt : std::optional((*values)[next++]));
  return out;
}

Status available() {
  const Program program = {{kRetK, 0, 0, 0}};
  const SeccompData input{};
  const auto values = evaluate(program, {&input, 1});
  return values ? Status(Ok{}) : Status(values.error());
}

std::string release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "";
}

bool bypasses_filters(const SeccompData& input, Entry entry) {
  return entry == Entry::kX86_64 && (input.nr() == 335 || input.nr() == 336);
}

}  // namespace secequiv::kernel
