// Assesses every answer (fuzz/hunt) in targets that test an optimizer or a compiler. Owns counting
// answers and printing a failure before it aborts. It must not know where programs come from, or
// libFuzzer.
#pragma once

#include <string>

#include "fuzz/hunt/assess.h"
#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

class Trials {
 public:
  // Every message starts with `target`. With `cache`, it is also a failure if the kernel no longer
  // allows a system call from its cache. Not every optimizer tries to keep cached calls.
  explicit Trials(std::string target, bool cache);
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  // Assesses the answer for `before`, and aborts if it is wrong. Random choices depend only on
  // `seed`. Precondition: the kernel accepts `before`, except that it may be too long.
  void assess(ProgramView before, const Answer<Program>& answer,
              std::span<const SeccompData> inputs, std::uint64_t seed);

  // Optimizes a program and assesses the answer with a few random inputs.
  void optimize(Optimizer& optimizer, ProgramView program);

  // Returns "TARGET: 1200 answers, 1190 proven, 10 undecided, 0 unsupported\n".
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
