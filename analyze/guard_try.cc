#include "analyze/guard_try.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/bpf/insn.h"

namespace secequiv {
namespace {

constexpr std::uint32_t kIpOffset = 8;
constexpr std::uint32_t kArgsOffset = 16;

// A real call has another instruction pointer than the example.
bool looks_at_pointer(ProgramView program) {
  return std::ranges::any_of(program, [](const Insn& in) {
    return in.code == kLdWAbs && in.k >= kIpOffset && in.k < kArgsOffset;
  });
}

// Returns why these filters cannot be tried, or "".
std::string obstacle_of(std::span<const ProgramView> stack) {
  for (const ProgramView program : stack) {
    if (program.size() > kMaxInsns)
      return fmt::format(
          "the filter has {} instructions, more than the {} that the kernel "
          "accepts; use a shorter one (`optimize`)",
          program.size(), kMaxInsns);
    if (looks_at_pointer(program))
      return "the filter looks at the instruction pointer, which is another one here";
  }
  return "";
}

Error contradicted(const SeccompData& call, const kernel::Answer& expected,
                   const kernel::Answer& found) {
  return make_error(ErrorCode::kInternal, "kernel",
                    fmt::format("the running kernel contradicts this finding; expected {} for {}, "
                                "found {}; please report this",
                                expected.text(), describe(call), found.text()));
}

Result<RealAnswers> answers_to(std::span<const ProgramView> stack, const SplitReport& hole) {
  ASSIGN_OR_RETURN(const auto plain, kernel::real_call({}, hole.refused));
  ASSIGN_OR_RETURN(const auto same, kernel::real_call({}, hole.allowed));
  ASSIGN_OR_RETURN(const auto refused, kernel::real_call(stack, hole.refused));
  ASSIGN_OR_RETURN(const auto allowed, kernel::real_call(stack, hole.allowed));
  if (same != plain) return contradicted(hole.allowed, plain, same);
  const kernel::Answer expected = kernel::refusal(hole.refused_value);
  if (refused != expected) return contradicted(hole.refused, expected, refused);
  if (allowed != plain) return contradicted(hole.allowed, plain, allowed);
  return RealAnswers{refused, allowed, plain};
}

}  // namespace

Status try_holes(const std::vector<Source>& stack, GuardReport& report) {
  const auto programs = views(stack);
  const std::string obstacle = obstacle_of(programs);
  for (SplitReport& hole : report.holes) {
    hole.not_run = kernel::why_not_real(hole.refused);
    if (hole.not_run.empty()) hole.not_run = kernel::why_not_real(hole.allowed);
    if (hole.not_run.empty()) hole.not_run = obstacle;
    if (!hole.not_run.empty()) continue;
    const auto answers = answers_to(programs, hole);
    if (answers) {
      hole.answers = *answers;
    } else if (answers.error().code == ErrorCode::kUnavailable) {
      hole.not_run = answers.error().detail;
    } else {
      return answers.error();
    }
  }
  return Ok{};
}

}  // namespace secequiv
