#include "harness/adapter/interfaces.h"

namespace secequiv {

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAnswered:
      return "answered";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kCannotRun:
      return "cannot run";
    case Outcome::kCrashed:
      return "crashed";
    case Outcome::kHung:
      return "hung";
    case Outcome::kExhausted:
      return "exhausted";
    case Outcome::kGarbage:
      return "garbage";
  }
  return "";
}

std::vector<Answer<Program>> Optimizer::optimize_all(std::span<const Program> programs) {
  std::vector<Answer<Program>> out;
  out.reserve(programs.size());
  for (const Program& program : programs) out.push_back(optimize(program));
  return out;
}

Answer<std::vector<OptimizerStage>> Optimizer::stages(ProgramView) {
  return {Outcome::kUnsupported, {}, "it does not report its passes", 0};
}

}  // namespace secequiv
