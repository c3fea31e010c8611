#include "harness/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/compare/common_steps.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/argument_names.h"

namespace secequiv {
namespace {

constexpr std::size_t kTraceHead = 12;  // steps shown from each end of a long trace
constexpr std::size_t kTraceFork = 3;   // steps shown on each side of the step where traces part

std::string_view outcome_text(const Insn& in, const TraceStep& step) {
  if (!step.outcome) return "";
  if (in.code == kDivX) return *step.outcome ? " -> X is 0: returns 0" : "";
  return *step.outcome ? " -> true" : " -> false";
}

// Returns one line for each executed instruction. In a long trace, lines with the number of omitted
// instructions replace the middle, except around the step `fork`, which gets a mark.
std::vector<std::string> trace_lines(ProgramView program, const Trace& run,
                                     std::optional<std::size_t> fork) {
  const std::size_t count = run.steps.size();
  const auto shown = [&](std::size_t i) {
    const bool near = fork && i + kTraceFork >= *fork && i <= *fork + kTraceFork;
    return near || count <= 2 * kTraceHead || i < kTraceHead || i + kTraceHead >= count;
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i;
    while (!shown(i)) ++i;
    if (i != from) out.push_back(fmt::format("... {} ...", counted(i - from, "more instruction")));
    const TraceStep& step = run.steps[i];
    out.push_back(fmt::format("{}{:>4}: A={:#x} {}{}", fork == i ? '>' : ' ', step.pc, step.a,
                              insn_text(program, step.pc), outcome_text(program[step.pc], step)));
  }
  out.push_back(fmt::format("= {}", describe_action(run.result)));
  return out;
}

// Returns the traces of all filters, newest first.
std::vector<std::string> stack_lines(std::span<const ProgramView> filters, const SeccompData& input,
                                     std::optional<std::size_t> fork) {
  if (filters.size() == 1) return trace_lines(filters.front(), trace(filters.front(), input), fork);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    out.push_back(fmt::format("filter {} of {}", i + 1, filters.size()));
    const auto lines = trace_lines(filters[i], trace(filters[i], input), {});
    out.insert(out.end(), lines.begin(), lines.end());
  }
  return out;
}

// Returns the steps at which the traces of two single filters part.
std::optional<std::array<std::size_t, 2>> forks(const Question& question,
                                                const SeccompData& input) {
  if (question.before.size() != 1 || question.after.size() != 1) return std::nullopt;
  const ProgramView before = question.before.front();
  const ProgramView after = question.after.front();
  return common_steps(before, trace(before, input), after, trace(after, input)).parting;
}

// Returns "  AF_ALG" for the low half of an argument whose value has a name, otherwise "".
std::string constant_text(const SeccompData& data, std::uint32_t word) {
  const Endian endian = endian_of(data.arch());
  const auto arch = arch_from_data(data.arch(), data.nr());
  for (int argument = 0; arch && argument < kArgCount; ++argument) {
    if (word != half_word(argument, false, endian)) continue;
    const std::string name =
        argument_name(*arch, data.nr(), argument, data.field(argument, endian));
    return name.empty() ? "" : "  " + name;
  }
  return "";
}

}  // namespace

std::string first_lines(std::size_t count, std::size_t most, std::string_view indent,
                        const std::function<std::string(std::size_t)>& line) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, count); ++i) out.append(indent).append(line(i));
  if (count > most)
    out += fmt::format("{}... and {} more (JSON lists all)\n", indent, count - most);
  return out;
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", seconds * 1e3); }

std::string input_text(const SeccompData& data) {
  const Endian endian = endian_of(data.arch());
  std::string out = fmt::format("witness: {}\n", describe(data));
  for (std::uint32_t word = 0; word < 16; ++word)
    if (data.words[word] != 0)
      out += fmt::format("  {:<11} = {:#010x}{}\n", word_name(word, endian), data.words[word],
                         constant_text(data, word));
  return out;
}

std::string decision_text(std::string_view role, std::uint32_t value, const DecidingRule& rule,
                          const std::vector<ProgramView>& filters, const SeccompData& data) {
  std::string shown = rule.shown();
  if (shown.empty() && filters.size() == 1)
    shown = fmt::format("instruction {}", trace(filters[0], data).steps.back().pc);
  return fmt::format("  {:<7} {:#010x} {}{}\n", role, value, describe_action(value),
                     shown.empty() ? "" : ": " + shown);
}

std::string witness_text(const Question& question, const Witness& witness,
                         const DecidingRules& rules, bool traces) {
  const std::string out =
      input_text(witness.data) +
      decision_text("before:", witness.before, rules.before, question.before, witness.data) +
      decision_text("after:", witness.after, rules.after, question.after, witness.data);
  return traces ? out + traces_text(question, witness.data) : out;
}

std::string traces_text(const Question& question, const SeccompData& input) {
  const auto found = forks(question, input);
  const auto fork = [&](std::size_t side) {
    return found ? std::optional((*found)[side]) : std::nullopt;
  };
  auto left = stack_lines(question.before, input, fork(0));
  auto right = stack_lines(question.after, input, fork(1));
  const std::size_t rows = std::max(left.size(), right.size());
  left.resize(rows);
  right.resize(rows);
  constexpr std::size_t kWidth = 52;
  std::string out = fmt::format(
      "  {:<{}} | {}\n", found ? "before (> is where the traces part)" : "before", kWidth, "after");
  for (std::size_t i = 0; i < rows; ++i) {
    const std::string row = fmt::format("  {:<{}} | {}", left[i], kWidth, right[i]);
    out += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string trace_text(ProgramView program, const Trace& trace) {
  std::string out;
  for (const TraceStep& step : trace.steps) {
    out += fmt::format("{:>6}: A={:#010x} X={:#010x}  {}", step.pc, step.a, step.x,
                       insn_text(program, step.pc));
    out += outcome_text(program[step.pc], step);
    out += "\n";
  }
  return out;
}

std::string assuming_text(const Question& question) {
  std::string out;
  if (question.sameness == Sameness::kEffect) out = "comparing effects: single inputs may differ\n";
  if (!question.assumption.nodes.empty())
    out += fmt::format("assuming {}\n", question.assumption_text());
  return out;
}

std::string symbols_text(const Question& question) {
  if (question.symbols.empty()) return "";
  std::string out;
  bool restricted = false;
  for (const Symbol& symbol : question.symbols.all()) {
    out += fmt::format("{} ${}", out.empty() ? "for all values of" : ",", symbol.name);
    if (symbol.low != 0) out += fmt::format(" from {}", symbol.low);
    if (symbol.high != 0xffffffff) out += fmt::format(" up to {}", symbol.high);
    restricted = restricted || symbol.is_restricted();
  }
  return out + (restricted ? " (the kernel refuses all other values)\n" : "\n");
}

}  // namespace secequiv
