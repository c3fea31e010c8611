#include "fuzz/hunt/assess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/base/text.h"
#include "harness/compare/direction.h"
#include "harness/seccomp/cache.h"

namespace secequiv::hunt {
namespace {

// Reports an answer that the kernel would refuse although it accepts the request. If the request is
// too long for the kernel, the answer may be too long as well.
std::optional<Problem> refused_output(ProgramView before, ProgramView after) {
  const bool was_installable = !refusal_of(before);
  const auto refusal =
      refusal_of(after, was_installable ? LengthRule::kKernel : LengthRule::kUnlimited);
  if (!refusal) return std::nullopt;
  return Problem{FindingKind::kRejected,
                 "the kernel would refuse the returned program: " + describe(*refusal, after),
                 "answer",
                 {},
                 {},
                 refusal->rule};
}

Problem differs(const Witness& witness, const char* found_by) {
  return Problem{FindingKind::kDifferent, became_text(witness), found_by, witness};
}

// Returns whether the filter compares something with the architecture's audit value.
bool names_arch(ProgramView program, std::uint32_t audit) {
  return std::ranges::any_of(program,
                             [&](const Insn& in) { return in.k == audit && is_conditional(in); });
}

}  // namespace

FindingKind finding_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kHung:
      return FindingKind::kHung;
    case Outcome::kExhausted:
      return FindingKind::kExhausted;
    case Outcome::kGarbage:
      return FindingKind::kGarbage;
    case Outcome::kRefused:
      return FindingKind::kRefused;
    default:
      return FindingKind::kCrashed;
  }
}

std::string lost_calls(std::span<const ProgramView> before, ProgramView after) {
  constexpr std::size_t kShown = 4;
  std::string out;
  for (const Arch arch : {Arch::kX86_64, Arch::kI386, Arch::kAarch64}) {
    // A filter cannot distinguish architectures that it does not name, so only x86_64 and the named
    // ones are compared.
    const std::uint32_t audit = arch_info(arch).audit;
    const auto names = [&](ProgramView program) { return names_arch(program, audit); };
    if (arch != Arch::kX86_64 && std::ranges::none_of(before, names) && !names(after)) continue;
    const auto had = cacheable(before, arch);
    if (std::ranges::find(had, true) == had.end()) continue;
    const auto has = cacheable(after, arch);
    std::vector<std::uint32_t> lost;
    for (std::uint32_t nr = 0; nr < had.size(); ++nr)
      if (had[nr] && !has[nr]) lost.push_back(nr);
    if (lost.empty()) continue;
    const auto name = [arch](std::uint32_t nr) {
      const auto known = syscall_name(arch, nr);
      return known.empty() ? std::to_string(nr) : std::string(known);
    };
    out += fmt::format("{}{} ({})", out.empty() ? "" : "; ", first_and_count(lost, kShown, name),
                       arch_info(arch).name);
  }
  return out;
}

Result<Assessment> assess(ProgramView before, const Answer<Program>& answer,
                          std::span<const SeccompData> inputs, const AssessOptions& options) {
  Assessment out;
  if (!answer.ok()) {
    out.problem = Problem{finding_of(answer.outcome), answer.detail, "answer", {}, answer.cause};
    return out;
  }
  const Program& after = answer.value;
  out.grew = after.size() > before.size();
  if (auto refused = refused_output(before, after)) {
    out.problem = std::move(*refused);
    return out;
  }
  Question question;
  question.before = {before};
  question.after = {after};
  question.sameness = options.sameness;
  std::optional<Witness> worst;
  // A single input that shows a difference does not show one of its class.
  const bool single = options.sameness != Sameness::kEffect;
  for (const SeccompData& data : single ? inputs : std::span<const SeccompData>()) {
    ++out.evaluations;
    const auto witness = replay(question, data);
    if (witness && (!worst || kind_of(*witness) < kind_of(*worst))) worst = witness;
    if (worst && kind_of(*worst) == Direction::Kind::kAllowed) break;
  }
  if (worst) {
    out.problem = differs(*worst, "inputs");
    return out;
  }
  if (options.prover) {
    ASSIGN_OR_RETURN(const auto proof, options.prover(question, options.thorough));
    out.proven = proof.verdict == Verdict::kEquivalent;
    if (proof.verdict == Verdict::kDifferent) {
      out.problem = differs(*proof.witness, "proof");
      return out;
    }
  }
  if (options.cache)
    if (const std::string lost = lost_calls({&before, 1}, after); !lost.empty())
      out.problem = Problem{FindingKind::kCacheLoss,
                            "the kernel now has to run the filter for " + lost,
                            "answer",
                            {}};
  return out;
}

}  // namespace secequiv::hunt
