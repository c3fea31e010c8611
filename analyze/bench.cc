#include "analyze/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/kernel/facts.h"
#include "harness/kernel/slice.h"

namespace secequiv {
namespace {

using kernel::TimedCall;
using kernel::Variant;

constexpr std::size_t kDeepest = 4;
constexpr std::size_t kBatches = 400;  // approximate number of batches in a sample

bool is_allowed(const std::vector<ProgramView>& filters, const SeccompData& call) {
  return action_of(run_stack(filters, call)) == SECCOMP_RET_ALLOW;
}

// Explains why no call of the profile remains.
Error no_calls(const BenchJob& job) {
  constexpr std::string_view kSafe =
      "calls that do nothing (getpid, getppid, getuid, geteuid, getgid, getegid, gettid)";
  if (!job.timing.real)
    return usage_error(
        Subject::kProfile,
        "the kernel runs no filter for any of these calls, so there is nothing to time");
  const bool has_some = std::ranges::any_of(job.profile, [](const SyscallCount& count) {
    const auto nr = profile_nr(kTimedArch, count.name);
    return nr && count.calls > 0 && kernel::is_safe({*nr});
  });
  return usage_error(
      Subject::kRealCalls,
      has_some
          ? fmt::format("the first filter allows none of the profile's {}", kSafe)
          : fmt::format("expected a profile that has some of the {}, found none of them", kSafe));
}

// Returns a program that the kernel accepts. Instructions that `calls` do not execute are removed
// if the program is too long.
Result<Program> installable(const Source& source, const std::vector<TimedCall>& calls) {
  if (source.program.size() <= kMaxInsns) return source.program;
  std::vector<SeccompData> inputs;
  inputs.reserve(calls.size());
  for (const TimedCall& call : calls) inputs.push_back(call.input);
  Program part = kernel::executed_part(source.program, inputs);
  if (refusal_of(part))
    return make_error(ErrorCode::kRejected, source.title(),
                      fmt::format("the kernel refuses this filter of {} instructions, and also a "
                                  "filter of only the {} that the calls execute",
                                  source.program.size(), counted(part.size(), "instruction")));
  return part;
}

// Checks that the program has room for additional instructions. A filter below others needs them,
// because they permit installing the others.
Status fits_below(const std::string& name, const Program& program) {
  constexpr std::size_t kMost = kMaxInsns - kernel::kAddedBelow;
  if (program.size() <= kMost) return Ok{};
  return make_error(ErrorCode::kRejected, name,
                    fmt::format("expected at most {} instructions in a filter that others are "
                                "stacked on, because bench adds {} that permit installing the "
                                "others; found {}",
                                kMost, kernel::kAddedBelow, program.size()));
}

Result<Variant> variant_of(const std::vector<Source>& stack, bool below,
                           const std::vector<TimedCall>& calls) {
  Variant out;
  for (const Source& source : stack) {
    ASSIGN_OR_RETURN(auto program, installable(source, calls));
    if (!out.stack.empty() || below) RETURN_IF_ERROR(fits_below(source.title(), program));
    out.name += (out.name.empty() ? "" : ",") + source.name;
    out.of_instructions += source.program.size();
    out.stack.push_back(std::move(program));
  }
  return out;
}

Result<std::vector<Variant>> variants_of(const BenchJob& job, std::size_t depths,
                                         const std::vector<TimedCall>& calls) {
  std::vector<Variant> out = {{"no filter", {}},
                              {"empty filter", {{{kRetK, 0, 0, SECCOMP_RET_ALLOW}}}}};
  for (const Stack& stack : job.stacks) {
    ASSIGN_OR_RETURN(const auto one, variant_of(stack.filters, depths > 1, calls));
    for (std::size_t depth = 1; depth <= depths; ++depth) {
      Variant& added = out.emplace_back();
      added.name = depth == 1 ? one.name : fmt::format("{} x{}", one.name, depth);
      added.of_instructions = depth * one.of_instructions;
      for (std::size_t i = 0; i < depth; ++i)
        added.stack.insert(added.stack.end(), one.stack.begin(), one.stack.end());
    }
  }
  return out;
}

}  // namespace

std::vector<TimedCall> timed_calls(const BenchJob& job) {
  const auto filters = views(job.stacks.front().filters);
  std::map<std::uint32_t, SeccompData> allowed;
  for (const SeccompData& data : job.inputs)
    if (data.arch() == arch_info(kTimedArch).audit && !allowed.contains(data.nr()) &&
        is_allowed(filters, data))
      allowed[data.nr()] = data;
  std::vector<TimedCall> out;
  for (const SyscallCount& count : job.profile) {
    const auto nr = profile_nr(kTimedArch, count.name);
    if (!nr || count.calls == 0) continue;
    TimedCall call{count.name, {}, count.calls};
    if (const auto known = allowed.find(*nr); known != allowed.end()) call.input = known->second;
    call.input.set_nr(*nr);
    call.input.set_arch(arch_info(kTimedArch).audit);
    if (kernel::bypasses_filters(call.input.arch(), call.input.nr())) continue;
    if (!job.timing.real || (kernel::is_safe(call.input) && is_allowed(filters, call.input)))
      out.push_back(std::move(call));
  }
  return out;
}

Result<LatencyReport> bench(const BenchJob& job) {
  LatencyReport out;
  out.real = job.timing.real;
  out.asked = job.timing.rounds;
  for (const Stack& stack : job.stacks) out.stacks.push_back(counted(stack));
  out.depths = job.deeper ? kDeepest : 1;
  out.calls = timed_calls(job);
  if (out.calls.empty()) return no_calls(job);
  ASSIGN_OR_RETURN(const auto variants, variants_of(job, out.depths, out.calls));
  // With these numbers, a sample takes about the same time for every profile.
  kernel::LatencyOptions timing = job.timing;
  timing.batches = std::clamp<std::size_t>(kBatches / out.calls.size(), 4, 20);
  ASSIGN_OR_RETURN(out.latency, kernel::measure(variants, out.calls, timing));
  return out;
}

}  // namespace secequiv
