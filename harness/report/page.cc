#include "harness/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/compare/common_steps.h"
#include "harness/compare/question.h"
#include "harness/report/page_header.h"
#include "harness/report/page_parts.h"
#include "harness/report/page_tables.h"
#include "harness/report/regions.h"
#include "harness/seccomp/annotate.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNames = 6;    // limit of system calls that are named for one region
constexpr std::size_t kAllNames = 5000;  // limit for calls that became more permissive

// Kinds of instructions, with the numbers that graph.js uses.
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

// Stores each repeated text once.
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

// An instruction is [text, comment, kind, true target, false target, marks, indices of the marks'
// texts].
ordered_json side_json(const PageSide& shown, Texts& texts) {
  const Program& program = shown.side.program;
  const bool legal = !refusal_of(program, LengthRule::kUnlimited);
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
          {"refusal", shown.side.finding() ? describe(*shown.side.finding(), program) : ""},
          {"obligations", obligations.size()},
          {"covered", covered},
          {"insns", std::move(insns)}};
}

// Executed instructions are stored as runs [first, count, ...]. Changes of A and X are stored as
// [step, value, ...].
ordered_json trace_json(const Trace& run) {
  ordered_json runs = ordered_json::array();
  ordered_json a = ordered_json::array();
  ordered_json x = ordered_json::array();
  std::size_t next = SIZE_MAX;
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

// Pairs of steps are stored as runs [first step of before, first step of after, count, ...].
ordered_json pairs_json(const CommonSteps& common) {
  ordered_json out = ordered_json::array();
  std::pair<std::size_t, std::size_t> next{SIZE_MAX, SIZE_MAX};
  for (const auto& [i, j] : common.pairs) {
    if (next == std::pair(i, j))
      out.back() = out.back().get<std::size_t>() + 1;
    else
      for (const std::size_t value : {i, j, std::size_t{1}}) out.push_back(value);
    next = {i + 1, j + 1};
  }
  return out;
}

ordered_json input_json(const Page& page, const PageInput& input) {
  ordered_json words = ordered_json::array();
  const Endian endian = endian_of(input.data.arch());
  for (std::uint32_t word = 0; word < 16; ++word)
    if (input.data.words[word] != 0)
      words.push_back({word_name(word, endian), fmt::format("{:#010x}", input.data.words[word])});
  const Program& before = page.sides[0].side.program;
  const Program& after = page.sides[1].side.program;
  const Trace traces[] = {trace(before, input.data), trace(after, input.data)};
  const CommonSteps common = common_steps(before, traces[0], after, traces[1]);
  ordered_json out{{"label", printable(input.label, false)},
                   {"text", describe(input.data)},
                   {"call", describe_call(input.data)},
                   {"nr", input.data.nr()},
                   {"arch", input.data.arch()},
                   {"words", std::move(words)},
                   {"pairs", pairs_json(common)},
                   {"before", trace_json(traces[0])},
                   {"after", trace_json(traces[1])}};
  if (common.parting) out["parting"] = *common.parting;
  return out;
}

// Returns JSON that no HTML parser takes for markup.
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

// Fills in each @@NAME@@ of the frame.
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

// Returns the system calls that a region concerns, with at most `most` names.
std::string call_text(const Region& region, std::vector<NamedCall> calls, std::size_t most) {
  if (auto every = every_call_text(region)) return *std::move(every);
  if (calls.empty()) return "any";
  if (calls.size() == 1) return std::string(calls[0].entry->name);
  std::ranges::sort(calls, {}, [](const NamedCall& call) {
    return std::tuple(call.arch->arch, std::string_view(call.entry->name));
  });
  std::string out;
  for (std::size_t i = 0; i < std::min(calls.size(), most); ++i) {
    const bool same = i > 0 && calls[i - 1].arch == calls[i].arch;
    out += fmt::format("{}{}{}",
                       i == 0 ? ""
                       : same ? ", "
                              : "; ",
                       same ? "" : fmt::format("{} ", calls[i].arch->name), calls[i].entry->name);
  }
  return calls.size() > most ? fmt::format("{} and {} more", out, calls.size() - most) : out;
}

}  // namespace

