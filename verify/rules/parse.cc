// Reads .rule files.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "verify/rules/rule.h"

namespace secequiv::rules {
namespace {

constexpr std::size_t kMaxFragment = 1000;
constexpr std::size_t kMaxIndices = 8;

std::string_view uncommented(std::string_view line) {
  return trimmed(line.substr(0, std::min(line.find(';'), line.find("//"))));
}
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}
// Returns the word at the beginning of `text`.
std::string_view word_of(std::string_view text) {
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_name) - text.begin()));
}

// Removes the first item of a list with commas from `rest` and returns it.
std::string_view take_item(std::string_view& rest) {
  const std::string_view item = trimmed(take_part(rest, ','));
  rest = trimmed(rest);
  return item;
}

struct Line {
  std::size_t number = 0;
  std::string_view text;  // without the comment and outer blanks
};

// A key of a rule, with its value and its block.
struct Entry {
  Line line;
  std::string_view key;        // "where", "live", ...
  std::string_view qualifier;  // "yes" in "live yes:"
  std::string_view value;
  std::vector<Line> block;
};

constexpr std::array<std::string_view, 7> kKeys = {"source", "expect", "for",  "where",
                                                   "live",   "before", "after"};

bool is_key(std::string_view word) { return std::ranges::find(kKeys, word) != kKeys.end(); }

// Returns whether a symbol can replace the instruction's k.
bool has_number(const Insn& in) {
  switch (insn_info(in.code)->operand) {
    case Operand::Imm:
    case Operand::Abs:
    case Operand::Mem:
    case Operand::CondImm:
      return true;
    default:
      return false;
  }
}

// Reads a line such as "live yes: A". Returns std::nullopt if the line belongs to the block before
// it.
std::optional<Entry> entry_of(const Line& line) {
  const std::string_view key = word_of(line.text);
  if (!is_key(key)) return std::nullopt;
  std::string_view rest = trimmed(line.text.substr(key.size()));
  std::string_view qualifier;
  if (key == "live" && !rest.starts_with(':')) {
    qualifier = word_of(rest);
    rest = trimmed(rest.substr(qualifier.size()));
  }
  if (!rest.starts_with(':')) return std::nullopt;
  return Entry{line, key, qualifier, trimmed(rest.substr(1)), {}};
}

// Reads the entries of one rule.
class Reader {
 public:
  Reader(Rewrite& rule, const std::string& file) : rule_(rule), file_(file) {}

  Status read(std::vector<Entry> entries) {
    for (Entry& entry : entries) {
      const bool many = entry.key == "where" || entry.key == "live";
      if (!many && !seen_.insert(entry.key).second)
        return failure(entry.line, fmt::format("'{}:' is given twice", entry.key));
      if (entry.key != "before" && entry.key != "after" && !entry.block.empty())
        return failure(entry.block.front(),
                       "expected 'source:', 'expect:', 'for:', 'where:', "
                       "'live:', 'before:', 'after:' or 'rule'");
      RETURN_IF_ERROR(take(entry));
    }
    for (const std::string_view side : {"before", "after"})
      if (!seen_.contains(side))
        return make_error(ErrorCode::kParse, rule_.where_found,
                          fmt::format("rule {} has no '{}:'", rule_.name, side));
    return finish();
  }

 private:
  [[nodiscard]] std::string at(const Line& line) const {
    return fmt::format("{}:{}", file_, line.number);
  }
  [[nodiscard]] Error failure(const Line& line, std::string detail) const {
    return make_error(ErrorCode::kParse, at(line), std::move(detail));
  }

  Status take(Entry& entry) {
    if (entry.key == "source") {
      rule_.source = entry.value;
    } else if (entry.key == "expect") {
      return expectation(entry);
    } else if (entry.key == "for") {
      return family(entry);
    } else if (entry.key == "where") {
      ASSIGN_OR_RETURN(auto condition, parse_expr(entry.value, kTruth, widths_, at(entry.line)));
      rule_.conditions.push_back(std::move(condition));
    } else if (entry.key == "live") {
      lives_.push_back(std::move(entry));
    } else {
      return side(entry, entry.key == "before" ? rule_.before : rule_.after);
    }
    return Ok{};
  }

