// Owns fake optimizers, compilers and evaluators for tests of the hunt. It must not know files or
// processes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/hunt/hunt.h"
#include "harness/bpf/testing.h"
#include "harness/policy/policy.h"
#include "verify/dd/engine.h"

namespace secequiv::hunt {

using Function = std::function<Answer<Program>(ProgramView)>;

class FakeOptimizer : public Optimizer {
 public:
  explicit FakeOptimizer(Function function) : function_(std::move(function)) {}
  Answer<Program> optimize(ProgramView program) override {
    ++requests;
    return function_(program);
  }
  std::size_t requests = 0;

 private:
  Function function_;
};

// An optimizer with named passes, each applied once.
class StagedOptimizer : public Optimizer {
 public:
  using Passes = std::vector<std::pair<std::string, std::function<Program(ProgramView)>>>;
  explicit StagedOptimizer(Passes passes) : passes_(std::move(passes)) {}
  Answer<Program> optimize(ProgramView program) override {
    Answer<Program> out;
    out.value.assign(program.begin(), program.end());
    for (const auto& [name, run] : passes_) out.value = run(out.value);
    return out;
  }
  Answer<std::vector<OptimizerStage>> stages(ProgramView program) override {
    Answer<std::vector<OptimizerStage>> out;
    Program current(program.begin(), program.end());
    for (const auto& [name, run] : passes_) {
      Program next = run(current);
      if (next != current) out.value.push_back({name, next});
      current = std::move(next);
    }
    if (spoil) spoil(out);
    return out;
  }
  std::function<void(Answer<std::vector<OptimizerStage>>&)> spoil;

 private:
  Passes passes_;
};

class FakeCompiler : public Compiler {
 public:
  explicit FakeCompiler(std::function<Program(const Policy&)> function)
      : function_(std::move(function)) {}
  Answer<Program> compile(const Policy& policy) override { return answered(function_(policy)); }
  static Answer<Program> answered(Program program) {
    Answer<Program> out;
    out.value = std::move(program);
    return out;
  }

 private:
  std::function<Program(const Policy&)> function_;
};

class FakeEvaluator : public Evaluator {
 public:
  explicit FakeEvaluator(std::function<std::uint32_t(ProgramView, const SeccompData&)> function)
      : function_(std::move(function)) {}
  Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                              std::span<const SeccompData> inputs) override {
    if (!instead.ok()) return instead;
    Answer<std::vector<std::uint32_t>> out;
    for (const SeccompData& input : inputs) out.value.push_back(function_(program, input));
    return out;
  }
  Answer<std::vector<std::uint32_t>> instead;  // the answer to every request, if it is not ok

 private:
  std::function<std::uint32_t(ProgramView, const SeccompData&)> function_;
};

inline Answer<Program> same(ProgramView program) {
  return FakeCompiler::answered(Program(program.begin(), program.end()));
}

inline Answer<Program> failure(Outcome outcome, std::string detail) {
  return {outcome, {}, std::move(detail), 0};
}

inline bool has(ProgramView program, std::uint16_t code) {
  return std::ranges::any_of(program, [&](const Insn& in) { return in.code == code; });
}

inline HuntOptions options_for(std::uint64_t trials) {
  HuntOptions out;
  out.trials = trials;
  out.seconds = 1e9;
  out.scaling = false;
  out.assess.prover = [](const Question& question, bool) {
    return dd::prove(question, {.nodes = 1 << 16, .steps = 1 << 17});
  };
  return out;
}

using Change = std::function<Program(ProgramView)>;

// Returns how many findings have an instruction with this code.
inline std::size_t findings_with(const HuntReport& report, std::uint16_t code) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.findings, [&](const Finding& found) { return has(found.subject.before, code); }));
}

inline std::string shown(const HuntReport& report) {
  std::string out;
  for (const Finding& finding : report.findings)
    out +=
        fmt::format("{} in {}\n{}", finding.group, finding.count, asm_text(finding.subject.before));
  return out;
}

// JSET becomes JGE. Many programs show this bug.
inline Program jset_is_jge(ProgramView program) {
  Program out(program.begin(), program.end());
  for (Insn& in : out)
    if (in.code == kJsetK) in.code = kJgeK;
  return out;
}

}  // namespace secequiv::hunt
