#include "harness/seccomp/assumption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "harness/base/table.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

using Field = Assumption::Field;
using Node = Assumption::Node;
using Kind = Node::Kind;
using Part = Field::Part;

constexpr int kMaxNesting = 200;

struct Operator {
  std::string_view text;
  Kind kind;
  bool negated;
};
constexpr std::array kOperators = {
    Operator{"==", Kind::kEq, false}, Operator{"!=", Kind::kEq, true},
    Operator{"<", Kind::kGe, true},   Operator{"<=", Kind::kGt, true},
    Operator{">", Kind::kGt, false},  Operator{">=", Kind::kGe, false},
};

std::string field_name(const Field& field) {
  if (field.index == kNrField) return "nr";
  if (field.index == kArchField) return "arch";
  if (field.index >= kSymbolField) return "$" + field.name;
  const std::string name = field.index == kIpField ? "ip" : fmt::format("arg{}", field.index);
  return name + (field.part == Part::kLow ? ".lo" : field.part == Part::kHigh ? ".hi" : "");
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct Token {
  std::string_view text;  // empty at the end
  std::size_t begin = 0;  // offset in the expression

  [[nodiscard]] bool is_number() const { return !text.empty() && is_digit(text[0]); }
};

// Returns the first token at or after `begin`.
Token token_at(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_space(text[begin])) ++begin;
  std::size_t end = begin;
  if (end < text.size() && text[end] == '$') ++end;
  while (end < text.size() && (is_name_letter(text[end]) || is_digit(text[end]))) ++end;
  if (end != begin || begin == text.size()) return {text.substr(begin, end - begin), begin};
  constexpr std::array<std::string_view, 7> kLong = {"==", "!=", "<=", ">=", "&&", "||", ".."};
  const bool is_long = std::ranges::find(kLong, text.substr(begin, 2)) != kLong.end();
  return {text.substr(begin, is_long ? 2 : 1), begin};
}

// Returns the token in quotes for an error message.
std::string quoted(std::string_view text) {
  if (text.empty()) return "the end";
  const auto byte = static_cast<unsigned char>(text.front());
  return byte >= ' ' && byte < 0x7f ? fmt::format("'{}'", text) : fmt::format("byte {:#04x}", byte);
}

std::string number_limits(const Field& field) {
  return field.is_wide() ? "a number from -2^63 to 2^64-1" : "a number from -2^31 to 2^32-1";
}

std::string arch_names(bool with_x32) {
  std::vector<std::string_view> names;
  for (const ArchInfo& info : all_arches())
    if (with_x32 || info.arch != Arch::kX32) names.push_back(info.name);
  return fmt::format("an architecture ({})", fmt::join(names, ", "));
}

// A recursive descent parser with one function for each line of the grammar. Each function appends
// its nodes to `out_`, the root last. Names may precede the architecture that gives them their
// meaning. Therefore the text is parsed twice, and the first pass only collects architectures.
class Parser {
 public:
  Parser(std::string_view text, const ConditionReading& reading)
      : text_(text), reading_(reading), arch_(reading.default_arch) {}

  Result<Assumption> parse() {
    for (const bool resolve : {false, true}) {
      resolve_ = resolve;
      conjunction_ = 0;
      out_.nodes.clear();
      token_ = token_at(text_, 0);
      RETURN_IF_ERROR(any());
      if (!token_.text.empty()) return expected("'&&', '||' or the end");
    }
    return std::move(out_);
  }