  Status expectation(const Entry& entry) {
    if (entry.value == "proven") return Ok{};
    const std::string_view word = word_of(entry.value);
    const auto kind = deviation_from_name(trimmed(entry.value.substr(word.size())));
    if (word != "refuted" || !kind)
      return failure(entry.line,
                     "expected 'proven', or 'refuted' with 'illegal', 'exit', 'value' "
                     "or 'state'");
    rule_.expected = *kind;
    return Ok{};
  }

  Status family(const Entry& entry) {
    std::string_view rest = entry.value;
    while (!rest.empty()) {
      const std::string_view item = take_item(rest);
      const std::string_view index = word_of(item);
      const std::string_view range = trimmed(item.substr(index.size()));
      const std::size_t dots = range.find("..");
      const auto number = [](std::string_view text) { return parse_unsigned(trimmed(text)); };
      if (!is_index_name(index) || !range.starts_with("in ") || dots == std::string_view::npos)
        return failure(entry.line, "expected 'INDEX in FIRST..LAST'");
      const auto first = number(range.substr(3, dots - 3));
      const auto last = number(range.substr(dots + 2));
      if (!first || !last || *first > *last || *last > 64)
        return failure(entry.line, fmt::format("expected FIRST..LAST, at most 64, found '{}'",
                                               range.substr(3)));
      for (const Rewrite::Range& other : rule_.family)
        if (other.index == index)
          return failure(entry.line, fmt::format("'{}' is given twice", index));
      if (rule_.family.size() == kMaxIndices)
        return failure(entry.line, fmt::format("more than {} indices", kMaxIndices));
      rule_.family.push_back({std::string(index), static_cast<std::uint32_t>(*first),
                              static_cast<std::uint32_t>(*last)});
    }
    return Ok{};
  }

  Status side(const Entry& entry, Side& out) {
    if (entry.value.empty() || !entry.block.empty()) {
      if (!entry.value.empty())
        return failure(entry.block.front(),
                       "expected a condition on the same line, or code below "
                       "'before:' and 'after:'");
      return code(entry, out);
    }
    ASSIGN_OR_RETURN(auto condition, parse_expr(entry.value, kTruth, widths_, at(entry.line)));
    out = std::move(condition);
    has_condition_ = true;
    use_exit("yes");
    use_exit("no");
    return Ok{};
  }

  void use_exit(std::string_view name) {
    if (std::ranges::find(rule_.exits, name) == rule_.exits.end()) rule_.exits.emplace_back(name);
  }

  // Replaces an operand that contains symbols by a number of the same length, which the assembler
  // reads.
  Status substitute(const Line& line, std::string& text,
                    std::vector<std::optional<Expr>>& operands) {
    std::size_t open = text.find("#$");
    if (open == std::string::npos) open = text.find("#(");
    if (open == std::string::npos) open = text.find("[$");
    if (open == std::string::npos) {
      operands.emplace_back();
      return Ok{};
    }
    const bool bracket = text[open] == '[';
    std::size_t end = open + 1;
    if (text[end] == '(') {
      int depth = 0;
      do {
        depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
        ++end;
      } while (depth != 0 && end < text.size());
    } else {
      ++end;
      while (end < text.size() && is_name(text[end])) ++end;
    }
    const std::string_view operand = std::string_view(text).substr(open + 1, end - open - 1);
    ASSIGN_OR_RETURN(auto e, parse_expr(operand, kWord, widths_, at(line)));
    // Every instruction accepts this number. The real values are checked once they are known.
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(open) + 1,
              text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    text[open + 1] = bracket ? '0' : '1';
    operands.emplace_back(std::move(e));
    return Ok{};
  }

