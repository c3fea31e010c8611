#include "analyze/refused_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace secequiv {
namespace {

// Returns the values of a name that the kernel accepts in these programs: all values if no program
// uses the name.
Symbol range_in(const std::vector<Source>& programs, const std::string& name) {
  Symbols symbols;
  for (const Source& each : programs) symbols.add(each.program, each.symbols);
  const auto found = std::ranges::find(symbols.all(), name, &Symbol::name);
  return found == symbols.all().end() ? Symbol{name} : *found;
}

// Returns whether the assumption permits any of these values.
Result<bool> possible(Question question, std::uint32_t symbol, std::uint32_t low,
                      std::uint32_t high, const Engine& engine, const Budget& budget) {
  if (question.assumption.nodes.empty()) return true;
  const Program any = {Insn{kRetK, 0, 0, 0}};
  question.before = question.after = {any};
  question.goal = Question::Goal::kSame;
  question.symbols = question.symbols.names_only();
  question.symbols.limit(symbol, low, high);
  const auto proof = ask_engine(question, engine, budget);
  // This error means that the assumption permits none of the values.
  if (!proof && proof.error().code == ErrorCode::kUsage) return false;
  if (!proof) return proof.error();
  if (proof->verdict == Verdict::kUnknown)
    return make_error(ErrorCode::kBudget, "the assumption", proof->detail);
  return true;
}

std::string shown(std::uint32_t low, std::uint32_t high) {
  return low == high ? fmt::format("{}", low)
                     : fmt::format("{}..{}", low, high == 0xffffffff ? "" : std::to_string(high));
}

}  // namespace

Result<std::optional<Rejection>> refused_values(const std::vector<Source>& before,
                                                const std::vector<Source>& after,
                                                const Question& question, Engine engine,
                                                const Budget& budget) {
  for (std::uint32_t i = 0; i < question.symbols.size(); ++i) {
    const Symbol had = range_in(before, question.symbols.all()[i].name);
    for (const Source& side : after) {
      const Symbol has = range_in({side}, had.name);
      std::vector<std::pair<std::uint32_t, std::uint32_t>> refused;
      if (has.low > had.low) refused.emplace_back(had.low, has.low - 1);
      if (has.high < had.high) refused.emplace_back(has.high + 1, had.high);
      for (const auto& [low, high] : refused) {
        ASSIGN_OR_RETURN(const auto left, possible(question, i, low, high, engine, budget));
        if (left)
          return std::optional(Rejection{
              side.name,
              fmt::format("the kernel refuses this filter for ${} = {}, but accepts "
                          "'before'; if these values cannot occur, exclude them with an assumption",
                          had.name, shown(low, high))});
      }
    }
  }
  return std::optional<Rejection>();
}

}  // namespace secequiv