 private:
  void advance() {
    end_ = token_.begin + token_.text.size();
    token_ = token_at(text_, end_);
  }
  [[nodiscard]] bool at(std::string_view text) const { return token_.text == text; }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    advance();
    return true;
  }

  [[nodiscard]] Error failure(std::size_t begin, std::string_view what, std::string_view found,
                              std::string_view hint = "") const {
    std::string detail = fmt::format("expected {}, found {}{}", what, quoted(found), hint);
    if (reading_.place)
      return make_error(ErrorCode::kParse, reading_.place(begin), std::move(detail));
    return usage_error(Subject::kAssumption, fmt::format("column {}: {}", begin + 1, detail));
  }
  [[nodiscard]] Error expected(std::string_view what) const {
    return failure(token_.begin, what, token_.text);
  }
  [[nodiscard]] std::string_view taken_since(std::size_t begin) const {
    return text_.substr(begin, end_ - begin);
  }

  Status any() {
    return chain("||", Kind::kAny, [this] { return all(); });
  }
  Status all() {
    const std::size_t mine = conjunction_++;
    if (!resolve_) arches_.emplace_back();
    const Arch outer = arch_;
    const std::optional<Endian> outer_order = order_;
    if (const auto arch = arches_[mine]) {
      if (arch_info(*arch).audit != arch_info(outer).audit) arch_ = *arch;
      order_ = arch_info(*arch).endian;
    }
    auto status = chain("&&", Kind::kAll, [&] { return operand_of_all(mine); });
    arch_ = outer;
    order_ = outer_order;
    return status;
  }
  Status operand_of_all(std::size_t conjunction) {
    auto status = unary();
    if (status && !resolve_ && !arches_[conjunction]) {
      const Node& last = out_.nodes.back();
      if (last.kind == Kind::kEq && !last.negated && last.field.index == kArchField &&
          last.mask == last.field.max())
        arches_[conjunction] = arch_from_data(static_cast<std::uint32_t>(last.value), 0);
    }
    return status;
  }

  template <class Operand>
  Status chain(std::string_view connective, Kind kind, const Operand& operand) {
    Node node;
    node.kind = kind;
    do {
      RETURN_IF_ERROR(operand());
      node.children.push_back(static_cast<std::uint32_t>(out_.nodes.size() - 1));
    } while (take(connective));
    if (node.children.size() > 1) out_.nodes.push_back(std::move(node));
    return Ok{};
  }

  Status unary() {
    if (at("!") || at("(")) {
      if (nesting_ == kMaxNesting)
        return expected(fmt::format("at most {} nested '(' and '!'", kMaxNesting));
      ++nesting_;
      auto status = take("!") ? negation() : group();
      --nesting_;
      return status;
    }
    if (!at("true") && !at("false")) return test();
    out_.nodes.emplace_back().negated = at("false");
    advance();
    return Ok{};
  }

  Status negation() {
    RETURN_IF_ERROR(unary());
    out_.nodes.back().negated = !out_.nodes.back().negated;
    return Ok{};
  }

  Status group() {
    advance();
    RETURN_IF_ERROR(any());
    if (!take(")")) return expected("'&&', '||' or ')'");
    return Ok{};
  }

  Status test() {
    ASSIGN_OR_RETURN(const auto read, field());
    Node node;
    node.field = read;
    lacking_ = false;
    auto status = take("&") ? masked(node) : at("in") || at("not") ? membership(node) : plain(node);
    if (status) out_.nodes.push_back(lacking_ ? without_value(node) : std::move(node));
    return status;
  }

  // Returns the result of a test of a name without a value.
  static Node without_value(const Node& test) {
    Node out;
    out.negated = !test.negated || test.kind == Kind::kGe || test.kind == Kind::kGt;
    return out;
  }

  Status plain(Node& node) {
    const auto* const op = entry_of(kOperators, token_.text, &Operator::text);
    if (op == nullptr)
      return expected(
          fmt::format("==, !=, <, <=, >, >=, &, in or not in after {}", field_name(node.field)));
    advance();
    node.kind = op->kind;
    node.negated = op->negated;
    node.mask = node.field.max();
    return into(node.value, node.field);
  }

  Status masked(Node& node) {
    node.kind = Kind::kEq;
    RETURN_IF_ERROR(into(node.mask, node.field));
    lacking_ = false;  // a flag that an architecture does not have is never set there
    if (!at("==") && !at("!=")) return expected("== or != after the mask");
    node.negated = at("!=");
    advance();
    return into(node.value, node.field);
  }

  Status membership(Node& node) {
    node.kind = Kind::kIn;
    node.negated = take("not");
    if (!take("in")) return expected("in after not");
    if (!take("{")) return expected("'{' after in");
    do {
      const std::size_t begin = token_.begin;
      Assumption::Range range;
      RETURN_IF_ERROR(into(range.first, node.field));
      range.last = range.first;
      if (take("..")) RETURN_IF_ERROR(into(range.last, node.field));
      if (std::exchange(lacking_, false)) continue;
      if (resolve_ && range.first > range.last)
        return failure(begin, "a range from low to high (unsigned)", taken_since(begin));
      node.ranges.push_back(range);
    } while (take(","));
    lacking_ = node.ranges.empty();
    if (!take("}")) return expected("',' or '}'");
    return Ok{};
  }

  Result<Field> field() {
    const std::string_view name = token_.text;
    if (name == "nr" || name == "syscall" || name == "arch") {
      advance();
      return Field{name == "arch" ? kArchField : kNrField};
    }
    if (name.starts_with('$')) return symbol();
    Field out;
    out.order = order_;
    if (name == "ip") {
      out.index = kIpField;
    } else if (name == "args") {
      advance();
      if (!take("[")) return expected("'[' after args");
      if (!is_argument(token_.text)) return expected("an argument's index from 0 to 5");
      out.index = token_.text[0] - '0';
      advance();
      if (!at("]")) return expected("']'");
    } else if (name.starts_with("arg") && is_argument(name.substr(3))) {
      out.index = name[3] - '0';
    } else {
      return expected("a field (arch, nr, syscall, ip, arg0..arg5), true, false, '!' or '('");
    }
    advance();
    if (!take(".")) return out;
    if (!at("lo") && !at("hi")) return expected("lo or hi");
    out.part = at("lo") ? Part::kLow : Part::kHigh;
    advance();
    return out;
  }

  Result<Field> symbol() {
    const auto& symbols = reading_.symbols;
    const auto known = std::ranges::find(symbols, token_.text.substr(1), &Symbol::name);
    if (known == symbols.end()) {
      std::vector<std::string> names;
      for (const Symbol& symbol : symbols) names.push_back("$" + symbol.name);
      return expected(names.empty()
                          ? "a field, because the filters have no names"
                          : fmt::format("a name of the filters ({})", fmt::join(names, ", ")));
    }
    advance();
    Field out;
    out.index = kSymbolField + static_cast<int>(known - symbols.begin());
    out.name = known->name;
    return out;
  }

  static bool is_argument(std::string_view text) {
    return text.size() == 1 && text[0] >= '0' && text[0] < '0' + kArgCount;
  }

  Status into(std::uint64_t& out, const Field& field) {
    ASSIGN_OR_RETURN(auto read, value(field));
    out = read;
    return Ok{};
  }

  Result<std::uint64_t> value(const Field& field) {
    if (field.index < kArgCount) return argument_value(field);
    if (token_.is_number() || at("-")) return number(field);
    if (field.index == kArchField) return arch();
    if (field.index == kNrField) return syscall();
    return expected(number_limits(field));
  }

  // Reads numbers and named constants of the architecture joined by '|', with or without
  // parentheses.
  Result<std::uint64_t> argument_value(const Field& field) {
    const bool group = take("(");
    std::uint64_t out = 0;
    do {
      const auto one = token_.is_number() || at("-") ? number(field) : constant(field);
      if (!one) return one;
      out |= *one;
    } while (take("|"));
    if (group && !take(")")) return expected("'|' or ')'");
    return out;
  }

  Result<std::uint64_t> constant(const Field& field) {
    const auto known = constant_value(arch_, token_.text);
    lacking_ |= !known && may_lack([this](Arch arch) { return constant_value(arch, token_.text); });
    if (!lacking_ && (!known || *known > field.max())) return expected(number_limits(field));
    advance();
    return known.value_or(0);
  }

  // Returns whether a name may have no value here, because it has one on some architecture.
  template <class ValueOn>
  [[nodiscard]] bool may_lack(const ValueOn& value_on) const {
    return reading_.names != ConditionReading::Names::kRequired &&
           std::ranges::any_of(
               all_arches(), [&](const ArchInfo& info) { return value_on(info.arch).has_value(); });
  }

  Result<std::uint64_t> number(const Field& field) {
    const std::size_t begin = token_.begin;
    const bool negative = take("-");
    if (!token_.is_number()) return expected("a number after '-'");
    const std::uint64_t limit = negative ? field.max() / 2 + 1 : field.max();
    const auto magnitude = parse_unsigned(token_.text);
    advance();
    if (!magnitude || *magnitude > limit)
      return failure(begin, number_limits(field), taken_since(begin));
    return negative ? (0 - *magnitude) & field.max() : *magnitude;
  }

  Result<std::uint64_t> arch() {
    if (take("host"))
      return std::uint64_t{arch_info(reading_.host.value_or(reading_.default_arch)).audit};
    const auto arch = arch_from_name(token_.text);
    // x32 has the arch value of x86_64, so `arch != x32` would exclude x86_64 too.
    if (arch == Arch::kX32)
      return expected("x86_64 (x32 has the same arch value; 'nr & 0x40000000' distinguishes them)");
    if (!arch)
      return failure(token_.begin, arch_names(false) + " or a number", token_.text,
                     did_you_mean(similar_arches(token_.text)));
    advance();
    return std::uint64_t{arch_info(*arch).audit};
  }

  Result<std::uint64_t> syscall() {
    Token name = token_;
    if (at("") || !is_name_letter(name.text[0])) return expected("a system call or a number");
    std::optional<Arch> arch = arch_;
    advance();
    const bool plain = !at(":");
    if (take(":")) {
      arch = arch_from_name(name.text);
      if (!arch)
        return failure(name.begin, arch_names(true), name.text,
                       did_you_mean(similar_arches(name.text)));
      name = token_;
      advance();
    }
    if (plain && !resolve_) return std::uint64_t{0};
    const auto number_on = [&](Arch which) { return syscall_nr(which, name.text); };
    if (plain && may_lack(number_on) &&
        (reading_.names == ConditionReading::Names::kNone || !number_on(*arch))) {
      lacking_ = true;
      return std::uint64_t{0};
    }
    if (const auto nr = number_on(*arch)) return std::uint64_t{*nr};
    const std::string what = fmt::format("a system call of {}", arch_info(*arch).name);
    return failure(name.begin, what, name.text, did_you_mean(similar_syscalls(*arch, name.text)));
  }

  std::string_view text_;
  const ConditionReading& reading_;
  Arch arch_;                                // the architecture of names without a prefix
  std::optional<Endian> order_;              // byte order of arch_, if it is not the default
  bool resolve_ = false;                     // true in the second pass
  std::size_t conjunction_ = 0;              // index of the next conjunction
  std::vector<std::optional<Arch>> arches_;  // architecture that each conjunction tests for
  Token token_;                              // the next token
  std::size_t end_ = 0;                      // end of the last token taken
  bool lacking_ = false;                     // whether a name of the current test has no value
  int nesting_ = 0;                          // number of '(' and '!' around the next token
  Assumption out_;
};