  Status code(const Entry& entry, Side& out) {
    Fragment fragment;
    std::vector<std::optional<Expr>> operands;
    std::vector<std::pair<Line, std::string>> targets;
    std::set<std::string, std::less<>> labels;
    std::vector<Line> instruction_lines;
    std::string text;
    std::size_t lines = 1;
    if (entry.block.size() > kMaxFragment)
      return failure(entry.line, fmt::format("more than {} lines", kMaxFragment));
    for (const Line& line : entry.block) {
      for (; lines < line.number; ++lines) text += '\n';  // for the assembler's messages
      if (line.text.find("/*") != std::string_view::npos)
        return failure(line, "expected a comment that begins with ';'");
      std::string written(line.text);
      for (;;) {  // labels, then one instruction
        const std::string_view rest = trimmed(written);
        const std::string_view word = word_of(rest);
        if (word.empty() || !trimmed(rest.substr(word.size())).starts_with(':')) break;
        labels.emplace(word);
        const std::size_t colon = written.find(':');
        text += written.substr(0, colon + 1);
        written = written.substr(colon + 1);
      }
      if (trimmed(written).empty()) continue;
      const std::string_view mnemonic = word_of(trimmed(written));
      if (mnemonic == ".raw") return failure(line, "rules cannot contain '.raw'");
      instruction_lines.push_back(line);
      RETURN_IF_ERROR(substitute(line, written, operands));
      if (mnemonic.starts_with('j')) {
        std::string_view rest = trimmed(written);
        rest.remove_prefix(mnemonic.size());
        if (mnemonic != "ja" && mnemonic != "jmp") take_item(rest);  // the compared operand
        while (!rest.empty())
          if (const std::string_view target = word_of(take_item(rest)); !target.empty())
            targets.emplace_back(line, target);
      }
      text += written;
    }
    fragment.operands = std::move(operands);
    for (const auto& [line, target] : targets) {
      if (labels.contains(target)) continue;
      if (is_key(target) || target == "rule")
        return failure(line, fmt::format("'{}' is a keyword, so it cannot be a label", target));
      if (target == "a" || target == "x")
        return failure(line, fmt::format("exit '{}' has the name of a register", target));
      use_exit(target);
    }
    if (labels.contains("next"))
      return failure(entry.line, "'next' is the exit after the code, so it cannot be a label");
    use_exit("next");
    codes_.push_back(
        {entry.line, std::move(text), std::move(labels), std::move(instruction_lines), &out});
    out = std::move(fragment);
    return Ok{};
  }

  // Completes the rule, after all exits have been found.
  Status finish() {
    // Code that runs past its end reaches the first stub, so this must be the exit "next".
    if (const auto next = std::ranges::find(rule_.exits, "next"); next != rule_.exits.end())
      std::swap(*next, rule_.exits.front());
    for (auto& [line, text, labels, lines, side] : codes_) {
      auto& fragment = std::get<Fragment>(*side);
      for (const std::string& exit : rule_.exits) {
        if (labels.contains(exit))
          return failure(
              line, fmt::format("'{}' is a label in this code, but an exit in the other", exit));
        text += fmt::format("\n{}: ret #0", exit);
      }
      ASSIGN_OR_RETURN(auto program, detail::read_asm(text, file_));
      if (!program.uses.empty())
        return make_error(ErrorCode::kParse, program.uses.front().where,
                          "expected at most one operand with symbols in an instruction");
      fragment.program = std::move(program.program);
      fragment.size = fragment.program.size() - rule_.exits.size();
      if (fragment.size != fragment.operands.size())
        return failure(line, "expected one instruction on each line");
      fragment.operands.resize(fragment.program.size());
      for (std::size_t pc = 0; pc < fragment.size; ++pc)
        if (fragment.operands[pc] && !has_number(fragment.program[pc]))
          return failure(lines[pc], "this instruction has no operand for a symbol");
      // Checks what does not depend on the values of symbols.
      if (const auto bad = refusal_of(fragment.program))
        return failure(bad->pc < fragment.size ? lines[bad->pc] : line,
                       describe(*bad, fragment.program));
    }
    rule_.live.assign(rule_.exits.size(), has_condition_ ? 0 : kLiveAll);
    // A line for one exit has precedence over a line for all exits.
    std::ranges::partition(lives_, [](const Entry& entry) { return entry.qualifier.empty(); });
    std::set<std::string_view> exits;
    for (const Entry& entry : lives_) {
      if (!exits.insert(entry.qualifier).second)
        return failure(entry.line, entry.qualifier.empty()
                                       ? "'live:' is given twice"
                                       : fmt::format("'live {}:' is given twice", entry.qualifier));
      RETURN_IF_ERROR(live(entry));
    }
    return Ok{};
  }

