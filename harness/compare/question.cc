#include "harness/compare/question.h"

namespace secequiv {

std::string_view relation_name(Relation relation) {
  switch (relation) {
    case Relation::kEqual:
      return "equal";
    case Relation::kStricter:
      return "stricter";
    case Relation::kLooser:
      return "looser";
    case Relation::kIncomparable:
      return "incomparable";
  }
  return "";
}

Relation relation_of(bool looser, bool stricter) {
  if (looser) return stricter ? Relation::kIncomparable : Relation::kLooser;
  return stricter ? Relation::kStricter : Relation::kEqual;
}

namespace {
constexpr std::string_view kVacuous =
    "no input satisfies the assumption, so a proof would mean nothing: ";
}  // namespace

Error vacuous(const Question& question) {
  return usage_error(Subject::kAssumption, std::string(kVacuous) + question.assumption_text());
}

bool is_vacuous(const Error& error) {
  return error.subject == Subject::kAssumption && error.detail.starts_with(kVacuous);
}

Status check_symbols(const Question& question) {
  if (question.symbols.belong_to(question.programs())) return Ok{};
  return make_error(ErrorCode::kInternal, "symbols",
                    "a name is used in a program that is not being compared; please report this");
}

Relation compare_actions(std::uint32_t before, std::uint32_t after) {
  const std::int32_t old_rank = precedence(behaviour_of(before));
  const std::int32_t new_rank = precedence(behaviour_of(after));
  if (new_rank == old_rank) return Relation::kEqual;
  return new_rank < old_rank ? Relation::kStricter : Relation::kLooser;
}

Instance::Instance(const Question& asked, std::span<const std::uint32_t> values) {
  programs.reserve(asked.before.size() + asked.after.size());
  const auto filled = [&](const std::vector<ProgramView>& filters) {
    std::vector<ProgramView> out;
    out.reserve(filters.size());
    for (const ProgramView filter : filters)
      out.emplace_back(programs.emplace_back(asked.symbols.filled(filter, values)));
    return out;
  };
  question.before = filled(asked.before);
  question.after = filled(asked.after);
  question.sameness = asked.sameness;
  question.goal = asked.goal;
  question.assumption = with_values(asked.assumption, values);
  question.endian = asked.endian;
}

std::optional<Witness> replay(const Question& question, const SeccompData& data) {
  if (!holds(question.assumption, data, question.endian)) return std::nullopt;
  const Witness out{data, run_stack(question.before, data), run_stack(question.after, data)};
  const bool violated = question.goal == Question::Goal::kSame
                            ? !same_decision(out.before, out.after, question.sameness)
                            : compare_actions(out.before, out.after) == Relation::kLooser;
  if (!violated) return std::nullopt;
  return out;
}

std::optional<Witness> replay(const Question& question, std::span<const std::uint32_t> values,
                              const SeccompData& data) {
  if (question.symbols.empty()) return replay(question, data);
  return replay(Instance(question, values).question, data);
}

Witness minimize(const Question& question, const Witness& witness) {
  return minimize(witness, [&](const SeccompData& data) { return replay(question, data); });
}

}  // namespace secequiv
