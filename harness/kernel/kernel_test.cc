// Compares the running kernel with our model. Without permission to use seccomp and ptrace, the
// tests are skipped and print the reason.
#include "harness/report/kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "adapters/broken/evaluators.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/coverage/cost.h"
#include "harness/generate/mutate.h"
#include "harness/generate/near_legal.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/kernel/acceptance.h"
#include "harness/kernel/compare.h"
#include "harness/kernel/facts.h"
#include "harness/kernel/instrument.h"
#include "harness/kernel/oracle.h"
#include "harness/kernel/self_check.h"
#include "harness/kernel/slice.h"
#include "harness/kernel/testing.h"
#include "harness/kernel/traced.h"
#include "harness/report/oracle.h"

namespace secequiv::kernel::kernel_test {
namespace {

TEST(Kernel, EvaluatesAsTheModelDoes) {
  Random random(1);
  for (int i = 0; i < of_cases(1000); ++i) {
    const Program program = i % 2 == 0 ? random_program(random, 1 + random.below(120))
                                       : generate_program(random, {.length = 4 + random.below(60)});
    const auto inputs = random_inputs(random, program, 24);
    const auto answers = evaluate(program, inputs);
    SKIP_WITHOUT_KERNEL(answers);
    ASSERT_TRUE(answers) << answers.error().text();
    ASSERT_EQ(*answers, run_all(program, inputs)) << asm_text(program);
  }
}

// The program reads all 16 words, but only 12 can vary in one installed program. The other 4 become
// constants.
TEST(Kernel, EvaluatesAProgramThatReadsEveryWord) {
  Program program = {{kLdWAbs, 0, 0, 0}};
  for (std::uint32_t word = 1; word < 16; ++word) {
    program.push_back({kTax, 0, 0, 0});
    program.push_back({kLdWAbs, 0, 0, word * 4});
    program.push_back({kMulK, 0, 0, 31});
    program.push_back({kXorX, 0, 0, 0});
  }
  program.push_back({kRetA, 0, 0, 0});
  Random random(2);
  std::vector<SeccompData> inputs = random_inputs(random, program, 20);
  for (std::size_t i = 0; i < 10; ++i)
    for (const std::size_t word : {0u, 1u, 2u, 3u}) inputs[i].words[word] = 7;
  const auto answers = evaluate(program, inputs);
  SKIP_WITHOUT_KERNEL(answers);
  ASSERT_TRUE(answers) << answers.error().text();
  EXPECT_EQ(*answers, run_all(program, inputs));
  const std::vector<std::uint8_t> free = free_words(running().entries().front());
  EXPECT_EQ(plan_loads(program, inputs, free).fixed.size(), 4u);
}

TEST(Kernel, ContinuesWithTheNextCallAfterADivisionByZero) {
  const Program program = assemble("ld [16]\ntax\nld [20]\ndiv x\nret a");
  std::vector<SeccompData> inputs(9000);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].words[4] =
        i % 1500 == 0 || i + 1 == inputs.size() ? 0 : static_cast<std::uint32_t>(i);
    inputs[i].words[5] = 0xfedcba98;
  }
  const auto answers = evaluate(program, inputs);
  SKIP_WITHOUT_KERNEL(answers);
  ASSERT_TRUE(answers) << answers.error().text();
  EXPECT_EQ(*answers, run_all(program, inputs));
}

TEST(Kernel, EvaluatesInACopyOfThisProcess) {
  const Program program =
      assemble("ld [16]\ntax\nld [20]\ndiv x\njeq #3, y, n\ny: ret #0x50003\nn: ret #0x50001");
  const auto traced = Traced::start(program, Memory::kCopied);
  SKIP_WITHOUT_KERNEL(traced);
  ASSERT_TRUE(traced) << traced.error().text();
  std::vector<SeccompData> calls(3);
  for (SeccompData& call : calls) call = {39, 0, 0, 0, 2, 6};
  calls[1].words[4] = 0;
  calls[2].words[5] = 9;
  const auto replies = (*traced)->ask(calls, Instruction::kSyscall);
  ASSERT_TRUE(replies) << replies.error().text();
  EXPECT_EQ((*replies)[0].number, 3);
  EXPECT_TRUE((*replies)[1].killed);
  EXPECT_FALSE((*replies)[2].killed);
  EXPECT_EQ((*replies)[2].number, 1);
}