  Status live(const Entry& entry) {
    Live live = 0;
    std::string_view rest = entry.value;
    if (rest.empty())
      return failure(entry.line, "expected a list of live registers and words of M[], or 'none'");
    while (!rest.empty()) {
      const std::string_view item = take_item(rest);
      Live bit = 0;
      for (Live each = kLiveA; each < kLiveAll; each <<= 1)
        if (item == live_name(each)) bit = each;
      if (item == "all") bit = kLiveAll;
      if (item == "M") bit = kLiveAll & ~(kLiveA | kLiveX);
      if (bit == 0 && item != "none")
        return failure(entry.line, fmt::format("expected A, X, M, M[0] to M[15], 'all' or 'none', "
                                               "found '{}'",
                                               item));
      live |= bit;
    }
    if (has_condition_ && live != 0)
      return failure(entry.line,
                     "expected 'live: none', because a condition leaves nothing in registers");
    if (!entry.qualifier.empty()) {
      const auto exit = std::ranges::find(rule_.exits, entry.qualifier);
      if (exit == rule_.exits.end())
        return failure(entry.line,
                       fmt::format("'{}' is not an exit of this rule", entry.qualifier));
      rule_.live[static_cast<std::size_t>(exit - rule_.exits.begin())] = live;
    } else {
      for (Live& each : rule_.live) each = live;
    }
    return Ok{};
  }

  struct Code {
    Line line;
    std::string text;
    std::set<std::string, std::less<>> labels;
    std::vector<Line> lines;  // by instruction
    Side* side;
  };
  Rewrite& rule_;
  const std::string& file_;
  SymbolWidths widths_;
  std::set<std::string_view> seen_;
  std::vector<Entry> lives_;
  std::vector<Code> codes_;
  bool has_condition_ = false;
};

}  // namespace

Result<std::vector<Rewrite>> parse_rules(std::string_view text, const std::string& name) {
  text = without_bom(text);
  std::vector<Rewrite> out;
  std::vector<Entry> entries;
  std::set<std::string> names;
  const auto finish = [&]() -> Status {
    if (out.empty()) return Ok{};
    Status s = Reader(out.back(), name).read(std::move(entries));
    entries.clear();
    return s;
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = take_part(text);
    const Line line{number, uncommented(whole)};
    const std::string where = fmt::format("{}:{}", name, line.number);
    if (word_of(line.text) == "rule") {
      RETURN_IF_ERROR(finish());
      const std::string_view title = trimmed(line.text.substr(4));
      if (title.empty() || title.front() == '.' ||
          !std::ranges::all_of(title, [](char c) { return is_name(c) || c == '-'; }))
        return make_error(ErrorCode::kParse, where,
                          "expected 'rule NAME', of letters, digits, '-', '_' and '.'");
      if (!names.emplace(title).second)
        return make_error(ErrorCode::kParse, where, fmt::format("rule {} is defined twice", title));
      out.emplace_back();
      out.back().name = title;
      out.back().where_found = where;
      out.back().text = fmt::format("{}\n", whole);
      continue;
    }
    if (line.text.empty()) continue;
    if (out.empty())
      return make_error(ErrorCode::kParse, where,
                        fmt::format("expected 'rule NAME', found '{}'", line.text.substr(0, 40)));
    out.back().text += fmt::format("{}\n", whole);
    if (auto entry = entry_of(line)) {
      if (entry->key == "source") entry->value = trimmed(whole.substr(whole.find(':') + 1));
      entries.push_back(std::move(*entry));
    } else if (!entries.empty()) {
      entries.back().block.push_back(line);
    } else {
      return make_error(ErrorCode::kParse, where,
                        fmt::format("expected 'source:', 'expect:', 'for:', 'where:', 'live:', "
                                    "'before:' or 'after:', found '{}'",
                                    line.text.substr(0, 40)));
    }
  }
  RETURN_IF_ERROR(finish());
  if (out.empty())
    return make_error(ErrorCode::kParse, name, "expected rules ('rule NAME'), found none");
  return out;
}

}  // namespace secequiv::rules
