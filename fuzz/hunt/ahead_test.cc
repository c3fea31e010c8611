#include "fuzz/hunt/ahead.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/testing.h"

namespace secequiv::hunt::ahead_test {
namespace {

TEST(Ahead, RunsAsManyAtOnceAsPermitted) {
  std::latch together(3);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  Ahead ahead(3, 9, [&](std::size_t i) {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    if (i < 3) together.arrive_and_wait();  // ends only if three run at the same time
    --running;
  });
  for (std::size_t i = 0; i < 9; ++i) ahead.wait_for(i);
  EXPECT_EQ(most, 3);
}

TEST(Ahead, NothingRunsDuringAPause) {
  std::atomic<int> running = 0;
  Ahead ahead(4, 400, [&](std::size_t) {
    ++running;
    std::this_thread::yield();
    --running;
  });
  for (std::size_t i = 0; i < 400; i += 40) {
    ahead.wait_for(i);
    const Ahead::Pause pause(&ahead);
    for (int look = 0; look < 100; ++look) {
      ASSERT_EQ(running, 0);
      std::this_thread::yield();
    }
  }
  ahead.wait_for(399);
}

// This optimizer is wrong, crashes or hangs, depending on the program.
class ManyAtOnce : public Optimizer {
 public:
  ManyAtOnce(unsigned at_once, std::shared_ptr<const double> shorter)
      : at_once_(at_once), shorter_(std::move(shorter)) {}
  Answer<Program> optimize(ProgramView program) override {
    // Only the thread that reduces a hang may see its shorter time limit.
    if (*shorter_ > 0 && std::this_thread::get_id() != main_) ++misled;
    if (has(program, kMulK)) return failure(Outcome::kCrashed, "multiplies");
    if (has(program, kDivK)) return failure(Outcome::kHung, "divides");
    if (has(program, kNeg)) return failure(Outcome::kUnsupported, "negates");
    Answer<Program> out = same(program);
    for (Insn& insn : out.value)
      if (insn.code == kJsetK) insn.code = kJgeK;
    return out;
  }
  [[nodiscard]] unsigned at_once() const override { return at_once_; }
  std::atomic<int> misled = 0;

 private:
  unsigned at_once_;
  std::shared_ptr<const double> shorter_;
  std::thread::id main_ = std::this_thread::get_id();
};

// Everything in a report that does not depend on time.
std::string essence(const HuntReport& report) {
  std::string out =
      fmt::format("{} {} {} {} {} {} {} {} {}\n", verdict_name(report.verdict), report.reason,
                  report.trials, report.answered, report.unsupported, report.proven,
                  report.evaluations, report.repeated, report.not_reduced);
  for (const Finding& finding : report.findings)
    out += fmt::format("{} {} {} {} {}\n", finding_name(finding.kind), finding.detail,
                       finding.group, finding.trial, finding.count);
  for (const ShapeRow& row : report.shapes)
    out += fmt::format("{} {} {}\n", row.name, row.count, row.unsupported);
  return out;
}

TEST(Ahead, ConcurrentRequestsGiveTheSameReport) {
  const auto report_with = [](unsigned at_once) {
    HuntOptions options = options_for(700);
    options.shorter = std::make_shared<double>(0);
    ManyAtOnce optimizer(at_once, options.shorter);
    const auto source = generated_programs();
    auto report = hunt({"many", &optimizer, nullptr}, *source, options);
    EXPECT_TRUE(report);
    EXPECT_EQ(optimizer.misled, 0);
    EXPECT_GE(report->findings.size(), 3u);
    EXPECT_GT(report->repeated, 0u);
    return essence(*report);
  };
  const std::string alone = report_with(1);
  EXPECT_EQ(report_with(4), alone);
}

// This interpreter cannot multiply.
class EvaluatorAtOnce : public FakeEvaluator {
 public:
  explicit EvaluatorAtOnce(unsigned at_once)
      : FakeEvaluator([](ProgramView program, const SeccompData& data) {
          return has(program, kMulK) ? 1 : run(program, data);
        }),
        at_once_(at_once) {}
  [[nodiscard]] unsigned at_once() const override { return at_once_; }

 private:
  unsigned at_once_;
};

TEST(Ahead, ConcurrentEvaluatorsGiveTheSameReport) {
  const auto report_with = [](unsigned at_once) {
    EvaluatorAtOnce evaluator(at_once);
    const auto source = generated_programs();
    auto report = hunt_evaluator("many", evaluator, *source, {}, options_for(300));
    EXPECT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::kDifferent);
    return essence(*report);
  };
  EXPECT_EQ(report_with(4), report_with(1));
}

TEST(Ahead, TheFirstFailureEndsTheHuntAtItsTrial) {
  const auto trials_with = [](unsigned at_once) {
    HuntOptions options = options_for(700);
    options.stop_at_first = true;
    ManyAtOnce optimizer(at_once, std::make_shared<double>(0));
    const auto source = generated_programs();
    auto report = hunt({"many", &optimizer, nullptr}, *source, options);
    EXPECT_TRUE(report);
    return report->trials;
  };
  EXPECT_EQ(trials_with(4), trials_with(1));
}

}  // namespace
}  // namespace secequiv::hunt::ahead_test