// An optimizer's input may be too long to be installed. The test installs the part that a few
// inputs execute.
TEST(Kernel, EvaluatesTheExecutedPartsOfFiltersThatAreTooLong) {
  constexpr std::size_t kAtOnce = 50;
  for (const char* name :
       {"systrap-everything", "systrap-hostnet", "kvm-everything", "kvm-hostnet"}) {
    const std::string path =
        fmt::format("{}/corpus/programs/gvisor/{}.before.bpf", SECEQUIV_SOURCE_DIR, name);
    const auto bytes = read_file(path);
    ASSERT_TRUE(bytes);
    const auto program = read_program(*bytes, path);
    ASSERT_TRUE(program);
    ASSERT_GT(program->size(), kMaxInsns);
    Random random(7);
    const auto inputs = random_inputs(random, *program, static_cast<std::size_t>(of_cases(4000)));
    for (std::size_t i = 0; i < inputs.size(); i += kAtOnce) {
      const std::span<const SeccompData> some =
          std::span(inputs).subspan(i, std::min(kAtOnce, inputs.size() - i));
      const auto answers = evaluate(executed_part(*program, some), some);
      SKIP_WITHOUT_KERNEL(answers);
      ASSERT_TRUE(answers) << answers.error().text();
      ASSERT_EQ(*answers, run_all(*program, some)) << name;
    }
  }
}

// Makes real calls with any number, by `syscall` and by `int $0x80`, also with non-zero high halves
// of arguments.
TEST(Kernel, EvaluatesRealCallsByBothEntries) {
  Random random(3);
  for (const Entry& entry : running().entries()) {
    const auto pointer = running().instruction_pointer(entry);
    ASSERT_TRUE(pointer);
    for (int i = 0; i < of_cases(200); ++i) {
      const Program program = random_program(random, 1 + random.below(60));
      std::vector<SeccompData> inputs = random_inputs(random, program, 32);
      for (SeccompData& input : inputs) input = presented(input, entry, *pointer);
      inputs[0].set_nr(335);
      const auto answers = evaluate_direct(program, inputs, entry, running());
      SKIP_WITHOUT_KERNEL(answers);
      ASSERT_TRUE(answers) << answers.error().text();
      for (std::size_t n = 0; n < inputs.size(); ++n) {
        ASSERT_EQ((*answers)[n].has_value(), !bypasses_filters(entry.audit, inputs[n].nr()));
        if (!(*answers)[n]) continue;
        ASSERT_EQ(*(*answers)[n], run(program, inputs[n])) << asm_text(program);
      }
    }
  }
}

TEST(Kernel, AcceptsAsTheModelDoes) {
  Random random(4);
  std::vector<Program> programs = {{},
                                   Program(4096, {kRetK, 0, 0, 0}),
                                   Program(4097, {kRetK, 0, 0, 0}),
                                   Program(65536, {kRetK, 0, 0, 0})};
  for (int i = 0; i < of_cases(20000); ++i) {
    Program program = random_program(random, 1 + random.below(30));
    if (i % 4 == 0) program = random_garbage(random, 1 + random.below(6), false);
    programs.push_back(i % 4 < 3 ? change_near_legal(random, std::move(program), kMaxInsns)
                                 : std::move(program));
  }
  const auto answers = accepts(programs);
  SKIP_WITHOUT_KERNEL(answers);
  ASSERT_TRUE(answers) << answers.error().text();
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    ASSERT_EQ((*answers)[i], !refusal_of(programs[i])) << asm_text(programs[i]);
    accepted += (*answers)[i] ? 1 : 0;
  }
  EXPECT_GT(accepted, programs.size() / 4);
  EXPECT_LT(accepted, programs.size() * 3 / 4);
}

