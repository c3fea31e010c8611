#include "fuzz/targets/trials.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/hunt/prover.h"
#include "fuzz/targets/program_bytes.h"
#include "harness/bpf/text.h"
#include "harness/generate/random_program.h"
#include "harness/report/text.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::fuzz {
namespace {

constexpr std::size_t kInputs = 4;  // the proof covers all inputs; these few check the proof
// An answer that is not proven in few steps is rarely proven in thirty times as many.
constexpr std::size_t kQuickSteps = std::size_t{1} << 10;
constexpr std::size_t kPatientOneIn = 16;
constexpr std::size_t kCacheOneIn = 32;  // comparing bitmaps takes longer than all other work

std::string listing(std::string_view title, ProgramView program) {
  return fmt::format("{} ({} instructions):\n{}", title, program.size(),
                     write_program(program, Form::kAsm, annotate(program)));
}

}  // namespace

Trials::Trials(std::string target, bool cache)
    : target_(std::move(target)),
      cache_(cache),
      quick_(hunt::diagram_prover(kQuickSteps)),
      patient_(hunt::diagram_prover()) {}

void Trials::assess(ProgramView before, const Answer<Program>& answer,
                    std::span<const SeccompData> inputs, std::uint64_t seed) {
  if (answer.outcome == Outcome::kUnsupported) {
    ++unsupported_;
    return;
  }
  ++answers_;
  options_.cache = cache_ && seed % kCacheOneIn == 0;
  options_.prover = quick_;
  auto assessment = hunt::assess(before, answer, inputs, options_);
  if (assessment && !assessment->problem && !assessment->proven && seed % kPatientOneIn == 0) {
    options_.prover = patient_;
    assessment = hunt::assess(before, answer, inputs, options_);
  }
  if (!assessment)
    fail(before, answer, {FindingKind::kDifferent, assessment.error().text(), {}, {}});
  if (assessment->problem) fail(before, answer, *assessment->problem);
  if (assessment->proven) ++proven_;
}

void Trials::optimize(Optimizer& optimizer, ProgramView program) {
  const std::uint64_t seed = fingerprint(program);
  Random random(seed);
  assess(program, optimizer.optimize(program), random_inputs(random, program, kInputs), seed);
}

std::string Trials::summary() const {
  return fmt::format("{}: {} answers, {} proven, {} undecided, {} unsupported\n", target_, answers_,
                     proven_, answers_ - proven_, unsupported_);
}

void Trials::fail(ProgramView before, const Answer<Program>& answer,
                  const hunt::Problem& problem) const {
  std::string text =
      fmt::format("{}: {}: {}\n", target_, finding_name(problem.kind), problem.detail);
  if (problem.witness) {
    const Pair pair{Program(before.begin(), before.end()), answer.value, options_.sameness};
    text += witness_text(Question(pair), minimize(pair, *problem.witness));
  }
  text += listing("before", before);
  if (answer.ok()) text += listing("after", answer.value);
  std::fputs(text.c_str(), stderr);
  std::abort();
}

}  // namespace secequiv::fuzz
