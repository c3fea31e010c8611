#include "harness/report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/report/json.h"
#include "harness/report/page_parts.h"
#include "harness/seccomp/annotate.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

// Kinds of instructions, as graph.js knows them.
enum Kind : std::uint8_t { kPlain, kConditional, kJump, kReturn };

Kind kind_of(const Insn& insn) {
  if (is_conditional(insn)) return kConditional;
  if (is_jump(insn)) return kJump;
  return is_ret(insn) ? kReturn : kPlain;
}

char mark_of(PageMark::State state) {
  return state == PageMark::State::kCovered      ? '+'
         : state == PageMark::State::kInfeasible ? '-'
                                                 : '!';
}

// Texts that repeat, once each.
class Texts {
 public:
  std::size_t index(const std::string& text) {
    const auto [at, added] = known_.try_emplace(text, known_.size());
    if (added) all_.push_back(text);
    return at->second;
  }
  [[nodiscard]] ordered_json json() const { return all_; }

 private:
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::string> all_;
};

// [text, comment, kind, true target, false target, marks, indices of the marks' texts].
ordered_json side_json(const PageSide& shown, Texts& texts) {
  const Program& program = shown.side.program;
  const bool legal = !check(program, LengthRule::kUnlimited);
  const auto comments = annotate(program);
  const auto obligations =
      shown.marks.empty() ? std::vector<Obligation>() : CoverageMap(program).obligations();
  ordered_json insns = ordered_json::array();
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& insn = program[pc];
    const Kind kind = legal ? kind_of(insn) : kPlain;
    const bool jumps = kind == kConditional || kind == kJump;
    insns.push_back({insn_text(program, pc), comments[pc], kind,
                     jumps ? jump_target(pc, insn, true) : 0,
                     jumps ? jump_target(pc, insn, false) : 0, "", ordered_json::array()});
    if (kind == kReturn && insn.code == kRetK) insns.back()[1] = describe_action(insn.k);
  }
  std::size_t covered = 0;
  for (std::size_t i = 0; i < obligations.size(); ++i) {
    const PageMark& mark = shown.marks[i];
    ordered_json& row = insns[obligations[i].pc];
    row[5] = row[5].get<std::string>() + mark_of(mark.state);
    row[6].push_back(texts.index(mark.text));
    covered += mark.state == PageMark::State::kCovered ? 1 : 0;
  }
  return {{"name", printable(shown.side.name, false)},
          {"refusal", shown.side.refusal ? describe(*shown.side.refusal, program) : ""},
          {"obligations", obligations.size()},
          {"covered", covered},
          {"insns", std::move(insns)}};
}

// Instructions as runs [first, how many, ...]; A and X as [step, value, ...] where they change.
ordered_json trace_json(ProgramView program, const SeccompData& data) {
  const Trace run = trace(program, data);
  ordered_json runs = ordered_json::array();
  ordered_json a = ordered_json::array();
  ordered_json x = ordered_json::array();
  std::size_t next = program.size() + 1;
  std::uint32_t was_a = 0;
  std::uint32_t was_x = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const TraceStep& step = run.steps[i];
    if (step.pc == next) {
      runs.back() = runs.back().get<std::size_t>() + 1;
    } else {
      runs.push_back(step.pc);
      runs.push_back(1);
    }
    next = step.pc + 1;
    if (std::exchange(was_a, step.a) != step.a) {
      a.push_back(i);
      a.push_back(step.a);
    }
    if (std::exchange(was_x, step.x) != step.x) {
      x.push_back(i);
      x.push_back(step.x);
    }
  }
  return {{"runs", std::move(runs)},
          {"a", std::move(a)},
          {"x", std::move(x)},
          {"result", fmt::format("{:#010x} {}", run.result, describe_action(run.result))}};
}