// The kernel's answers refute each wrong model.
TEST(Kernel, FindsEveryPlantedModelBug) {
  for (const broken::PlantedEvaluator& planted : broken::planted_evaluators()) {
    Random random(5);
    bool refuted = false;
    for (int i = 0; i < 200000 && !refuted; ++i) {
      const Program program = i % 2 == 0 ? random_program(random, 1 + random.below(60))
                                         : generate_program(random, {.length = 60});
      const auto inputs = random_inputs(random, program, 8);
      const auto wrong = broken::evaluate_with(planted, program, inputs);
      if (wrong == run_all(program, inputs)) continue;
      const auto answers = evaluate(program, inputs);
      SKIP_WITHOUT_KERNEL(answers);
      ASSERT_TRUE(answers) << answers.error().text();
      refuted = *answers != wrong;
    }
    EXPECT_TRUE(refuted) << planted.name;
  }
}

TEST(Kernel, SelfCheckFindsAWrongModel) {
  SelfCheckOptions options;
  options.programs = 4000;
  options.inputs = 16;
  const auto right = self_check(options);
  SKIP_WITHOUT_KERNEL(right);
  ASSERT_TRUE(right) << right.error().text();
  EXPECT_FALSE(right->program);
  EXPECT_EQ(right->programs, 4000u);
  EXPECT_GT(right->evaluated, 500u);
  EXPECT_EQ(right->evaluations, right->evaluated * 16);
  EXPECT_EQ(right->opcodes, right->legal_opcodes);

  options.accepts = [](ProgramView program) {
    return program.size() == 4097 || !refusal_of(program);
  };
  const auto wrong_check = self_check(options);
  ASSERT_TRUE(wrong_check);
  EXPECT_EQ(wrong_check->kernel_accepts, false);
  EXPECT_EQ(wrong_check->program->size(), 4097u);

  options.accepts = {};
  options.evaluate = [](ProgramView program, std::span<const SeccompData> inputs) {
    std::vector<std::uint32_t> out = run_all(program, inputs);
    if (program.size() > 20) out[3] ^= 1;
    return out;
  };
  const auto wrong_value = self_check(options);
  ASSERT_TRUE(wrong_value);
  ASSERT_TRUE(wrong_value->witness);
  EXPECT_FALSE(wrong_value->kernel_accepts);
  EXPECT_EQ(wrong_value->witness->before, wrong_value->witness->after ^ 1);
  EXPECT_EQ(run(*wrong_value->program, wrong_value->witness->data), wrong_value->witness->after);

  int asked = 0;
  options.stop = [&] { return ++asked > 2; };
  options.evaluate = {};
  const auto stopped = self_check(options);
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_LT(stopped->programs, 4000u);
}

TEST(ExecutedPart, ExecutesTheSameInstructionsForTheGivenInputs) {
  Random random(6);
  std::size_t shorter = 0;
  for (int i = 0; i < of_cases(2000); ++i) {
    const Program program = random_program(random, 20 + random.below(300));
    const auto inputs = random_inputs(random, program, 1 + random.below(4));
    const Program part = executed_part(program, inputs);
    ASSERT_LE(part.size(), program.size() + 1);
    shorter += part.size() < program.size() ? 1 : 0;
    // On a side that no input takes, a read of M[] may now come before its write. No other rule may
    // be broken.
    const auto refusal = refusal_of(part);
    ASSERT_TRUE(!refusal || refusal->rule == RefusalRule::kMemUnset) << asm_text(program);
    for (const SeccompData& input : inputs) {
      ASSERT_EQ(run(part, input), run(program, input)) << asm_text(program);
      ASSERT_EQ(executed(part, input), executed(program, input));
    }
  }
  EXPECT_GT(shorter, static_cast<std::size_t>(of_cases(500)));
  // The two sides must have different targets, because the kernel drops a comparison with equal
  // ones.
  const Program two = assemble("ld [0]\njeq #1, a1, b1\nb1: ret #2\na1: ld [4]\nret a");
  const Insn jump = executed_part(two, std::vector<SeccompData>{{1}})[1];
  EXPECT_EQ(jump.jt, 0);
  EXPECT_EQ(jump.jf, 1);
  const Insn other = executed_part(two, std::vector<SeccompData>{{2}})[1];
  EXPECT_EQ(other.jt, 1);
  EXPECT_EQ(other.jf, 0);
}