std::uint64_t value_of(const Field& field, const SeccompData& data, Endian endian) {
  return field.is_wide() ? data.field(field.index, field.order.value_or(endian))
                         : data.words[field.word(false, endian)];
}

bool test(const Node& node, std::uint64_t value) {
  if (node.kind == Kind::kGt) return value > node.value;
  if (node.kind == Kind::kGe) return value >= node.value;
  if (node.kind == Kind::kEq) return (value & node.mask) == node.value;
  return std::ranges::any_of(node.ranges, [value](const Assumption::Range& range) {
    return range.first <= value && value <= range.last;
  });
}

std::string value_text(const Field& field, std::uint64_t value) {
  if (field.index == kNrField) return fmt::format("{}", value);
  if (field.index == kArchField)
    if (const auto arch = arch_from_data(static_cast<std::uint32_t>(value), 0))
      return std::string(arch_info(*arch).name);
  return fmt::format("{:#x}", value);
}

std::string test_text(const Node& node) {
  const std::string name = field_name(node.field);
  if (node.kind == Kind::kIn) {
    std::vector<std::string> items;
    for (const auto& [first, last] : node.ranges) {
      items.push_back(value_text(node.field, first));
      if (first != last) items.back() += ".." + value_text(node.field, last);
    }
    return fmt::format("{}{} in {{{}}}", name, node.negated ? " not" : "", fmt::join(items, ", "));
  }
  if (node.kind == Kind::kEq && node.mask != node.field.max())
    return fmt::format("{} & {:#x} {} {:#x}", name, node.mask,
                       node.negated ? "!=" : "==", node.value);
  const auto* const op = entry_if(kOperators, [&node](const Operator& candidate) {
    return candidate.kind == node.kind && candidate.negated == node.negated;
  });
  return fmt::format("{} {} {}", name, op->text, value_text(node.field, node.value));
}

}  // namespace

