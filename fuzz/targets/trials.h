// Shared by the targets that test an optimizer or a compiler: assesses every answer (fuzz/hunt) and
// prints a failure before it aborts. Owns the counts and their text. It must not know where
// programs come from, nor libFuzzer.
#pragma once

#include <string>

#include "fuzz/hunt/assess.h"
#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

class Trials {
 public:
  // `target` precedes every message. `cache`: a system call that the kernel no longer allows
  // without running the filter is a failure, too. Not every optimizer aims to keep those.
  explicit Trials(std::string target, bool cache);
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  // Assesses the answer for `before`, which check() accepts (the length rule aside), and aborts if
  // it is wrong. Random choices depend on `seed` alone.
  void assess(ProgramView before, const Answer<Program>& answer,
              std::span<const SeccompData> inputs, std::uint64_t seed);

  // Optimizes a program and assesses the answer on a few random inputs.
  void optimize(Optimizer& optimizer, ProgramView program);

  // "TARGET: 1200 answers, 1190 proven, 10 undecided, 0 not expressed\n".
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