TEST(Kernel, ReportsProgramsThatTheOracleCannotRun) {
  Program full(4093, {kTax, 0, 0, 0});
  full.push_back({kRetA, 0, 0, 0});
  const NamedProgram programs[] = {{"short", assemble("ld [16]\nret a")},
                                   {"full", full},
                                   {"long", Program(4097, {kRetK, 0, 0, 0})}};
  const std::vector<SeccompData> inputs(3);
  const auto report = second_opinion(programs, inputs);
  SKIP_WITHOUT_KERNEL(report);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->who.starts_with("Linux "));
  ASSERT_EQ(report->programs.size(), 3u);
  EXPECT_EQ(report->in_doubt(), nullptr);
  EXPECT_EQ(report->programs[0].inputs, 3u);
  EXPECT_EQ(report->programs[0].not_asked, "");
  EXPECT_EQ(report->programs[1].inputs, 0u);
  EXPECT_NE(report->programs[1].not_asked.find("no room"), std::string::npos);
  EXPECT_TRUE(report->programs[1].installable);
  EXPECT_NE(report->programs[2].not_asked.find("4096"), std::string::npos);
  EXPECT_FALSE(report->programs[2].installable);
  const auto nothing = second_opinion({programs, 1}, {});
  ASSERT_TRUE(nothing);
  EXPECT_NE(nothing->programs[0].not_asked, "");
}

TEST(Kernel, AnInterruptEndsARunBetweenBatchesOfCalls) {
  StopToken token;
  const Heed heed(&token);
  token.stop();
  const NamedProgram program{"one", assemble("ld [16]\nret a")};
  std::vector<SeccompData> inputs(4096);
  const auto ask_all = [&] {
    return ask({program},
               [given = false, &inputs]() mutable {
                 return std::exchange(given, true) ? std::vector<SeccompData>() : inputs;
               },
               {});
  };
  const auto batch = ask_all();
  SKIP_WITHOUT_KERNEL(batch);
  ASSERT_TRUE(batch) << batch.error().text();
  EXPECT_FALSE(batch->interrupted);
  EXPECT_EQ(batch->sides[0].asked, 4096u);
  inputs.resize(4097);
  const auto more = ask_all();
  ASSERT_TRUE(more) << more.error().text();
  EXPECT_TRUE(more->interrupted);
  EXPECT_EQ(more->verdict, Verdict::kUnknown);
  const auto opinion = second_opinion({&program, 1}, inputs);
  ASSERT_TRUE(opinion) << opinion.error().text();
  EXPECT_EQ(opinion->programs[0].not_asked, "interrupted");
}

