#include "analyze/guard.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "analyze/deciding.h"
#include "analyze/doors.h"
#include "analyze/load.h"
#include "harness/policy/compile.h"
#include "harness/seccomp/seen_bits.h"
#include "verify/dd/engine.h"
#include "verify/dd/holes.h"

namespace secequiv {
namespace {

Result<SplitReport> described(const GuardJob& job, const dd::SplitClass& found) {
  SplitReport out{.arch = found.arch,
                  .nr = found.nr,
                  .arguments = {},
                  .refused = found.refused,
                  .refused_value = 0,
                  .allowed = found.allowed,
                  .allowed_value = 0};
  for (int i = 0; i < kArgCount; ++i)
    if ((found.arguments >> i & 1) != 0) out.arguments.push_back(i);
  const auto programs = views(job.stack.filters);
  out.refused_value = run_stack(programs, out.refused);
  out.allowed_value = run_stack(programs, out.allowed);
  if (lets_run(out.refused_value) || !lets_run(out.allowed_value))
    return make_error(ErrorCode::kInternal, "dd",
                      fmt::format("the filter does not decide {} and {} as found; please report "
                                  "this",
                                  describe(out.refused), describe(out.allowed)));
  out.refused_by = deciding_rule(job.stack.filters, out.refused);
  out.allowed_by = deciding_rule(job.stack.filters, out.allowed);
  return out;
}

// Rewrites a test so that it looks only at these bits, if a test can say that.
void restrict_to(Matcher& test, std::uint64_t bits) {
  using Op = Matcher::Op;
  if (test.op == Op::kAny || test.low_half) return;
  if (bits == 0xffffffff) {
    if (test.op == Op::kNonNegativeFd) {
      test.op = Op::kMaskedEq;
      test.mask = 0x80000000;
    }
    test.value &= bits;
    test.mask &= bits;
    test.low_half = true;
  } else if (test.op == Op::kEq || test.op == Op::kMaskedEq) {
    test.mask = test.op == Op::kEq ? bits : test.mask & bits;
    test.value &= test.mask;
    test.op = Op::kMaskedEq;
  }
}

void restrict_to(Rule& rule, const SeenArguments& seen) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i].bits != ~std::uint64_t{0}) restrict_to(rule.fields[i], seen[i].bits);
  for (Rule& child : rule.children) restrict_to(child, seen);
}

}  // namespace

Result<GuardReport> guard(const GuardJob& job) {
  GuardReport report;
  report.name = job.stack.name;
  if (!job.stack.filters.empty()) report.file = job.stack.filters.front().file;
  report.notes = notes_about(job.stack.filters);
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const auto decisions = space.decisions(programs, Sameness::kBehaviour);
  if (decisions.computed) {
    report.unknown = "the filter computes a return value";
    return report;
  }
  const auto found = dd::split_classes(space, decisions, job.host);
  if (space.exhausted()) report.unknown = dd::exhausted_text();
  if (space.exhausted()) return report;
  for (const dd::SplitClass& split : found) {
    ASSIGN_OR_RETURN(auto one, described(job, split));
    (split.hole ? report.holes : report.strict).push_back(std::move(one));
  }
  auto open = doors(space, decisions, job.stack, job.host);
  if (open) {
    report.doors = std::move(*open);
  } else if (open.error().code == ErrorCode::kBudget) {
    report.unknown = open.error().detail;
  } else {
    return open.error();
  }
  if (const auto& choices = report.notes.choices; report.unknown.empty() && !choices.empty())
    report.unknown = choices.front().text();
  return report;
}

Result<WithoutHoles> without_holes(const Policy& policy, const GuardJob& job) {
  ASSIGN_OR_RETURN(auto before, guard(job));
  std::set<std::pair<Arch, std::uint32_t>> calls;
  for (const SplitReport& hole : before.holes) calls.emplace(hole.arch, hole.nr);
  WithoutHoles fixed{policy, {}, {}};
  for (const auto& [arch, nr] : calls)
    fixed.changed.push_back(fmt::format("{}:{}", arch_info(arch).name, syscall_name(arch, nr)));
  Policy& out = fixed.policy;
  for (RuleSet& set : out.rule_sets)
    for (SyscallRule& call : set.rules)
      if (calls.contains({call.arch, call.nr}))
        restrict_to(call.rule, seen_arguments(arch_info(call.arch).audit, call.nr));
  GuardJob mended = job;
  mended.stack.filters = {Source{.name = policy.name, .program = compile(out), .policy = out}};
  ASSIGN_OR_RETURN(const auto after, guard(mended));
  if (!before.unknown.empty() || !after.unknown.empty())
    return make_error(ErrorCode::kBudget, job.stack.name,
                      before.unknown.empty() ? after.unknown : before.unknown);
  if (!after.holes.empty())
    return make_error(
        ErrorCode::kUnavailable, job.stack.name,
        fmt::format("a policy cannot express the test that closes the hole in arg{} of {}",
                    after.holes.front().arguments.front(),
                    syscall_name(after.holes.front().arch, after.holes.front().nr)));
  Question question;
  question.before = views(job.stack.filters);
  question.after = views(mended.stack.filters);
  question.sameness = Sameness::kEffect;
  question.goal = Question::Goal::kRefines;
  ASSIGN_OR_RETURN(const auto proof, dd::prove(question, job.limits));
  if (proof.verdict == Verdict::kUnknown)
    return make_error(ErrorCode::kBudget, job.stack.name, proof.detail);
  if (proof.verdict == Verdict::kDifferent)
    return make_error(ErrorCode::kUnavailable, job.stack.name,
                      fmt::format("the mended policy would allow {}, which the policy refuses",
                                  describe(proof.witness->data)));
  fixed.doors = after.doors;
  return fixed;
}

}  // namespace secequiv