PageRegion page_region(const Change& change, const Region& region, Arch host) {
  PageRegion out;
  out.effect = effect_of(change.before, change.after);
  const std::vector<NamedCall> calls = named_calls(region);
  out.call = call_text(region, calls, out.effect == Effect::kOpened ? kAllNames : kMostNames);
  if (calls.size() == 1) out.arch = calls[0].arch->name;
  out.before = action_text(change.before);
  out.after = action_text(change.after);
  out.when = arguments_text(region, host);
  if (!is_one_call(region)) out.condition = condition_text(region, host, Values::kNamed);
  if (!region.count.empty()) out.count = count_text(region.count);
  return out;
}

void note_shown(const Change& change, std::size_t shown, Page& page) {
  if (change.where.is_all(shown)) return;
  page.difference +=
      fmt::format("; {} to {}: the page shows {} of {} regions", action_text(change.before),
                  action_text(change.after), shown, change.where.region_count);
}

void add_notes(const PairNotes& notes, Page& page) {
  page.limits = notes.limits();
  page.holds_for = holds_for(notes.read_for);
  for (const MixedCall& mixed : notes.choices) page.notes.push_back({mixed.text(), true});
  for (const LoadFailure& failure : notes.failures) page.notes.push_back({failure.text(), true});
  if (notes.not_compared.empty()) return;
  PageNote& note = page.notes.emplace_back(PageNote{notes.warning(), true});
  for (const RulePosition& part : notes.not_compared) note.places.push_back(part.text());
}

void add_note(std::string text, bool warning, Page& page) {
  const bool known = std::ranges::any_of(page.notes, [&](const PageNote& note) {
    return text == note.text || (!note.places.empty() && text.starts_with(note.text));
  });
  if (!known) page.notes.push_back({std::move(text), warning});
}

void opened_first(std::vector<Change>& changes) {
  std::ranges::sort(changes, {}, [](const Change& change) {
    const Effect effect = effect_of(change.before, change.after);
    const std::uint32_t now = change.after.action.value_or(SECCOMP_RET_KILL_PROCESS);
    return std::tuple(effect, effect == Effect::kOpened ? -precedence(now) : 0, change.before,
                      change.after);
  });
}

std::string html(const Page& page) {
  Texts texts;
  ordered_json sides = ordered_json::array();
  for (const PageSide& side : page.sides) sides.push_back(side_json(side, texts));
  ordered_json document{{"sides", std::move(sides)}, {"inputs", ordered_json::array()}};
  for (const PageInput& input : page.inputs) document["inputs"].push_back(input_json(page, input));
  document["texts"] = texts.json();
  document["arch"] = arch_info(page.host).audit;
  document["calls"] = ordered_json::object();
  for (const SyscallEntry& entry : arch_info(page.host).syscalls)
    document["calls"][std::string(entry.name)] = entry.nr;
  return filled(page_parts::frame(),
                {{"TITLE", title_html(page)},
                 {"STYLE", std::string(page_parts::style())},
                 {"SCRIPT", fmt::format("{}{}{}", page_parts::listing(), page_parts::script(),
                                        page_parts::graph())},
                 {"VERDICT", verdict_html(page)},
                 {"STATE", std::string(tone(page))},
                 {"DIRECTION", direction_html(page)},
                 {"PAIR", pair_html(page)},
                 {"INTERRUPTED", interrupted_html(page)},
                 {"REASON", escaped(printable(page.reason, true))},
                 {"TEXT", escaped(printable(page.text, true))},
                 {"DIFFERENCE", difference_html(page)},
                 {"NOTES", notes_html(page.notes)},
                 {"COST", page.cost ? cost_html(*page.cost) : ""},
                 {"CACHE", cache_html(page.cache)},
                 {"PROVENANCE", provenance_html(page)},
                 {"VERSION", escaped(page.version)},
                 {"COMMAND", escaped(page.command)},
                 {"DATA", embedded(document)}});
}

}  // namespace secequiv