Result<Assumption> parse_assumption(std::string_view text, Arch default_arch,
                                    std::span<const Symbol> symbols) {
  return parse_condition(text, {.default_arch = default_arch, .symbols = symbols});
}

Result<Assumption> parse_condition(std::string_view text, const ConditionReading& reading) {
  return Parser(text, reading).parse();
}

namespace {

// Returns the value of a condition that is the same for every input by its form.
std::optional<bool> constant(const Assumption& condition) {
  if (condition.nodes.empty()) return true;
  const Node& root = condition.nodes.back();
  if (root.kind != Kind::kAll || !root.children.empty()) return std::nullopt;
  return !root.negated;
}

Assumption constant_condition(bool value) {
  Assumption out;
  out.nodes.emplace_back().negated = !value;
  return out;
}

// Joins the conditions, and leaves out those that have no effect.
Assumption joined(std::vector<Assumption> conditions, Kind kind) {
  const bool neutral = kind == Kind::kAll;
  Assumption out;
  Node root;
  root.kind = kind;
  for (Assumption& condition : conditions) {
    const auto value = constant(condition);
    if (value == !neutral) return constant_condition(!neutral);
    if (value) continue;
    const auto offset = static_cast<std::uint32_t>(out.nodes.size());
    for (Node& node : condition.nodes) {
      for (std::uint32_t& child : node.children) child += offset;
      out.nodes.push_back(std::move(node));
    }
    root.children.push_back(static_cast<std::uint32_t>(out.nodes.size() - 1));
  }
  if (root.children.size() == 1) return out;
  if (root.children.empty()) return constant_condition(neutral);
  out.nodes.push_back(std::move(root));
  return out;
}

}  // namespace

