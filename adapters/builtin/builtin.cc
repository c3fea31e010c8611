#include "adapters/builtin/builtin.h"

#include <functional>
#include <optional>

#include "adapters/broken/evaluators.h"
#include "adapters/broken/planted.h"
#include "harness/base/clock.h"
#include "harness/bpf/refusal.h"
#include "harness/kernel/oracle.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"

namespace secequiv {
namespace {

using Words = std::vector<std::uint32_t>;
using OptimizeFunction = std::function<Program(ProgramView)>;
using CompileFunction = std::function<Program(const Policy&)>;
using EvaluateFunction = std::function<Words(ProgramView, std::span<const SeccompData>)>;

constexpr std::string_view kReference = "secequiv";
constexpr std::string_view kIdentity = "identity";
constexpr std::string_view kKernel = "kernel";
constexpr std::string_view kBroken = "broken:";

template <class T>
Answer<T> refused(std::string detail) {
  Answer<T> out;
  out.outcome = Outcome::kRefused;
  out.detail = std::move(detail);
  return out;
}

// Returns the result of `work` for an accepted program, and the time that it took.
template <class T, class Work>
Answer<T> answer(ProgramView program, const Work& work) {
  if (const auto refusal = refusal_of(program, LengthRule::kUnlimited))
    return refused<T>(describe(*refusal, program));
  Answer<T> out;
  const auto start = Clock::now();
  out.value = work();
  out.seconds = seconds_since(start);
  return out;
}

class BuiltinOptimizer final : public Optimizer {
 public:
  // `watched` computes the same result and reports the stages. It may be null.
  explicit BuiltinOptimizer(OptimizeFunction run, broken::WatchedOptimizer watched)
      : run_(std::move(run)), watched_(std::move(watched)) {}
  Answer<Program> optimize(ProgramView program) override {
    return answer<Program>(program, [&] { return run_(program); });
  }
  Answer<std::vector<OptimizerStage>> stages(ProgramView program) override {
    if (!watched_) return Optimizer::stages(program);
    return answer<std::vector<OptimizerStage>>(program, [&] {
      std::vector<OptimizerStage> out;
      watched_(program, [&](std::string_view pass, ProgramView after) {
        out.push_back({std::string(pass), Program(after.begin(), after.end())});
      });
      return out;
    });
  }

 private:
  OptimizeFunction run_;
  broken::WatchedOptimizer watched_;
};

class BuiltinCompiler final : public Compiler {
 public:
  explicit BuiltinCompiler(CompileFunction run) : run_(std::move(run)) {}
  Answer<Program> compile(const Policy& policy) override {
    const auto start = Clock::now();
    Answer<Program> out;
    out.value = run_(policy);
    out.seconds = seconds_since(start);
    return out;
  }

 private:
  CompileFunction run_;
};

class BuiltinEvaluator final : public Evaluator {
 public:
  explicit BuiltinEvaluator(EvaluateFunction run) : run_(std::move(run)) {}
  Answer<Words> evaluate(ProgramView program, std::span<const SeccompData> inputs) override {
    return answer<Words>(program, [&] { return run_(program, inputs); });
  }

 private:
  EvaluateFunction run_;
};

class KernelEvaluator final : public Evaluator {
 public:
  Answer<Words> evaluate(ProgramView program, std::span<const SeccompData> inputs) override {
    Answer<Words> out;
    const auto start = Clock::now();
    auto values = kernel::evaluate(program, inputs);
    out.seconds = seconds_since(start);
    if (values) {
      out.value = std::move(*values);
      return out;
    }
    out.outcome = outcome_of(program, values.error().code);
    out.detail = values.error().text();
    return out;
  }

 private:
  static Outcome outcome_of(ProgramView program, ErrorCode code) {
    switch (code) {
      case ErrorCode::kRejected:
        // An askable program is one that the kernel should accept, so its refusal is a wrong
        // answer. Any other program is too long, or has no room for the instrumentation that shows
        // its return values.
        return kernel::askable(program) ? Outcome::kGarbage : Outcome::kUnsupported;
      case ErrorCode::kUnavailable:
        return Outcome::kCrashed;
      case ErrorCode::kBudget:  // the user interrupted the evaluation
        return Outcome::kHung;
      default:
        return Outcome::kGarbage;
    }
  }
};

// Returns the planted bug with a name of the form "broken:NAME", or null.
const broken::Planted* planted(std::string_view name) {
  if (!name.starts_with(kBroken)) return nullptr;
  return broken::find_planted(name.substr(kBroken.size()));
}
const broken::PlantedEvaluator* planted_evaluator(std::string_view name) {
  if (!name.starts_with(kBroken)) return nullptr;
  return broken::find_planted_evaluator(name.substr(kBroken.size()));
}

}  // namespace

std::vector<std::string> builtin_names(BuiltinKind kind) {
  std::vector<std::string> out = {std::string(kReference)};
  if (kind == BuiltinKind::kEvaluator) {
    out.emplace_back(kKernel);
    for (const broken::PlantedEvaluator& one : broken::planted_evaluators())
      out.push_back(std::string(kBroken) + std::string(one.name));
    return out;
  }
  out.emplace_back(kIdentity);
  for (const broken::Planted& one : broken::planted_optimizers())
    if (kind == BuiltinKind::kCompiler || std::holds_alternative<broken::PlantedOptimizer>(one.run))
      out.push_back(std::string(kBroken) + one.name);
  return out;
}

std::unique_ptr<Optimizer> builtin_optimizer(std::string_view name) {
  OptimizeFunction run;
  broken::WatchedOptimizer watched;
  if (name == kReference) {
    watched = [](ProgramView program, const Watch& watch) {
      return optimize(program, standard_passes(), watch).program;
    };
    run = [watched](ProgramView program) { return watched(program, {}); };
  } else if (name == kIdentity) {
    run = [](ProgramView program) { return Program(program.begin(), program.end()); };
  } else if (const broken::Planted* one = planted(name)) {
    if (const auto* optimizer = std::get_if<broken::PlantedOptimizer>(&one->run)) run = *optimizer;
    watched = one->watched;
  }
  return run ? std::make_unique<BuiltinOptimizer>(std::move(run), std::move(watched)) : nullptr;
}

std::unique_ptr<Compiler> builtin_compiler(std::string_view name) {
  CompileFunction run;
  if (name == kReference)
    run = [](const Policy& policy) { return optimize(policy).program; };
  else if (name == kIdentity)
    run = [](const Policy& policy) { return compile(policy); };
  else if (const broken::Planted* one = planted(name))
    run = [one](const Policy& policy) { return compile_with(*one, policy); };
  return run ? std::make_unique<BuiltinCompiler>(std::move(run)) : nullptr;
}

std::unique_ptr<Evaluator> builtin_evaluator(std::string_view name) {
  if (name == kKernel) return std::make_unique<KernelEvaluator>();
  EvaluateFunction run;
  if (name == kReference)
    run = run_all;
  else if (const broken::PlantedEvaluator* one = planted_evaluator(name))
    run = [one](ProgramView program, std::span<const SeccompData> inputs) {
      return evaluate_with(*one, program, inputs);
    };
  return run ? std::make_unique<BuiltinEvaluator>(std::move(run)) : nullptr;
}

}  // namespace secequiv
