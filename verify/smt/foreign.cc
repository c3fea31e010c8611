#include "verify/smt/foreign.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "harness/adapter/command.h"
#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "harness/base/text.h"
#include "verify/smt/session.h"
#include "verify/symbolic/sides.h"

namespace secequiv::smt {
namespace {

// An expression of SMT-LIB: an atom, or a list of expressions.
struct Expression {
  std::string_view atom;
  std::vector<Expression> parts = {};
  bool list = false;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  // Returns the next expression; std::nullopt at the end, or if the text is malformed.
  std::optional<Expression> next(int depth = 0) {
    skip_blank();
    if (text_.empty()) return std::nullopt;
    if (text_[0] != '(') return atom();
    Expression out;
    out.list = true;
    text_.remove_prefix(1);
    for (skip_blank(); !text_.starts_with(')'); skip_blank()) {
      auto part = depth < kDeepest ? next(depth + 1) : std::nullopt;
      if (!part) return malformed();
      out.parts.push_back(std::move(*part));
    }
    text_.remove_prefix(1);
    return out;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  static constexpr int kDeepest = 16;

  std::optional<Expression> malformed() {
    failed_ = true;
    return std::nullopt;
  }

  void skip_blank() {
    while (!text_.empty() && (text_[0] == ';' || is_space(text_[0])))
      text_.remove_prefix(text_[0] == ';' ? std::min(text_.find('\n'), text_.size()) : 1);
  }
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

  // A name in bars is the same as the name without them.
  std::optional<Expression> atom() {
    if (text_[0] == ')') return malformed();
    Expression out;
    if (const char quote = text_[0]; quote == '|' || quote == '"') {
      const std::size_t end = text_.find(quote, 1);
      if (end == text_.npos) return malformed();
      out.atom = text_.substr(quote == '|' ? 1 : 0, quote == '|' ? end - 1 : end + 1);
      text_.remove_prefix(end + 1);
      return out;
    }
    out.atom = text_.substr(0, text_.find_first_of(" \t\r\n();\""));
    text_.remove_prefix(out.atom.size());
    return out;
  }

  std::string_view text_;
  bool failed_ = false;
};

std::optional<std::uint32_t> number(std::string_view digits, int base) {
  std::uint32_t value = 0;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, value, base);
  if (digits.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Reads #x..., #b... or (_ bv... 32).
std::optional<std::uint32_t> value_of(const Expression& value) {
  const auto& parts = value.parts;
  if (value.list)
    return parts.size() == 3 && parts[0].atom == "_" && parts[1].atom.starts_with("bv") &&
                   parts[2].atom == "32"
               ? number(parts[1].atom.substr(2), 10)
               : std::nullopt;
  if (value.atom.starts_with("#x") && value.atom.size() == 10)
    return number(value.atom.substr(2), 16);
  if (value.atom.starts_with("#b") && value.atom.size() == 34)
    return number(value.atom.substr(2), 2);
  return std::nullopt;
}

// Returns the values of the names, or std::nullopt unless each has exactly one.
std::optional<std::vector<std::uint32_t>> values_of(const Expression& list,
                                                    std::span<const std::string> names) {
  std::vector<std::optional<std::uint32_t>> found(names.size());
  for (const Expression& pair : list.parts) {
    if (pair.parts.size() != 2) return std::nullopt;
    const auto name = std::ranges::find(names, pair.parts[0].atom);
    const auto value = value_of(pair.parts[1]);
    if (name == names.end() || !value) return std::nullopt;
    auto& known = found[static_cast<std::size_t>(name - names.begin())];
    if (known) return std::nullopt;
    known = value;
  }
  std::vector<std::uint32_t> out;
  out.reserve(found.size());
  for (const auto& value : found) {
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::string shown(std::string_view output) {
  constexpr std::size_t kMost = 200;
  return printable(output.substr(0, kMost), false);
}

// Runs one solver on the queries about one question.
class Foreign {
 public:
  Foreign(const ForeignSolver& solver, const Question& question, double timeout_seconds,
          double spent_seconds, std::size_t memory_mib, Proof& proof)
      : solver_(solver),
        question_(question),
        terms_(question.symbols.all()),
        sides_(terms_, question),
        start_(Clock::now()),
        timeout_seconds_(timeout_seconds),
        spent_seconds_(spent_seconds),
        memory_mib_(memory_mib),
        proof_(proof) {
    for (std::uint32_t i = 0; i < Symbols::kFirstWord; ++i)
      names_.push_back("word" + std::to_string(i));
    for (const Symbol& symbol : question.symbols.all()) names_.push_back("$" + symbol.name);
  }

  // Fills in the verdict, or the reason why there is none.
  Status run() {
    using Kind = ForeignAnswer::Kind;
    if (!question_.assumption.nodes.empty()) {
      const Kind any = ask(terms_.truth(true), {}).kind;
      if (any == Kind::kUnsat) return vacuous(question_);
      if (any == Kind::kUnknown) return Ok{};
    }
    const bool refines = question_.goal == Question::Goal::kRefines;
    const Kind wrong = ask(sides_.wrong(), {}).kind;
    if (wrong == Kind::kSat) return take_witness();
    if (wrong == Kind::kUnknown) return Ok{};
    const Kind differ = refines ? ask(sides_.differ(), {}).kind : Kind::kUnsat;
    if (differ == Kind::kSat) proof_.verdict = Verdict::kPass;
    if (differ != Kind::kUnsat) return Ok{};
    proof_.verdict = Verdict::kEquivalent;
    proof_.relation = Relation::kEqual;
    return Ok{};
  }

 private:
  // A second run asks for the values, because solvers treat that as an error after `unsat`.
  Status take_witness() {
    const ForeignAnswer model = ask(sides_.wrong(), names_);
    if (model.kind == ForeignAnswer::Kind::kUnknown) return Ok{};
    const auto no_witness = [&](std::string reason) {
      proof_.detail = std::move(reason);
      return Ok{};
    };
    if (model.kind == ForeignAnswer::Kind::kUnsat)
      return no_witness("it answers 'sat' and then 'unsat' to the same query, so it is wrong");
    SeccompData data{};
    std::copy_n(model.values.begin(), data.words.size(), data.words.begin());
    std::vector<std::uint32_t> symbols(model.values.begin() + Symbols::kFirstWord,
                                       model.values.end());
    const auto found = replay(question_, symbols, data);
    if (!found)
      return no_witness(fmt::format(
          "this solver is wrong: its input {} does not violate the goal when run", describe(data)));
    const Instance instance(question_, symbols);
    proof_.witness = minimize(instance.question, *found);
    proof_.symbols = std::move(symbols);
    proof_.verdict = Verdict::kDifferent;
    return Ok{};
  }

  ForeignAnswer ask(Z3_ast condition, std::span<const std::string> names) {
    const double spent = spent_seconds_ + seconds_since(start_);
    const AdapterLimits limits{.seconds = std::max(timeout_seconds_ - spent, 1e-3),
                               .memory_bytes = memory_mib_ << 20,
                               .confinement = solver_.confinement};
    const Answer<std::string> output =
        run_command_on_file(solver_.command, query(condition, names), "query.smt2", limits);
    ForeignAnswer out;
    if (stop_wanted())
      out.problem = stop_reason();
    else if (const std::string error = terms_.error(); !error.empty())
      out.problem = error;
    else if (!output.ok())
      out.problem = output.outcome == Outcome::kHung
                        ? fmt::format("time limit of {} s reached", timeout_seconds_)
                        : output.detail;
    else
      out = read_foreign(output.value, names);
    if (output.ok() && !out.problem.empty() && !output.detail.empty()) out.problem = output.detail;
    proof_.detail = out.problem;
    return out;
  }

  std::string query(Z3_ast condition, std::span<const std::string> names) {
    Solver solver(terms_);
    solver.require(terms_.both(sides_.counts(), condition));
    const std::string asserted = solver.text();
    std::string out = "(set-option :produce-models true)\n(set-logic QF_BV)\n";
    for (const std::string& name : names)
      if (asserted.find(fmt::format("(declare-fun {} ()", name)) == asserted.npos)
        out += fmt::format("(declare-fun {} () (_ BitVec 32))\n", name);
    out += asserted + "(check-sat)\n";
    if (!names.empty()) out += fmt::format("(get-value ({}))\n", fmt::join(names, " "));
    return out + "(exit)\n";
  }

  const ForeignSolver& solver_;
  const Question& question_;
  Terms terms_;
  Sides<Terms> sides_;
  Clock::time_point start_;
  double timeout_seconds_;
  double spent_seconds_;
  std::size_t memory_mib_;
  Proof& proof_;
  std::vector<std::string> names_;
};

}  // namespace

std::string name_of(const ForeignSolver& solver) {
  return "smt:" + printable(solver.command, false);
}

ForeignAnswer read_foreign(std::string_view output, std::span<const std::string> names) {
  using Kind = ForeignAnswer::Kind;
  ForeignAnswer out;
  std::vector<Expression> all;
  Reader reader(output);
  while (auto next = reader.next())
    if (next->atom != "success") all.push_back(std::move(*next));
  const auto is = [&](std::string_view word) { return !all.empty() && all[0].atom == word; };
  const bool more = is("sat") && !names.empty();
  if (reader.failed() || all.size() != (more ? 2 : 1) ||
      (!is("sat") && !is("unsat") && !is("unknown"))) {
    out.problem = fmt::format("expected 'sat'{}, 'unsat' or 'unknown', found '{}'",
                              names.empty() ? "" : " and values", shown(output));
  } else if (is("unknown")) {
    out.problem = "it answers 'unknown'";
  } else if (is("unsat")) {
    out.kind = Kind::kUnsat;
  } else if (auto values = more ? values_of(all[1], names) : std::vector<std::uint32_t>();
             !values) {
    out.problem =
        fmt::format("expected a value of 32 bits for each word, found '{}'", shown(output));
  } else {
    out.kind = Kind::kSat;
    out.values = std::move(*values);
  }
  return out;
}

Result<Proof> prove_by(const ForeignSolver& solver, const Question& question,
                       double timeout_seconds, std::size_t memory_mib, double spent_seconds) {
  RETURN_IF_ERROR(check_symbols(question));
  Proof proof;
  proof.engine = name_of(solver);
  const auto start = Clock::now();
  Foreign foreign(solver, question, timeout_seconds, spent_seconds, memory_mib, proof);
  proof.encode_seconds = seconds_since(start);
  RETURN_IF_ERROR(foreign.run());
  if (proof.verdict != Verdict::kUnknown) proof.detail.clear();
  proof.solve_seconds = seconds_since(start) - proof.encode_seconds;
  return proof;
}

}  // namespace secequiv::smt