Assumption all_of(std::vector<Assumption> conditions) {
  return joined(std::move(conditions), Kind::kAll);
}

Assumption any_of(std::vector<Assumption> conditions) {
  return joined(std::move(conditions), Kind::kAny);
}

Assumption not_of(Assumption condition) {
  if (condition.nodes.empty()) condition.nodes.emplace_back();
  condition.nodes.back().negated = !condition.nodes.back().negated;
  return condition;
}

Assumption with_values(const Assumption& assumption, std::span<const std::uint32_t> values) {
  Assumption out = assumption;
  for (Node& node : out.nodes) {
    if (node.kind == Kind::kAll || node.kind == Kind::kAny || node.field.index < kSymbolField)
      continue;
    const bool truth =
        test(node, values[static_cast<std::size_t>(node.field.index) - kSymbolField]);
    const bool negated = truth == node.negated;
    node = Node{};
    node.negated = negated;
  }
  return out;
}

bool holds(const Assumption& assumption, const SeccompData& data, Endian endian) {
  std::vector<bool> truths;  // one per node; children come before their parents
  const auto child_holds = [&truths](std::uint32_t child) { return bool{truths[child]}; };
  for (const Node& node : assumption.nodes) {
    const bool truth = node.kind == Kind::kAll   ? std::ranges::all_of(node.children, child_holds)
                       : node.kind == Kind::kAny ? std::ranges::any_of(node.children, child_holds)
                                                 : test(node, value_of(node.field, data, endian));
    truths.push_back(truth != node.negated);
  }
  return truths.empty() || truths.back();
}

std::string describe(const Assumption& assumption) {
  std::vector<std::string> texts;  // one per node; children come before their parents
  const auto group_text = [&](const Node& node) -> std::string {
    const bool all = node.kind == Kind::kAll;
    if (node.children.empty()) return all != node.negated ? "true" : "false";
    std::string out;
    for (const std::uint32_t index : node.children) {
      const Node& child = assumption.nodes[index];
      // Parentheses within a conjunction must stay, because an architecture inside them applies
      // only there.
      const bool loose = all && !child.negated && !child.children.empty() &&
                         (child.kind == Kind::kAny || child.kind == Kind::kAll);
      if (!out.empty()) out += all ? " && " : " || ";
      out += loose ? fmt::format("({})", texts[index]) : texts[index];
    }
    return node.negated ? fmt::format("!({})", out) : out;
  };
  for (const Node& node : assumption.nodes) {
    const bool is_group = node.kind == Kind::kAll || node.kind == Kind::kAny;
    texts.push_back(is_group ? group_text(node) : test_text(node));
  }
  return texts.empty() ? "true" : std::move(texts.back());
}

}  // namespace secequiv
