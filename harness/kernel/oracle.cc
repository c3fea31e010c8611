#include "harness/kernel/oracle.h"

#include <algorithm>
#include <map>
#include <utility>

#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/kernel/facts.h"
#include "harness/kernel/instrument.h"
#include "harness/kernel/traced.h"

namespace secequiv::kernel {
namespace {

constexpr std::size_t kInstalledAtOnce = 64;  // programs in one request to the kernel

// The places of inputs with the same values in the fixed words, their calls, and how their program
// is rewritten.
struct Group {
  std::vector<std::size_t> members;
  std::vector<SeccompData> calls;
  Instrumented instrumented;
};

// Returns whether the kernel is not asked for this call.
bool left_out(const Entry& entry, const SeccompData& input) {
  return bypasses_filters(entry.audit, input.nr()) || sees_stack(entry.audit, input.nr());
}

// Adds what the passes of one group returned.
Status add_replies(const Group& group, std::span<const std::vector<Reply>> replies,
                   std::vector<std::uint32_t>& out) {
  const Instrumented& instrumented = group.instrumented;
  for (std::size_t p = 0; p < instrumented.passes.size(); ++p)
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Reply& reply = replies[p][m];
      std::uint32_t& value = out[group.members[m]];
      if (reply.killed) continue;
      if (instrumented.values.empty()) {
        value |= std::uint32_t{reply.number} << instrumented.passes[p].shift;
      } else if (reply.number < instrumented.values.size()) {
        value = instrumented.values[reply.number];
      } else {
        return make_error(ErrorCode::kInternal, "kernel",
                          "the instrumented filter returned an index outside of the table of "
                          "return values; please report this");
      }
    }
  return Ok{};
}

// Asks all passes of some groups in one request.
Status ask_groups(std::span<const Group> groups, const Entry& entry, Kernel& kernel,
                  std::vector<std::uint32_t>& out) {
  std::vector<Asked> asked;
  for (const Group& group : groups)
    for (const Pass& pass : group.instrumented.passes) asked.push_back({pass.program, group.calls});
  ASSIGN_OR_RETURN(const auto replies, kernel.ask(asked, entry));
  std::span<const std::vector<Reply>> rest = replies;
  for (const Group& group : groups) {
    const std::size_t passes = group.instrumented.passes.size();
    RETURN_IF_ERROR(add_replies(group, rest.first(passes), out));
    rest = rest.subspan(passes);
  }
  return Ok{};
}

// Evaluates the inputs in groups. A group has the same values in the fixed words, and the program
// is installed once for it. `calls` has one call for each input.
Result<std::vector<std::uint32_t>> evaluate_with(ProgramView program, const LoadPlan& plan,
                                                 std::span<const SeccompData> inputs,
                                                 std::span<const SeccompData> calls,
                                                 const Entry& entry, Kernel& kernel) {
  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> by_fixed;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<std::uint32_t> key;
    key.reserve(plan.fixed.size());
    for (const std::uint8_t word : plan.fixed) key.push_back(inputs[i].words[word]);
    by_fixed[key].push_back(i);
  }
  std::vector<std::uint32_t> out(inputs.size());
  for (auto next = by_fixed.begin(); next != by_fixed.end();) {
    if (next != by_fixed.begin() && stop_wanted()) return interrupted();
    std::vector<Group> groups;
    for (std::size_t installed = 0; next != by_fixed.end() && installed < kInstalledAtOnce;
         ++next) {
      ASSIGN_OR_RETURN(auto instrumented, instrument(program, plan, inputs[next->second.front()]));
      installed += instrumented.passes.size();
      Group& group = groups.emplace_back();
      group.members = std::move(next->second);
      group.instrumented = std::move(instrumented);
      group.calls.reserve(group.members.size());
      for (const std::size_t i : group.members) group.calls.push_back(calls[i]);
    }
    RETURN_IF_ERROR(ask_groups(groups, entry, kernel, out));
  }
  return out;
}

}  // namespace

Status askable(ProgramView program) {
  if (const auto refusal = refusal_of(program))
    return Error{ErrorCode::kRejected, "kernel", static_cast<std::int64_t>(refusal->pc),
                 describe(*refusal, program)};
  return has_room(program);
}

Result<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                            std::span<const SeccompData> inputs, Kernel& kernel) {
  RETURN_IF_ERROR(askable(program));
  const Entry& entry = kernel.entries().front();
  const LoadPlan plan = plan_loads(program, inputs, free_words(entry));
  std::vector<SeccompData> calls;
  calls.reserve(inputs.size());
  for (const SeccompData& input : inputs) calls.push_back(carried(input, plan, entry.harmless));
  return evaluate_with(program, plan, inputs, calls, entry, kernel);
}

SeccompData presented(const SeccompData& call, const Entry& entry,
                      std::uint64_t instruction_pointer) {
  SeccompData out = call;
  out.set_nr(number_seen(entry.audit, call.nr(), call.field(0, entry.endian)));
  out.set_arch(entry.audit);
  out.set_field(kIpField, instruction_pointer, entry.endian);
  if (entry.argument_bits == 32)
    for (int i = 0; i < kArgCount; ++i)
      out.set_field(i, argument_seen(entry.audit, call.field(i, entry.endian)), entry.endian);
  return out;
}

Result<std::vector<std::optional<std::uint32_t>>> evaluate_direct(
    ProgramView program, std::span<const SeccompData> inputs, const Entry& entry, Kernel& kernel) {
  RETURN_IF_ERROR(askable(program));
  RETURN_IF_ERROR(kernel.unfiltered());
  std::vector<SeccompData> calls;
  for (const SeccompData& input : inputs)
    if (!left_out(entry, input)) calls.push_back(input);
  ASSIGN_OR_RETURN(const auto values,
                   evaluate_with(program, direct_loads(), calls, calls, entry, kernel));
  std::vector<std::optional<std::uint32_t>> out;
  std::size_t next = 0;
  for (const SeccompData& input : inputs)
    out.push_back(left_out(entry, input) ? std::nullopt : std::optional(values[next++]));
  return out;
}

Status available(Kernel& kernel) {
  const Program program = {{kRetK, 0, 0, 0}};
  const SeccompData input{};
  const auto values = evaluate(program, {&input, 1}, kernel);
  return values ? Status(Ok{}) : Status(values.error());
}

}  // namespace secequiv::kernel
