#include "harness/adapter/server.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <thread>
#include <tuple>

#include "harness/adapter/frames.h"
#include "harness/adapter/testing.h"
#include "harness/policy/normal_form.h"

namespace secequiv::adapter_server_test {
namespace {

std::unique_ptr<Optimizer> odd_optimizer(double seconds = 5, const std::string& argument = {}) {
  return opened(open_optimizer("serve:exec " + subject("odd_server") + " " + argument,
                               quick_options(seconds)));
}

struct Odd {
  const char* how;
  Outcome outcome;
  const char* detail;  // a part of the message
  double seconds = 5;
};

class OddAnswers : public testing::TestWithParam<Odd> {};

// Programs without a failure get their own answers, whatever happens to the others.
TEST_P(OddAnswers, AreAttributedToTheRightProgram) {
  const auto optimizer = odd_optimizer(GetParam().seconds);
  const Program wrong = odd(GetParam().how);
  std::vector<Program> programs = {returns(1), wrong, returns(2), returns(3)};
  if (GetParam().outcome != Outcome::kHung) programs.insert(programs.end(), {wrong, returns(4)});
  auto answers = optimizer->optimize_all(programs);
  programs.push_back(wrong);
  if (GetParam().outcome != Outcome::kHung) answers.push_back(optimizer->optimize(wrong));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& [outcome, value, detail, seconds, cause] = answers[i];
    if (programs[i] != wrong) {
      EXPECT_EQ(outcome_name(outcome), "answered") << i << ": " << detail;
      EXPECT_EQ(value, programs[i]) << i;
      continue;
    }
    EXPECT_EQ(outcome_name(outcome), outcome_name(GetParam().outcome)) << i;
    EXPECT_NE(detail.find(GetParam().detail), std::string::npos) << detail;
    EXPECT_LT(detail.size(), 2700u);
    EXPECT_EQ(detail.find('\x1b'), std::string::npos);
    EXPECT_TRUE(value.empty());
  }
  EXPECT_EQ(optimizer->optimize(returns(5)).value, returns(5));
}

constexpr Odd kOdd[] = {
    {"segv", Outcome::kCrashed, "it was ended by signal 11 (Segmentation fault) without an answer"},
    {"exit3", Outcome::kCrashed,
     "it exited with status 3 without an answer; its standard error ends: three it is"},
    {"exit0", Outcome::kGarbage, "it exited with status 0 without an answer"},
    {"hang", Outcome::kHung, "still running after 0.4 s without an answer, and was killed", 0.4},
    {"status9", Outcome::kGarbage,
     "expected a status of 0, 1 or 2, found 9 in a frame of 41 bytes"},
    {"cut", Outcome::kGarbage, "it exited with status 0 after 4 of an answer's 17 bytes"},
    {"cut3", Outcome::kCrashed, "it exited with status 3 after 4 of an answer's 17 bytes"},
    {"cutlength", Outcome::kGarbage,
     "after 2 of the 4 bytes of an answer's length: 11 00 '\\x11\\x00'"},
    {"cuthang", Outcome::kHung, "after 4 of an answer's 17 bytes, and was killed", 0.4},
    {"length0", Outcome::kGarbage, "expected a status, found an empty frame"},
    {"length4g", Outcome::kExhausted,
     "its answer has 4294967295 bytes, more than the limit of 16777216"},
    {"bytes13", Outcome::kGarbage, "at least one), found 13 bytes"},
    {"bytes0", Outcome::kGarbage, "at least one), found 0 bytes"},
    {"text", Outcome::kGarbage, "expected a frame's length, found text: 68 65 6c 6c 6f"},
    {"closed", Outcome::kHung, "without an answer, had closed its standard output, and was killed",
     0.4},
    {"grandchild", Outcome::kGarbage, "it exited with status 0 without an answer"},
    {"unsupported", Outcome::kUnsupported, "no such thing\\x1b[2J"},
    {"refused", Outcome::kRefused, "it gave no reason"},
    {"flood", Outcome::kGarbage, "found text: 78 78 78"},
    {"floodstderr", Outcome::kHung, "its standard error ends: xxx", 0.4},
    {"panic", Outcome::kCrashed,
     "it exited with status 2 without an answer; its standard error contains: panic: runtime "
     "error: "
     "index out of range [7] with length 7; its standard error ends:\n"},
    {"rust", Outcome::kCrashed,
     "it exited with status 101 without an answer; its standard error ends:\nthread 'main' "
     "panicked "
     "at src/main.rs:7:5:\nattempt to subtract with overflow"},
};
INSTANTIATE_TEST_SUITE_P(Server, OddAnswers, testing::ValuesIn(kOdd),
                         [](const auto& odd_one) { return std::string(odd_one.param.how); });

TEST(Server, AServerMayEndBetweenRequests) {
  const auto optimizer = odd_optimizer();
  for (const char* how : {"answerexit0", "answerexit4"}) {
    for (int i = 0; i < 3; ++i) {
      const auto answer = optimizer->optimize(odd(how));
      EXPECT_TRUE(answer.ok()) << answer.detail;
      siginfo_t ended{};
      EXPECT_EQ(::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
    }
    EXPECT_EQ(optimizer->optimize(returns(7)).value, returns(7));
  }
  // If a server ends after one answer, the next process gets the remaining requests.
  const auto answers = optimizer->optimize_all(std::vector<Program>(10, odd("answerexit0")));
  for (const auto& answer : answers) EXPECT_TRUE(answer.ok()) << answer.detail;
}

// The second process would answer, so if the harness sent the request again, it would hide the
// failure of the first.
TEST(Server, AServerMayNotEndInTheMiddleOfAnAnswer) {
  for (const char* how : {"cut", "cutlength"}) {
    const TemporaryFolder folder;
    const auto optimizer =
        opened(open_optimizer(R"(serve:mkdir "$TMPDIR/started" && exec )" + subject("odd_server") +
                                  "; exec " + subject("identity_server"),
                              quick_options()));
    EXPECT_TRUE(optimizer->optimize(returns(1)).ok());
    EXPECT_EQ(outcome_name(optimizer->optimize(odd(how)).outcome), "garbage") << how;
    EXPECT_EQ(optimizer->optimize(returns(2)).value, returns(2));
  }
}

// A server whose start takes minutes is not started again.
TEST(Server, WithoutRestartsTheFirstFailureIsTheLastAnswer) {
  for (const std::string how : {"segv", "exit3", "exit0"}) {
    Server server({subject("odd_server")}, quick_options().limits, Server::Restart::kNever);
    EXPECT_TRUE(server.ask(optimize_request(returns(1))).ok());
    const auto failed = server.ask(optimize_request(odd(how)));
    EXPECT_FALSE(failed.ok()) << how;
    const auto after = server.ask(optimize_request(returns(1)));
    EXPECT_EQ(outcome_name(after.outcome), outcome_name(failed.outcome)) << how;
    EXPECT_EQ(after.detail, failed.detail);
  }
  // It may end between two requests, which is a failure too.
  Server server({subject("odd_server")}, quick_options().limits, Server::Restart::kNever);
  std::vector<Outcome> outcomes;
  std::vector<std::optional<int>> statuses;
  server.ask_all(
      3, [](std::size_t) { return optimize_request(odd("answerexit0")); },
      [&](std::size_t, const Reply& reply) {
        outcomes.push_back(reply.outcome);
        statuses.push_back(reply.exit_status);
        return std::string();
      });
  EXPECT_EQ(outcomes[0], Outcome::kAnswered);
  EXPECT_EQ(outcomes[1], Outcome::kGarbage);
  EXPECT_EQ(outcomes[2], Outcome::kGarbage);
  EXPECT_EQ(statuses[1], 0);
}

TEST(Server, AnswersWrittenBeforeTheEndAreAccepted) {
  Server server({subject("odd_server")}, quick_options().limits);
  // Each request is larger than what is encoded ahead, so `encode` makes the third one only after
  // the first was written. Meanwhile the first answer arrives and the process ends.
  const auto encode = [](std::size_t i) {
    if (i == 2) ::usleep(100000);
    Program program = i == 0 ? odd("bigexit") : returns(1);
    program.resize(9000);
    return optimize_request(program);
  };
  std::vector<std::size_t> sizes;
  server.ask_all(3, encode, [&](std::size_t, const Reply& reply) {
    sizes.push_back(reply.body.size());
    return std::string();
  });
  EXPECT_EQ(sizes, (std::vector<std::size_t>{500000, 72000, 72000}));
}

TEST(Server, TheTimeLimitAppliesToEachRequest) {
  const auto answers = odd_optimizer(0.5)->optimize_all(std::vector<Program>(5, odd("slow")));
  for (const auto& answer : answers) {
    EXPECT_TRUE(answer.ok()) << answer.detail;
    EXPECT_GE(answer.seconds, 0.1);
  }
}

TEST(Server, AnswersWithoutARequestAreFindings) {
  const auto optimizer = odd_optimizer();
  const auto twice = optimizer->optimize(odd("twice"));
  EXPECT_EQ(twice.outcome, Outcome::kGarbage);
  EXPECT_EQ(twice.detail.substr(0, 41), "expected nothing after the answer, found ");
  EXPECT_TRUE(optimizer->optimize(odd("late")).ok());
  siginfo_t stopped{};  // the server stops itself after the late bytes
  ASSERT_EQ(::waitid(P_ALL, 0, &stopped, WSTOPPED | WNOWAIT), 0);
  const auto after = optimizer->optimize(returns(1));
  EXPECT_EQ(after.outcome, Outcome::kGarbage);
  EXPECT_EQ(after.detail, "expected nothing before the request, found 7a 7a 'zz'");
  EXPECT_EQ(optimizer->optimize(returns(2)).value, returns(2));
}

TEST(Server, MemoryIsLimited) {
  AdapterOptions options = quick_options();
  options.limits.memory_bytes = std::size_t{256} << 20;
  const auto optimizer = opened(open_optimizer("serve:exec " + subject("odd_server"), options));
  const auto exhausted = optimizer->optimize(odd("memory"));
  EXPECT_EQ(exhausted.outcome, Outcome::kExhausted) << exhausted.detail;
  EXPECT_EQ(
      exhausted.detail,
      "it was ended by signal 6 (Aborted) without an answer; it ran out of memory (limit 268435456 "
      "bytes); its standard error ends: out of memory");
  EXPECT_TRUE(optimizer->optimize(returns(1)).ok());
  struct rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (own.ru_maxrss > 180 << 10) GTEST_SKIP() << "this process is as large as the limit";
  const auto quiet = optimizer->optimize(odd("memoryquiet"));
  EXPECT_EQ(quiet.outcome, Outcome::kExhausted) << quiet.detail;
}

TEST(Server, TheSizeLimitOfAnAnswerIsExact) {
  AdapterOptions options = quick_options();
  options.limits.output_bytes = 1 + 8 * 1000;
  const auto optimizer = opened(open_optimizer("serve:" + subject("odd_server"), options));
  EXPECT_TRUE(optimizer->optimize(Program(1000)).ok());
  const auto answer = optimizer->optimize(Program(1001));
  EXPECT_EQ(answer.outcome, Outcome::kExhausted);
  EXPECT_EQ(answer.detail, "its answer has 8009 bytes, more than the limit of 8001");
}

TEST(Server, AServerThatReadsNothingHangs) {
  const auto optimizer = odd_optimizer(0.2, "deaf");
  for (const std::size_t size : {1u, 500000u}) {
    const auto answer = optimizer->optimize(Program(size));
    EXPECT_EQ(answer.outcome, Outcome::kHung) << answer.detail;
    EXPECT_GE(answer.seconds, 0.2);
    EXPECT_LT(answer.seconds, 2);
  }
}

TEST(Server, RequestsOfMixedSizesDoNotDeadlock) {
  const auto optimizer = odd_optimizer();
  std::vector<Program> programs;
  for (std::size_t i = 0; i < 60; ++i) {
    programs.push_back(Program(i % 7 == 0 ? 200000 : 1 + i * i, Insn{kRetK, 0, 0, 0}));
    programs.back().back().k = static_cast<std::uint32_t>(i);
  }
  const auto answers = optimizer->optimize_all(programs);
  double sum = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    EXPECT_TRUE(answers[i].ok() && answers[i].value == programs[i]) << i << answers[i].detail;
    EXPECT_GE(answers[i].seconds, 0);
    sum += answers[i].seconds;
  }
  EXPECT_GT(sum, 0);
}

TEST(Server, StartsWithTheFirstRequestAndEndsWithTheAdapter) {
  const TemporaryFolder folder;
  auto optimizer = opened(open_optimizer(
      R"(serve:echo $$ >"$TMPDIR/pid"; exec )" + subject("odd_server"), quick_options()));
  EXPECT_TRUE(folder.empty());
  EXPECT_TRUE(optimizer->optimize(returns(1)).ok());
  const pid_t pid = folder.number("pid");
  EXPECT_EQ(::kill(pid, 0), 0);
  optimizer.reset();
  EXPECT_TRUE(is_gone(pid));
}

TEST(Server, ChildrenOfAServerEndWithIt) {
  const TemporaryFolder folder;
  const auto optimizer = opened(
      open_optimizer(R"(serve:sleep 61 & echo $! >"$TMPDIR/pid"; exec )" + subject("odd_server"),
                     quick_options(0.4)));
  EXPECT_EQ(optimizer->optimize(odd("hang")).outcome, Outcome::kHung);
  EXPECT_TRUE(is_gone(folder.number("pid")));
}

TEST(Server, SeveralServersRunInSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::size_t> good(4);
  for (std::size_t t = 0; t < good.size(); ++t)
    threads.emplace_back([t, &good] {
      const auto one = odd_optimizer();
      const auto other = odd_optimizer();
      for (std::uint32_t i = 0; i < 50; ++i) {
        const Program program = returns(i);
        const bool same = one->optimize(program).value == program &&
                          other->optimize(program).value == program &&
                          other->optimize(odd("exit3")).outcome == Outcome::kCrashed;
        good[t] += same;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t n : good) EXPECT_EQ(n, 50u);
}

TEST(Server, AServerCompilesAndEvaluates) {
  const std::string spec = "serve:" + subject("odd_server");
  const auto compiler = opened(open_compiler(spec, quick_options()));
  const Policy policy = small_policy("p");
  EXPECT_EQ(compiler->compile(policy).value, Program(write_normal_form(policy)->size()));
  const auto evaluator = opened(open_evaluator(spec, quick_options()));
  const std::vector<SeccompData> inputs = {SeccompData{7, 1}, SeccompData{0xfffffffe, 2}};
  EXPECT_EQ(evaluator->evaluate(returns(1), inputs).value,
            (std::vector<std::uint32_t>{7, 0xfffffffe}));
  EXPECT_TRUE(evaluator->evaluate(returns(1), {}).ok());
  const auto few = evaluator->evaluate(returns(0xdead), inputs);
  EXPECT_EQ(few.outcome, Outcome::kGarbage);
  EXPECT_EQ(few.detail, "expected 2 values of 4 bytes, one for each input, found 4 bytes");
}

TEST(Server, AServerAnswersRequestsForStages) {
  const auto optimizer = odd_optimizer();
  const Program program = {Insn{kLdWAbs, 0, 0, 0}, Insn{kRetA, 0, 0, 0}};
  const auto stages = optimizer->stages(program);
  EXPECT_TRUE(stages.ok()) << stages.detail;
  EXPECT_EQ(stages.value, (std::vector<OptimizerStage>{{"one", program}, {"two", program}}));
  for (const auto& [how, outcome, detail] :
       {std::tuple("unsupported", Outcome::kUnsupported, "no such thing\\x1b[2J"),
        std::tuple("segv", Outcome::kCrashed, "signal 11"),
        std::tuple("bytes13", Outcome::kGarbage,
                   "expected a name of 1 to 200 bytes for stage 1, found the length 1919510644 "
                   "with 9 bytes left"),
        std::tuple("length4g", Outcome::kExhausted, "more than the limit of 16777216")}) {
    const auto odd_stages = optimizer->stages(odd(how));
    EXPECT_EQ(outcome_name(odd_stages.outcome), outcome_name(outcome)) << how;
    EXPECT_NE(odd_stages.detail.find(detail), std::string::npos) << odd_stages.detail;
    EXPECT_TRUE(odd_stages.value.empty());
    EXPECT_EQ(optimizer->optimize(program).value, program);
  }
  EXPECT_TRUE(optimizer->stages(odd("bytes0")).ok());  // no stages: no pass changed anything
}

TEST(Server, TheExampleServersAnswer) {
  const auto identity =
      opened(open_optimizer("serve:" + subject("identity_server"), quick_options()));
  const Program program = {Insn{kLdWAbs, 0, 0, 0}, Insn{kRetA, 0, 0, 0}};
  EXPECT_EQ(identity->optimize(program).value, program);
  const auto compiler =
      opened(open_compiler("serve:" + subject("identity_server"), quick_options()));
  const auto unsupported = compiler->compile(small_policy("p"));
  EXPECT_EQ(unsupported.outcome, Outcome::kUnsupported);
  EXPECT_EQ(unsupported.detail, "this is only an optimizer");
  EXPECT_EQ(identity->stages(program).outcome, Outcome::kUnsupported);

  const std::string python =
      "serve:" SECEQUIV_PYTHON " " SECEQUIV_SOURCE_DIR "/harness/adapter/examples/server.py";
  const auto optimizer = opened(open_optimizer(python, quick_options()));
  EXPECT_EQ(optimizer->optimize(program).value, program);
  EXPECT_EQ(optimizer->optimize(Program{{kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}}).value, returns(1));
  const Program late = {{kJa, 0, 0, 1}, {kRetK, 0, 0, 0}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  EXPECT_EQ(optimizer->stages(late).value,
            (std::vector<OptimizerStage>{{"enter-later", {{kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}}},
                                         {"cut-behind-return", returns(1)}}));
  EXPECT_EQ(optimizer->optimize(late).value, returns(1));
  const auto evaluator = opened(open_evaluator(python, quick_options()));
  const std::vector<SeccompData> inputs = {SeccompData{7}, SeccompData{8}};
  EXPECT_EQ(evaluator->evaluate(program, inputs).value, (std::vector<std::uint32_t>{7, 8}));
  const Program jump = {{kLdWAbs, 0, 0, 0}, {kJeqK, 0, 1, 7}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  EXPECT_EQ(evaluator->evaluate(jump, inputs).value, (std::vector<std::uint32_t>{1, 2}));
  const auto unknown = evaluator->evaluate(Program{{kTax, 0, 0, 0}}, inputs);
  EXPECT_EQ(unknown.outcome, Outcome::kUnsupported);
  EXPECT_EQ(unknown.detail, "instruction 0 has code 0x7, which is not known here");
  EXPECT_EQ(opened(open_compiler(python, quick_options()))->compile(small_policy("p")).outcome,
            Outcome::kUnsupported);
}

}  // namespace
}  // namespace secequiv::adapter_server_test
