#include "harness/kernel/self_check.h"

#include <algorithm>
#include <array>
#include <set>

#include "harness/base/clock.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/near_legal.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/kernel/instrument.h"

namespace secequiv::kernel {
namespace {

constexpr std::size_t kBatch = 400;        // programs in one request to the kernel
constexpr std::size_t kInstallations = 4;  // of a program that reads more words than calls carry
constexpr std::size_t kEdges = 4;          // programs of special lengths, at the start

Program of_length(std::size_t length) { return Program(length, {kRetK, 0, 0, 0}); }

// Returns a program that is legal in half of the cases and may be legal in the others.
Program nearly_legal(Random& random, std::size_t i) {
  constexpr std::array<std::size_t, kEdges> kLengths = {0, kMaxInsns, kMaxInsns + 1, 65536};
  if (i < kEdges) return of_length(kLengths[i]);
  if (i % 8 == 1) return generate_program(random, {.length = 4 + random.below(60)});
  const Program program = random_program(random, 1 + random.below(60));
  return i % 2 == 0 ? change_near_legal(random, program, kMaxInsns) : program;
}

struct Checking {
  SelfCheckOptions options;
  SelfCheckReport report;
  std::set<std::uint16_t> opcodes;

  // Returns whether to continue.
  Result<bool> evaluate_both(const Program& program, Random& random) {
    auto inputs = random_inputs(random, program, options.inputs);
    const Entry& entry = options.kernel->entries().front();
    share_fixed_words(inputs, plan_loads(program, inputs, free_words(entry)), kInstallations);
    const auto answers = kernel::evaluate(program, inputs, *options.kernel);
    if (!answers && answers.error().code == ErrorCode::kRejected) {
      report.program = program;
      report.kernel_accepts = false;
      return false;
    }
    if (!answers) return answers.error();
    const auto expected = options.evaluate(program, inputs);
    ++report.evaluated;
    report.evaluations += inputs.size();
    for (const Insn& in : program) opcodes.insert(in.code);
    const auto wrong = std::ranges::mismatch(*answers, expected).in1 - answers->begin();
    if (static_cast<std::size_t>(wrong) == answers->size()) return true;
    const auto n = static_cast<std::size_t>(wrong);
    report.program = program;
    report.witness = Witness{inputs[n], expected[n], (*answers)[n]};
    return false;
  }

  Result<bool> check_all(const std::vector<Program>& programs, Random& random) {
    ASSIGN_OR_RETURN(const auto answers, options.kernel->accepts(programs));
    for (std::size_t i = 0; i < programs.size(); ++i) {
      ++report.programs;
      if (answers[i] != options.accepts(programs[i])) {
        report.program = programs[i];
        report.kernel_accepts = answers[i];
        return false;
      }
      if (!answers[i]) continue;
      if (++report.accepted % options.one_in != 0) continue;
      if (!askable(programs[i])) {
        ++report.no_room;
        continue;
      }
      const auto same = evaluate_both(programs[i], random);
      if (!same || !*same) return same;
    }
    return true;
  }
};

}  // namespace

Result<SelfCheckReport> self_check(const SelfCheckOptions& options) {
  Checking checking{options, {}, {}};
  if (!checking.options.accepts)
    checking.options.accepts = [](ProgramView program) { return !refusal_of(program); };
  if (!checking.options.evaluate) checking.options.evaluate = run_all;
  SelfCheckReport& report = checking.report;
  report.release = options.kernel->release();
  report.booted_as = options.kernel->booted_as();
  report.seed = options.seed;
  Random random(options.seed);
  const auto start = Clock::now();
  for (std::size_t i = 0; i < options.programs;) {
    if (options.stop && options.stop()) {
      report.interrupted = true;
      break;
    }
    std::vector<Program> programs;
    for (; programs.size() < kBatch && i < options.programs; ++i)
      programs.push_back(nearly_legal(random, i));
    const auto same = checking.check_all(programs, random);
    report.interrupted = !same && same.error().code == ErrorCode::kBudget;
    if (report.interrupted) break;
    if (!same) return same.error();
    if (!*same) break;
    if (options.progress) options.progress(i);
  }
  report.seconds = seconds_since(start);
  report.opcodes = checking.opcodes.size();
  report.legal_opcodes =
      static_cast<std::size_t>(std::ranges::count_if(insn_table(), &InsnInfo::seccomp));
  return report;
}

}  // namespace secequiv::kernel
