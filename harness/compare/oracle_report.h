// The comparison of our interpreter with another evaluator on the inputs that a command ran. Owns
// the result's data type and the rule that decides whether our model is in doubt. It must not know
// which evaluator runs (harness/kernel) nor how it affects a verdict.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct Disagreement {
  SeccompData data;
  std::uint32_t model;  // the result of our interpreter
  std::uint32_t other;
};

struct AskedProgram {
  std::string name;
  std::size_t inputs = 0;   // number of inputs compared
  std::string not_asked;    // the reason if the evaluator did not run
  bool installable = true;  // the kernel's rules accept it; otherwise no evaluator can run it
  bool refused = false;     // the evaluator refused it although the rules accept it
  std::optional<Disagreement> disagreement;  // the first disagreement
};

struct OracleReport {
  std::string who;  // "Linux 6.18.5"
  std::vector<AskedProgram> programs;
  double seconds = 0;

  // Returns the first program for which the model is in doubt, or nullptr.
  [[nodiscard]] const AskedProgram* in_doubt() const {
    for (const AskedProgram& program : programs)
      if (program.refused || program.disagreement) return &program;
    return nullptr;
  }
  // Returns the first program that the kernel would accept and that the evaluator did not run, or
  // nullptr.
  [[nodiscard]] const AskedProgram* not_asked() const {
    for (const AskedProgram& program : programs)
      if (!program.not_asked.empty() && program.installable) return &program;
    return nullptr;
  }
};

using NamedProgram = std::pair<std::string, Program>;
// Runs each program on all inputs. Errors: kUnavailable if no evaluator is available.
using Oracle = std::function<Result<OracleReport>(std::span<const NamedProgram> programs,
                                                  std::span<const SeccompData> inputs)>;

}  // namespace secequiv