ordered_json input_json(const Page& page, const PageInput& input) {
  ordered_json words = ordered_json::array();
  const Endian endian = endian_of(input.data.arch());
  for (std::uint32_t word = 0; word < 16; ++word)
    if (input.data.words[word] != 0)
      words.push_back({word_name(word, endian), fmt::format("{:#010x}", input.data.words[word])});
  return {{"label", printable(input.label, false)},
          {"text", describe(input.data)},
          {"words", std::move(words)},
          {"before", trace_json(page.sides[0].side.program, input.data)},
          {"after", trace_json(page.sides[1].side.program, input.data)}};
}

ordered_json region_json(const PageRegion& region) {
  ordered_json out{{"calls", region.calls},         {"before", region.before},
                   {"after", region.after},         {"summary", region.summary},
                   {"condition", region.condition}, {"count", region.count}};
  if (region.input) out["input"] = *region.input;
  return out;
}

ordered_json cost_json(const PageCost& cost) {
  ordered_json rows = ordered_json::array();
  const auto of = [](const CallCost& call) {
    return ordered_json{call.least, call.mean, call.most, call.cached};
  };
  for (std::size_t i = 0; i < cost.calls[0].size(); ++i)
    rows.push_back({cost.calls[0][i].name, cost.calls[0][i].calls, of(cost.calls[0][i]),
                    of(cost.calls[1][i])});
  ordered_json sides = ordered_json::array();
  for (int i = 0; i < 2; ++i)
    sides.push_back({{"mean", weighted_mean(cost.calls[i])},
                     {"uncached", weighted_mean_uncached(cost.calls[i])},
                     {"worst", cost.worst[i].instructions},
                     {"worst_input", describe(cost.worst[i].data)},
                     {"exact", cost.exact[i]}});
  return {{"profile", printable(cost.profile, false)},
          {"sides", std::move(sides)},
          {"rows", std::move(rows)}};
}

// JSON that no HTML parser takes for markup.
std::string embedded(const ordered_json& document) {
  const std::string text = document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

// Each @@NAME@@ of the frame.
std::string filled(std::string_view frame,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (!frame.empty()) {
    const std::size_t at = frame.find("@@");
    out += frame.substr(0, at);
    if (at == std::string_view::npos) break;
    frame.remove_prefix(at + 2);
    const std::size_t end = frame.find("@@");
    const std::string_view name = frame.substr(0, end);
    for (const auto& [key, value] : values)
      if (key == name) out += value;
    frame.remove_prefix(end + 2);
  }
  return out;
}

}  // namespace

std::string html(const Page& page) {
  Texts texts;
  ordered_json sides = ordered_json::array();
  for (const PageSide& side : page.sides) sides.push_back(side_json(side, texts));
  ordered_json document{{"verdict", verdict_name(page.report.verdict)},
                        {"difference", page.difference},
                        {"sides", std::move(sides)},
                        {"regions", ordered_json::array()},
                        {"inputs", ordered_json::array()},
                        {"cache", cache_json(page.report.cache)}};
  for (const PageRegion& region : page.regions) document["regions"].push_back(region_json(region));
  if (page.report.verdict != Verdict::kRejected)
    for (const PageInput& input : page.inputs)
      document["inputs"].push_back(input_json(page, input));
  if (page.cost) document["cost"] = cost_json(*page.cost);
  document["texts"] = texts.json();
  const std::string verdict(verdict_name(page.report.verdict));
  const int status = exit_code(page.report.verdict);
  return filled(page_parts::frame(),
                {{"TITLE", escaped(fmt::format("{}: {} {}", verdict,
                                               printable(page.report.before.name, false),
                                               printable(page.report.after.name, false)))},
                 {"STYLE", std::string(page_parts::style())},
                 {"SCRIPT", std::string(page_parts::script()) + std::string(page_parts::graph())},
                 {"VERDICT", escaped(verdict)},
                 {"STATE", status == 0   ? "good"
                           : status == 3 ? "open"
                                         : "bad"},
                 {"REASON", escaped(printable(page.report.reason, true))},
                 {"TEXT", escaped(printable(check_summary(page.report), true))},
                 {"VERSION", escaped(page.version)},
                 {"COMMAND", escaped(page.command)},
                 {"DATA", embedded(document)}});
}

}  // namespace secequiv
