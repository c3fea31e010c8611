// What the targets share that put something under test: every answer is judged (fuzz/hunt), and
// what is wrong is shown before the process aborts. Owns what is counted and how it is shown. It
// must not know where programs come from, nor libFuzzer.
#pragma once

#include <string>

#include "fuzz/hunt/assess.h"
#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

class Trials {
 public:
  // `target` stands before every message. `cache` judges calls that need the filter now, too;
  // whatever is lost for those only is no failure of an optimizer that does not care for them.
  explicit Trials(std::string target, bool cache);
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  // Judges what became of `before`, which check() accepts (the length rule aside). Aborts if it is
  // wrong. What is drawn for it depends on `seed` alone.
  void judge(ProgramView before, const Answer<Program>& answer, std::span<const InputWords> inputs,
             std::uint64_t seed);

  // A program goes through `optimizer` and is judged on a few inputs of its own.
  void optimize(Optimizer& optimizer, ProgramView program);

  // "TARGET: 1200 answers, 1190 proven, 10 undecided, 0 not expressed", a line.
  [[nodiscard]] std::string summary() const;

 private:
  [[noreturn]] void fail(ProgramView before, const Answer<Program>& answer,
                         const hunt::Problem& problem) const;

  std::string target_;
  bool cache_;
  hunt::Prover quick_;
  hunt::Prover patient_;
  hunt::AssessOptions options_;
  std::uint64_t answers_ = 0;
  std::uint64_t proven_ = 0;
  std::uint64_t unsupported_ = 0;
};

}  // namespace secequiv::fuzz
