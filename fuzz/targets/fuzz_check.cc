// Fuzz target for acceptance. The input is any sequence of raw instructions, little endian. An
// incomplete last instruction is ignored. Our checker and a naive one must refuse the input for the
// same rule at the same instruction. An accepted program must run without a fault and execute each
// instruction at most once. Every text form must read back to the same program.
// `--without-rule=NAME` plants a bug: the naive checker skips this rule.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/naive_check.h"
#include "fuzz/targets/naive_evaluator.h"
#include "fuzz/targets/program_bytes.h"
#include "fuzz/targets/round_trip.h"
#include "fuzz/targets/target.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/near_legal.h"
#include "harness/generate/random_program.h"

namespace {
using namespace secequiv;
std::string without;

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_check: %s\n", what.c_str());
  std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  without = fuzz::option(*argc, *argv, "without-rule", "");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Program program = fuzz::any_program({data, size});
  if (program.empty()) return -1;
  const auto ours = refusal_of(program);
  const auto naive = fuzz::check_naively(program, without);
  if (ours ? !naive || rule_name(ours->rule) != naive->rule || ours->pc != naive->pc : !!naive)
    require(false, "our checker: " + (ours ? describe(*ours, program) : "accepted") +
                       "; the naive checker: " +
                       (naive ? fmt::format("{} at {}", naive->rule, naive->pc) : "accepted"));
  const std::string failure = program.size() > 1024 ? "" : fuzz::round_trip_failure(program);
  require(failure.empty(), failure);
  if (ours) return 0;
  Random random(fuzz::fingerprint(program));
  for (const SeccompData& input : random_inputs(random, program, 4)) {
    const fuzz::NaiveRun run = fuzz::run_naively(program, input.words);
    if (run.fault != nullptr) require(false, std::string("an accepted program: ") + run.fault);
    require(run.path.size() <= program.size(), "an accepted program jumped backwards");
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed) {
  return fuzz::mutate_any_program_bytes({data, capacity}, size, seed);
}
