#include "verify/certificate/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/adapter/command.h"
#include "harness/base/clock.h"
#include "harness/bpf/text.h"
#include "verify/certificate/case_walk.h"
#include "verify/certificate/cnf.h"
#include "verify/certificate/condition.h"
#include "verify/certificate/lrat.h"

namespace secequiv::certificate {
namespace {

constexpr double kLeastSeconds =
    0.001;  // the least limit of a process, because 0 would mean no limit
constexpr std::size_t kMostProofBytes = std::size_t{256} << 20;

// Returns the solver's proof in binary DRAT.
Result<std::string> refutation(const Cnf& formula, const Limits& limits) {
  AdapterLimits child;
  child.seconds = limits.seconds;
  child.memory_bytes = limits.memory_mib << 20;
  child.output_bytes = kMostProofBytes;
  // These options give shorter proofs for these formulas. Exit status 20 means unsatisfiable.
  const auto answer = run_command(
      fmt::format(
          "command -v cadical >/dev/null || exit {}; cadical -q --unsat --chrono=0 - -; s=$?; "
          "[ $s = 20 ] || exit $((s == 10 ? 10 : 1))",
          kUnsupportedStatus),
      formula.text, child);
  if (answer.ok()) return answer.value;
  if (answer.outcome == Outcome::kUnsupported)
    return make_error(ErrorCode::kUnavailable, "proof.lrat",
                      "the solver 'cadical' is not installed (Debian: cadical)");
  if (answer.outcome == Outcome::kHung || answer.outcome == Outcome::kExhausted)
    return make_error(ErrorCode::kBudget, "proof.lrat", fmt::format("cadical: {}", answer.detail));
  return make_error(ErrorCode::kAdapter, "cadical", answer.detail);
}

// The programs of a certificate. Under an assumption, they first run its condition.
struct Compared {
  ProgramView before;
  ProgramView after;
  std::array<Program, 2> guarded_programs;

  explicit Compared(const Question& question)
      : before(question.before[0]), after(question.after[0]) {
    if (question.assumption.nodes.empty()) return;
    const Program allowed = condition(question.assumption, question.endian);
    guarded_programs = {guarded(allowed, before), guarded(allowed, after)};
    before = guarded_programs[0];
    after = guarded_programs[1];
  }
};

}  // namespace

Status supported(const Question& question) {
  const auto refused = [&](const char* what) {
    return usage_error(
        Subject::kCertificate,
        fmt::format("certificates state that two filters are equivalent; they do not "
                    "support {}",
                    what));
  };
  if (question.goal != Question::Goal::kSame) return refused("refinement");
  if (question.sameness == Sameness::kEffect) return refused("--same effect");
  if (question.before.size() != 1 || question.after.size() != 1) return refused("stacks");
  if (!question.symbols.empty()) return refused("names in place of numbers");
  return Ok{};
}

std::optional<File> condition_file(const Question& question) {
  if (question.assumption.nodes.empty()) return std::nullopt;
  return File{"condition.bpf",
              write_program(condition(question.assumption, question.endian), Form::kRaw)};
}

Result<std::vector<File>> by_cases(const Question& question, const Limits& limits) {
  const Compared compared(question);
  WalkLimits walk;
  walk.seconds = limits.seconds;
  if (limits.memory_mib != 0) walk.bytes = limits.memory_mib << 19;
  ASSIGN_OR_RETURN(auto made,
                   walk_certificate(compared.before, compared.after, question.sameness, walk));
  return std::vector<File>{{"walk.cert", std::move(made.text)}};
}

Result<std::vector<File>> by_formula(const Question& question, const Limits& limits) {
  const auto start = Clock::now();
  const Compared compared(question);
  ASSIGN_OR_RETURN(auto formula, different(compared.before, compared.after, question.sameness));
  Limits left = limits;
  left.seconds = std::max(limits.seconds - seconds_since(start), kLeastSeconds);
  ASSIGN_OR_RETURN(const auto drat, refutation(formula, left));
  LratLimits conversion;
  conversion.seconds = limits.seconds - seconds_since(start);
  ASSIGN_OR_RETURN(auto proof, lrat_from_drat(formula.clauses, drat, conversion));
  return std::vector<File>{{"query.cnf", std::move(formula.text)},
                           {"proof.lrat", std::move(proof)}};
}

}  // namespace secequiv::certificate