// A kernel without int $0x80 raises a fault. The test replaces the instruction by `hlt`, which
// faults as well.
TEST(Kernel, AnInstructionThatFaultsIsUnavailable) {
  const auto traced = Traced::start(assemble("ret #0x50001"));
  SKIP_WITHOUT_KERNEL(traced);
  ASSERT_TRUE(traced) << traced.error().text();
  constexpr std::array<std::uint8_t, 2> kFault = {0xf4, 0x90};
  const std::vector<SeccompData> calls(3);
  for (const Instruction entry : {Instruction::kSyscall, Instruction::kInt80}) {
    const std::uint64_t behind = instruction_pointer_of(entry);
    const std::uint64_t first = behind - kFault.size();
    auto* const at = reinterpret_cast<std::uint8_t*>(first);  // NOLINT: code
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t bytes = (behind - 1) / page * page + page - first / page * page;
    auto* const pages = reinterpret_cast<void*>(first / page * page);  // NOLINT
    ASSERT_EQ(::mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    std::array<std::uint8_t, 2> before{};
    std::copy_n(at, before.size(), before.begin());
    std::ranges::copy(kFault, at);
    const auto replies = (*traced)->ask(calls, entry);
    std::ranges::copy(before, at);
    ASSERT_EQ(::mprotect(pages, bytes, PROT_READ | PROT_EXEC), 0);
    ASSERT_FALSE(replies);
    const bool compat = entry == Instruction::kInt80;
    EXPECT_EQ(replies.error().code, compat ? ErrorCode::kUnavailable : ErrorCode::kInternal);
    EXPECT_EQ(replies.error().detail.find("no int $0x80") != std::string::npos, compat);
    const auto again = (*traced)->ask(calls, entry);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ((*again)[2].number, 1);
  }
}

// If our check accepts the program, the model is wrong, just as after a wrong value.
TEST(Kernel, RefusingWhatTheModelAcceptsIsADisagreement) {
  const NamedProgram program{"it", assemble("ld [16]\nret a")};
  const std::vector<SeccompData> inputs(3);
  RefusingKernel refusing;
  const auto report = second_opinion({&program, 1}, inputs, refusing);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->in_doubt(), report->programs.data());
  EXPECT_EQ(report->programs[0].not_asked, "");
  EXPECT_NE(oracle_text(*report).find("it refuses the program that our check accepts"),
            std::string::npos);

  bool given = false;
  const auto once = [&] {
    return std::exchange(given, true) ? std::vector<SeccompData>() : inputs;
  };
  AskOptions asking;
  asking.kernel = &refusing;
  const auto asked = ask({program, program}, once, asking);
  ASSERT_TRUE(asked) << asked.error().text();
  EXPECT_EQ(asked->verdict, Verdict::kDifferent);
  EXPECT_TRUE(asked->sides[0].refused);
  EXPECT_EQ(asked->sides[0].asked, 0u);
  EXPECT_EQ(to_json(*asked)["reason"], "the kernel refuses a program that the model accepts");

  SelfCheckOptions options;
  options.programs = 400;
  options.kernel = &refusing;
  const auto checked = self_check(options);
  ASSERT_TRUE(checked) << checked.error().text();
  EXPECT_EQ(checked->kernel_accepts, false);
  EXPECT_EQ(checked->no_room, 0u);
  EXPECT_EQ(verdict_of(*checked), Verdict::kDifferent);
}

TEST(Kernel, RunningNoInputIsUnknown) {
  const NamedProgram program{"it", assemble("ld [16]\nret a")};
  InterpretedKernel interpreted;
  AskOptions asking;
  asking.kernel = &interpreted;
  for (const std::size_t count : {0u, 1u}) {
    const auto once = [given = false, count]() mutable {
      return std::vector<SeccompData>(std::exchange(given, true) ? 0 : count);
    };
    const auto asked = ask({program}, once, asking);
    ASSERT_TRUE(asked) << asked.error().text();
    EXPECT_EQ(asked->sides[0].asked, count);
    EXPECT_EQ(asked->verdict, count == 0 ? Verdict::kUnknown : Verdict::kPass);
  }
}

TEST(Kernel, RefusesProgramsThatItCannotRun) {
  Program program(4093, {kTax, 0, 0, 0});
  program.push_back({kRetA, 0, 0, 0});
  const std::vector<SeccompData> one(1);
  const auto long_one = evaluate(program, one);
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().code, ErrorCode::kRejected);
  EXPECT_NE(long_one.error().text().find("no room"), std::string::npos);
  const auto bad = evaluate(assemble("ld [1]\nret a"), one);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kRejected);
  EXPECT_EQ(bad.error().pc, 0);
}

}  // namespace
}  // namespace secequiv::kernel::kernel_test
