#include "harness/coverage/coverage.h"

#include <fmt/format.h>

namespace secequiv {
namespace {

struct Marker {
  const Insn* base;
  std::uint8_t* marks;

  void at(const Insn* pc, const Machine<Concrete>&) { marks[(pc - base) * 3] = 1; }
  void outcome(const Insn* pc, bool taken) { marks[(pc - base) * 3 + (taken ? 1 : 2)] = 1; }
};

}  // namespace

std::string_view outcome_name(const Insn& insn, bool taken) {
  if (insn.code == kDivX) return taken ? "divisor zero" : "divisor not zero";
  return taken ? "true" : "false";
}

std::string describe(const Obligation& obligation, ProgramView program) {
  std::string at = fmt::format("instruction {}", obligation.pc);
  if (obligation.kind == Obligation::Kind::kLine) return at;
  const bool taken = obligation.kind == Obligation::Kind::kTrue;
  return fmt::format("{} {}", at, outcome_name(program[obligation.pc], taken));
}

std::uint32_t CoverageMap::run(const SeccompData& input) {
  Marker marker{program_.data(), marks_.data()};
  return run_observed(program_, input, marker);
}

void CoverageMap::merge(const CoverageMap& other) {
  for (std::size_t i = 0; i < marks_.size(); ++i) marks_[i] |= other.marks_[i];
}

std::vector<Obligation> CoverageMap::obligations() const {
  std::vector<Obligation> out;
  for (std::size_t pc = 0; pc < program_.size(); ++pc) {
    out.push_back({pc, Obligation::Kind::kLine});
    if (!has_two_outcomes(program_[pc])) continue;
    out.push_back({pc, Obligation::Kind::kTrue});
    out.push_back({pc, Obligation::Kind::kFalse});
  }
  return out;
}

std::vector<Obligation> CoverageMap::uncovered() const {
  std::vector<Obligation> out;
  for (const Obligation& obligation : obligations())
    if (!covered(obligation)) out.push_back(obligation);
  return out;
}

}  // namespace secequiv
