#include "harness/seccomp/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "harness/base/table.h"
#include "harness/base/text.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using Outcome = Property::Outcome;
using Names = ConditionReading::Names;

struct OutcomeWord {
  Outcome outcome;
  std::string_view name;
  std::uint32_t bound;
};
constexpr std::array kOutcomes = {
    OutcomeWord{Outcome::kKilled, "killed", SECCOMP_RET_KILL_THREAD},
    OutcomeWord{Outcome::kRefused, "refused", SECCOMP_RET_ERRNO},
    OutcomeWord{Outcome::kNotAllowed, "not allowed", SECCOMP_RET_TRACE},
    OutcomeWord{Outcome::kAllowed, "allowed", SECCOMP_RET_LOG},
};

const OutcomeWord& word_of(Outcome outcome) {
  return *std::ranges::find(kOutcomes, outcome, &OutcomeWord::outcome);
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Replaces comments by blanks, so that offsets stay the same.
std::string without_comments(std::string_view text) {
  std::string out(text);
  bool comment = false;
  for (char& c : out) {
    comment = c != '\n' && (comment || c == '#');
    if (comment) c = ' ';
  }
  return out;
}

// Returns `text` with each run of blanks replaced by one blank.
std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!is_blank(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// A part of the property's text.
struct Piece {
  std::string_view text;
  std::size_t begin = 0;  // offset in the property's text

  [[nodiscard]] Piece from(std::size_t at) const { return Piece{text.substr(at), begin + at}; }
  [[nodiscard]] Piece up_to(std::size_t at) const { return Piece{text.substr(0, at), begin}; }
  [[nodiscard]] Piece trimmed() const {
    Piece out = *this;
    while (!out.text.empty() && is_blank(out.text.front())) out = out.from(1);
    while (!out.text.empty() && is_blank(out.text.back())) out.text.remove_suffix(1);
    return out;
  }
};

// Returns the words of a line's beginning, for an error message.
std::string found_text(const Piece& piece) {
  constexpr std::size_t kShown = 30;
  const std::string shown = in_one_line(piece.text);
  if (shown.empty()) return "nothing";
  return fmt::format("'{}{}'", shown.substr(0, kShown), shown.size() > kShown ? "..." : "");
}

// Returns the position of the last word `or`.
std::optional<std::size_t> last_or(std::string_view text) {
  for (std::size_t at = text.rfind("or"); at != text.npos && at != 0;
       at = at == 0 ? text.npos : text.rfind("or", at - 1))
    if (is_blank(text[at - 1]) && (at + 2 == text.size() || is_blank(text[at + 2]))) return at;
  return std::nullopt;
}

// Gives the fields of a condition the byte order of an architecture.
Assumption in_order(Assumption condition, Endian endian) {
  for (Assumption::Node& node : condition.nodes)
    if (node.field.index <= kIpField && !node.field.order) node.field.order = endian;
  return condition;
}

Assumption masked_test(int field, std::uint64_t mask, std::uint64_t value, bool negated = false) {
  Assumption out;
  Assumption::Node& node = out.nodes.emplace_back();
  node.kind = Assumption::Node::Kind::kEq;
  node.field.index = field;
  node.mask = mask;
  node.value = value;
  node.negated = negated;
  return out;
}

// Returns the condition that an input belongs to the architecture.
Assumption is_arch(const ArchInfo& info) {
  Assumption out = masked_test(kArchField, 0xffffffff, info.audit);
  if (info.audit != AUDIT_ARCH_X86_64) return out;
  return all_of({std::move(out), masked_test(kNrField, kX32Bit, 0, info.arch == Arch::kX32)});
}

// Returns the condition that an input belongs to no known architecture.
Assumption is_unknown_arch() {
  std::vector<Assumption> known;
  known.reserve(all_arches().size());
  for (const ArchInfo& info : all_arches())
    if (info.arch != Arch::kX32)  // it has the value of x86_64
      known.push_back(masked_test(kArchField, 0xffffffff, info.audit, true));
  return all_of(std::move(known));
}

bool tests_arch(const Assumption& condition) {
  return std::ranges::any_of(condition.nodes, [](const Assumption::Node& node) {
    const bool group =
        node.kind == Assumption::Node::Kind::kAll || node.kind == Assumption::Node::Kind::kAny;
    return !group && node.field.index == kArchField;
  });
}

class PropertyReader {
 public:
  PropertyReader(std::string_view text, const std::string& name, Arch host)
      : text_(without_comments(text)), name_(name), host_(host) {}

  Result<Property> read() {
    Property out;
    out.name = name_;
    for (const Piece& piece : pieces()) {
      ASSIGN_OR_RETURN(auto clause, read_clause(piece));
      clause.text = in_one_line(piece.text);
      clause.line = line_of(piece.begin);
      out.clauses.push_back(std::move(clause));
    }
    if (out.clauses.empty())
      return make_error(ErrorCode::kParse, name_,
                        "expected a clause, such as 'refused: ptrace', found none");
    return out;
  }

 private:
  [[nodiscard]] std::size_t line_of(std::size_t offset) const {
    return 1 + static_cast<std::size_t>(std::count(
                   text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  }
  [[nodiscard]] std::string place(std::size_t offset) const {
    const std::size_t newline = offset == 0 ? text_.npos : text_.rfind('\n', offset - 1);
    const std::size_t start = newline == text_.npos ? 0 : newline + 1;
    return fmt::format("{}:{}:{}", name_, line_of(offset), offset - start + 1);
  }
  [[nodiscard]] Error expected(const Piece& at, std::string_view what) const {
    return make_error(ErrorCode::kParse, place(at.begin),
                      fmt::format("expected {}, found {}", what, found_text(at)));
  }

  // Returns the clauses without surrounding blanks.
  [[nodiscard]] std::vector<Piece> pieces() const {
    std::vector<Piece> out;
    const std::string_view text = text_;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const Piece line = Piece{text.substr(begin, end - begin), begin}.trimmed();
      const bool continues = line.begin != begin && !out.empty();
      if (!line.text.empty() && continues)
        out.back().text =
            text.substr(out.back().begin, line.begin + line.text.size() - out.back().begin);
      else if (!line.text.empty())
        out.push_back(line);
      begin = end + 1;
    }
    return out;
  }

  [[nodiscard]] Result<Property::Clause> read_clause(const Piece& piece) const {
    constexpr std::string_view kWhen = "when";
    if (piece.text.starts_with(kWhen) && piece.text.size() > kWhen.size() &&
        is_blank(piece.text[kWhen.size()])) {
      std::size_t colon = piece.text.find(':');
      while (colon != piece.text.npos && colon + 1 < piece.text.size() &&
             !is_blank(piece.text[colon + 1]))
        colon = piece.text.find(':', colon + 1);
      const Piece rest = piece.from(kWhen.size());
      if (colon == piece.text.npos)
        return expected(Piece{{}, piece.begin + piece.text.size()},
                        "': ' and an outcome after the condition");
      return conditional(rest.up_to(colon - kWhen.size()), piece.from(colon + 1));
    }
    const std::size_t colon = piece.text.find(':');
    const std::string head = in_one_line(piece.text.substr(0, colon));
    const auto* const word = entry_of(kOutcomes, head, &OutcomeWord::name);
    if (colon == piece.text.npos || (head != "always" && word == nullptr))
      return expected(piece,
                      "'when CONDITION:', 'always:', 'killed:', 'refused:', 'not allowed:' or "
                      "'allowed:'");
    const Piece rest = piece.from(colon + 1);
    if (head == "always") return conditional(std::nullopt, rest);
    return listed(word->outcome, rest);
  }

  // Reads `result` for the inputs that meet `when`, or for all.
  [[nodiscard]] Result<Property::Clause> conditional(const std::optional<Piece>& when,
                                                     const Piece& result) const {
    const auto at = last_or(result.text);
    const Piece end = (at ? result.from(*at + 2) : result).trimmed();
    const auto* const word = entry_of(kOutcomes, in_one_line(end.text), &OutcomeWord::name);
    if (word == nullptr)
      return expected(end,
                      "an outcome (killed, refused, not allowed, allowed), or 'CONDITION or' "
                      "and an outcome");
    std::vector<Condition> conditions;
    if (when) conditions.push_back({std::string(when->text), when->begin});
    if (at) conditions.push_back({std::string(result.text.substr(0, *at)), result.begin, true});
    return clause(word->outcome, conditions);
  }

  [[nodiscard]] Result<Property::Clause> listed(Outcome outcome, const Piece& names) const {
    if (const std::size_t colon = names.text.find(':'); colon != names.text.npos)
      return expected(names.from(colon),
                      "names of calls without an architecture, which 'when arch == ARCH && nr in "
                      "{...}: OUTCOME' restricts");
    // Braces would end the list of the condition below, and start another condition.
    if (const std::size_t brace = names.text.find_first_of("{}"); brace != names.text.npos)
      return expected(names.from(brace), "names or numbers of calls without braces");
    const Piece list = names.trimmed();
    if (list.text.empty() || list.text.back() == ',')
      return expected(list.from(list.text.size()), "a system call or a number");
    constexpr std::string_view kBefore = "nr in {";
    const std::string text = fmt::format("{}{}}}", kBefore, names.text);
    return clause(outcome, {{text, names.begin, false, kBefore.size()}});
  }

  struct Condition {
    std::string text;
    std::size_t begin = 0;  // offset of its first own byte in the property's text
    bool negated = false;   // the clause covers the inputs that do not meet it
    std::size_t added = 0;  // bytes before its own bytes
  };

  [[nodiscard]] Result<Assumption> parsed(const std::vector<Condition>& conditions, Arch arch,
                                          Names names) const {
    std::vector<Assumption> out;
    out.reserve(conditions.size());
    for (const Condition& one : conditions) {
      ConditionReading reading;
      reading.default_arch = arch;
      reading.host = host_;
      reading.names = names;
      reading.place = [&](std::size_t offset) {
        return place(std::min(one.begin + std::max(offset, one.added) - one.added, text_.size()));
      };
      auto condition = parse_condition(one.text, reading);
      if (!condition) return condition;
      out.push_back(one.negated ? not_of(std::move(*condition)) : std::move(*condition));
    }
    return in_order(all_of(std::move(out)), arch_info(arch).endian);
  }

  // Makes a clause about the inputs that meet all `conditions`, on the architectures that it
  // covers.
  [[nodiscard]] Result<Property::Clause> clause(Outcome outcome,
                                                const std::vector<Condition>& conditions) const {
    Property::Clause out;
    out.outcome = outcome;
    // The host comes first, so that errors suggest its calls.
    auto here = parsed(conditions, host_, Names::kKnown);
    if (!here) return here.error();
    if (outcome == Outcome::kAllowed && !tests_arch(*here)) {
      here = parsed(conditions, host_, Names::kRequired);
      if (!here) return here.error();
      out.condition = all_of({is_arch(arch_info(host_)), std::move(*here)});
      return out;
    }
    std::vector<Assumption> cases;
    cases.reserve(all_arches().size() + 1);
    for (const ArchInfo& info : all_arches()) {
      ASSIGN_OR_RETURN(auto condition, parsed(conditions, info.arch, Names::kKnown));
      cases.push_back(all_of({is_arch(info), std::move(condition)}));
    }
    ASSIGN_OR_RETURN(auto condition, parsed(conditions, host_, Names::kNone));
    cases.push_back(all_of({is_unknown_arch(), std::move(condition)}));
    out.condition = any_of(std::move(cases));
    return out;
  }

  std::string text_;
  const std::string& name_;
  Arch host_;
};

}  // namespace

std::uint32_t Property::Clause::bound() const { return word_of(outcome).bound; }

std::string_view outcome_name(Outcome outcome) { return word_of(outcome).name; }

std::string expected_text(const Property::Clause& clause) {
  return fmt::format("at {} {}", clause.outcome == Outcome::kAllowed ? "least" : "most",
                     action_name(clause.bound()));
}

Result<Property> parse_property(std::string_view text, const std::string& name, Arch host) {
  return PropertyReader(without_bom(text), name, host).read();
}

}  // namespace secequiv
