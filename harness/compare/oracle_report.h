// What another evaluator than our interpreter says of the inputs that a command has run. Owns the
// shape, and what counts as doubt in our model. It must not know who is asked (harness/kernel) nor
// what a verdict makes of it.
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
  std::uint32_t model;  // what our interpreter returns
  std::uint32_t other;
};

struct AskedProgram {
  std::string name;
  std::size_t inputs = 0;   // asked about
  std::string not_asked;    // why not, if not
  bool installable = true;  // by the kernel's rules; what is not cannot be asked about by anybody
  bool refused = false;     // by whoever is asked, against those rules
  std::optional<Disagreement> disagreement;  // the first
};

struct OracleReport {
  std::string who;  // "Linux 6.18.5"
  std::vector<AskedProgram> programs;
  double seconds = 0;

  // The first program on which the model is in doubt; nothing if there is none.
  [[nodiscard]] const AskedProgram* in_doubt() const {
    for (const AskedProgram& program : programs)
      if (program.refused || program.disagreement) return &program;
    return nullptr;
  }
  // The first program that the kernel would take and that was not asked about.
  [[nodiscard]] const AskedProgram* not_asked() const {
    for (const AskedProgram& program : programs)
      if (!program.not_asked.empty() && program.installable) return &program;
    return nullptr;
  }
};

using NamedProgram = std::pair<std::string, Program>;
// Asks about each program on all inputs. Errors: kUnavailable, there is nobody to ask.
using Oracle = std::function<Result<OracleReport>(std::span<const NamedProgram> programs,
                                                  std::span<const SeccompData> inputs)>;

}  // namespace secequiv
