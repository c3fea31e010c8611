#include "verify/rules/rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/bpf/check.h"
#include "harness/bpf/text.h"

namespace secequiv::rules {
namespace {

constexpr std::size_t kMaxInstances = 1000;
constexpr std::size_t kMaxIndexSymbols = 3;
constexpr std::array<std::string_view, 5> kDeviations = {"none", "illegal", "exit", "value",
                                                         "state"};

bool has_memory_index(const Insn& in) {
  return in.code == kLdMem || in.code == kLdxMem || in.code == kSt || in.code == kStx;
}

Expr word(std::uint32_t value) { return {Op::kNumber, kWord, value, {}, {}}; }
Expr test(Op op, Expr a, Expr b) { return {op, kTruth, 0, {}, {std::move(a), std::move(b)}}; }
Expr all_of(std::vector<Expr> args) { return {Op::kAnd, kTruth, 0, {}, std::move(args)}; }
Expr not_(Expr e) { return {Op::kNot, kTruth, 0, {}, {std::move(e)}}; }

// Collects the symbols of an instance, in the order they are met.
class Symbols {
 public:
  explicit Symbols(std::vector<Symbol>& out) : out_(out) {}

  Symbol& of(const Expr& e) {
    for (Symbol& known : out_)
      if (known.name == e.name) return known;
    out_.push_back({e.name, e.width, Role::kPlain});
    return out_.back();
  }
  // `known`: what `before` or the condition says of a symbol restricts it.
  void add(const Expr& whole, bool known) {
    for_each_part(whole, [&](const Expr& e) {
      if (e.op == Op::kSymbol) of(e);
      if (known && (e.op == Op::kLoad || e.op == Op::kMem) && e.args[0].op == Op::kSymbol)
        of(e.args[0]).role = e.op == Op::kLoad ? Role::kOffset : Role::kIndex;
    });
  }
  void add(const Side& side, bool known) {
    if (const auto* condition = std::get_if<Expr>(&side)) return add(*condition, known);
    const auto& fragment = std::get<Fragment>(side);
    for (std::size_t pc = 0; pc < fragment.size; ++pc) {
      const auto& operand = fragment.operands[pc];
      if (!operand) continue;
      add(*operand, known);
      if (!known || operand->op != Op::kSymbol) continue;
      if (fragment.program[pc].code == kLdWAbs) of(*operand).role = Role::kOffset;
      if (has_memory_index(fragment.program[pc])) of(*operand).role = Role::kIndex;
    }
  }

 private:
  std::vector<Symbol>& out_;
};

Result<Side> bind_side(const Side& side, const Indices& indices, const std::string& where) {
  if (const auto* condition = std::get_if<Expr>(&side)) {
    auto bound = written_out(*condition, indices, where);
    if (!bound) return bound.error();
    return Side(std::move(*bound));
  }
  Fragment out = std::get<Fragment>(side);
  for (std::size_t pc = 0; pc < out.size; ++pc) {
    auto& operand = out.operands[pc];
    if (!operand) continue;
    auto bound = written_out(*operand, indices, where);
    if (!bound) return bound.error();
    operand = std::move(*bound);
    if (has_memory_index(out.program[pc]) && operand->op != Op::kSymbol)
      return make_error(ErrorCode::kParse, where, "an index of M[] is a number or a symbol");
  }
  return Side(std::move(out));
}

Result<Instance> instance_of(const Rule& rule, const Indices& indices) {
  Instance out{&rule, indices, all_of({}), {}, {}, {}};
  for (const Expr& condition : rule.conditions) {
    auto bound = written_out(condition, indices, rule.where_found);
    if (!bound) return bound.error();
    out.condition.args.push_back(std::move(*bound));
  }
  auto before = bind_side(rule.before, indices, rule.where_found);
  if (!before) return before.error();
  auto after = bind_side(rule.after, indices, rule.where_found);
  if (!after) return after.error();
  out.before = std::move(*before);
  out.after = std::move(*after);
  Symbols symbols(out.symbols);
  symbols.add(out.before, true);
  symbols.add(out.condition, true);
  symbols.add(out.after, false);
  if (index_symbols(out).size() > kMaxIndexSymbols)
    return make_error(ErrorCode::kParse, rule.where_found,
                      fmt::format("more than {} symbols are indices of M[]", kMaxIndexSymbols));
  return out;
}

// Numbers, symbols from an assignment.
struct Numbers {
  using Value = std::uint64_t;
  const Instance& instance;
  const Assignment& assignment;

  static Value number(std::uint64_t n, int) { return n; }
  [[nodiscard]] Value symbol(const std::string& name, int) const {
    for (std::size_t i = 0; i < instance.symbols.size(); ++i)
      if (instance.symbols[i].name == name) return assignment.symbols[i];
    return 0;
  }
  [[nodiscard]] Value a() const { return assignment.entry.a; }
  [[nodiscard]] Value x() const { return assignment.entry.x; }
  [[nodiscard]] Value mem(Value index) const { return assignment.entry.m[index % kMemWords]; }
  [[nodiscard]] Value load(Value offset) const {
    return assignment.input[offset % kSeccompDataSize / 4];
  }
  static Value apply(Op op, int width, const std::vector<Value>& args) {
    return rules::apply(op, width, args);
  }
};

// Notes where the code proper is left.
struct ExitObserver {
  const Insn* end;
  std::optional<std::size_t> exit = {};
  Machine<Concrete> state{};

  void at(const Insn* pc, const Machine<Concrete>& machine) {
    if (pc < end || exit) return;
    exit = static_cast<std::size_t>(pc - end);
    state = machine;
  }
  void outcome(const Insn*, bool) {}
};

Ending end_of(const Side& side, const Instance& instance, const Assignment& assignment) {
  if (const auto* condition = std::get_if<Expr>(&side)) {
    const bool yes = value_of(*condition, instance, assignment) != 0;
    const auto exit = std::ranges::find(instance.rule->exits, yes ? "yes" : "no");
    return {static_cast<std::size_t>(exit - instance.rule->exits.begin()), 0, assignment.entry};
  }
  const auto& fragment = std::get<Fragment>(side);
  const Program program = instantiate(fragment, instance, assignment);
  ExitObserver observer{program.data() + fragment.size};
  Machine<Concrete> machine = assignment.entry;
  const std::uint32_t value = resume(program, 0, machine, assignment.input, observer);
  return {observer.exit, value, observer.state};
}

// Is `code` accepted where the words of `set` are written before it?
bool accepted(const Program& code, std::uint32_t set) {
  Program whole;
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    if ((set >> k & 1) != 0) whole.push_back({kSt, 0, 0, k});
  whole.insert(whole.end(), code.begin(), code.end());
  return !check(whole, LengthRule::kUnlimited);
}

// The words that have to be written before `code`.
std::uint32_t needed(const Program& code) {
  std::uint32_t out = 0;
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    if (!accepted(code, 0xffffu & ~(1u << k))) out |= 1u << k;
  return out;
}

// `code` with a read of M[k] at an exit.
Program with_read(Program code, std::size_t pc, std::uint32_t k) {
  code[pc] = {kLdMem, 0, 0, k};
  code.push_back({kRetK, 0, 0, 0});
  return code;
}

// Does the kernel refuse `after` for M[] where it takes `before`? Its check of M[] does not look at
// operands other than indices.
bool memory_refused(const Rule& rule, const Program& before, std::size_t before_size,
                    const Program& after, std::size_t after_size) {
  if (!accepted(after, needed(before))) return true;
  for (std::size_t exit = 0; exit < rule.exits.size(); ++exit) {
    for (std::uint32_t k = 0; k < kMemWords; ++k) {
      if ((rule.live[exit] & kLiveM << k) == 0) continue;
      if (!accepted(with_read(after, after_size + exit, k),
                    needed(with_read(before, before_size + exit, k))))
        return true;
    }
  }
  return false;
}

Live difference(const Machine<Concrete>& a, const Machine<Concrete>& b, Live live) {
  Live out = 0;
  if (a.a != b.a) out |= kLiveA;
  if (a.x != b.x) out |= kLiveX;
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    if (a.m[k] != b.m[k]) out |= kLiveM << k;
  return out & live;
}

// Why the kernel refuses `after`; empty if it does not, beside what memory_refusals knows.
std::string refusal_of(const Fragment& after, const Instance& instance,
                       const Assignment& assignment) {
  Program whole;
  for (std::uint32_t k = 0; k < kMemWords; ++k) whole.push_back({kSt, 0, 0, k});
  const Program code = instantiate(after, instance, assignment);
  whole.insert(whole.end(), code.begin(), code.end());
  auto refusal = check(whole, LengthRule::kUnlimited);
  if (!refusal) return "";
  const std::size_t pc = refusal->pc - kMemWords;
  return fmt::format("{}: {}", rule_name(refusal->rule), insn_text(code, pc));
}

}  // namespace

std::string_view deviation_name(Deviation deviation) {
  return kDeviations[static_cast<std::size_t>(deviation)];
}
std::optional<Deviation> deviation_from_name(std::string_view name) {
  for (std::size_t i = 1; i < kDeviations.size(); ++i)
    if (kDeviations[i] == name) return static_cast<Deviation>(i);
  return std::nullopt;
}

std::string live_name(Live live) {
  const int bit = std::countr_zero(live);
  return bit == 0 ? "A" : bit == 1 ? "X" : fmt::format("M[{}]", bit - 2);
}

Result<std::vector<Instance>> instances(const Rule& rule) {
  std::vector<Indices> choices = {{}};
  for (const Rule::Range& range : rule.family) {
    std::vector<Indices> more;
    for (const Indices& choice : choices) {
      for (std::uint32_t i = range.first; i <= range.last; ++i) {
        more.push_back(choice);
        more.back()[range.index] = i;
      }
    }
    choices = std::move(more);
    if (choices.size() > kMaxInstances)
      return make_error(ErrorCode::kParse, rule.where_found,
                        fmt::format("a family of more than {}", kMaxInstances));
  }
  std::vector<Instance> out;
  for (const Indices& choice : choices) {
    auto instance = instance_of(rule, choice);
    if (!instance) return instance.error();
    out.push_back(std::move(*instance));
  }
  return out;
}

std::uint64_t value_of(const Expr& expr, const Instance& instance, const Assignment& assignment) {
  Numbers numbers{instance, assignment};
  return evaluate(numbers, expr);
}

bool of_symbols(const Expr& e) {
  bool out = true;
  for_each_part(e, [&](const Expr& part) {
    out = out && part.op != Op::kA && part.op != Op::kX && part.op != Op::kMem &&
          part.op != Op::kLoad;
  });
  return out;
}

Program instantiate(const Fragment& fragment, const Instance& instance,
                    const Assignment& assignment) {
  Program out = fragment.program;
  for (std::size_t pc = 0; pc < fragment.size; ++pc)
    if (const auto& operand = fragment.operands[pc])
      out[pc].k = static_cast<std::uint32_t>(value_of(*operand, instance, assignment));
  return out;
}

Expr legality(const Fragment& fragment) {
  std::vector<Expr> out;
  for (std::size_t pc = 0; pc < fragment.size; ++pc) {
    const auto& operand = fragment.operands[pc];
    if (!operand) continue;  // parse_rules asked the kernel's check
    const Insn& in = fragment.program[pc];
    if (in.code == kDivK) out.push_back(not_(test(Op::kEq, *operand, word(0))));
    if (in.code == kLshK || in.code == kRshK) out.push_back(test(Op::kUlt, *operand, word(32)));
    if (has_memory_index(in)) out.push_back(test(Op::kUlt, *operand, word(kMemWords)));
    if (in.code == kLdWAbs) {
      out.push_back(test(Op::kUlt, *operand, word(kSeccompDataSize)));
      out.push_back(test(Op::kEq, {Op::kBitAnd, kWord, 0, {}, {*operand, word(3)}}, word(0)));
    }
  }
  return all_of(std::move(out));
}

std::vector<std::size_t> index_symbols(const Instance& instance) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < instance.symbols.size(); ++i) {
    bool is_index = false;
    for (const Side* side : {&instance.before, &instance.after})
      if (const auto* fragment = std::get_if<Fragment>(side))
        for (std::size_t pc = 0; pc < fragment->size; ++pc)
          is_index =
              is_index || (fragment->operands[pc] && has_memory_index(fragment->program[pc]) &&
                           fragment->operands[pc]->name == instance.symbols[i].name);
    if (is_index) out.push_back(i);
  }
  return out;
}

std::vector<std::vector<std::uint32_t>> memory_refusals(const Instance& instance) {
  const auto* before = std::get_if<Fragment>(&instance.before);
  const auto* after = std::get_if<Fragment>(&instance.after);
  if (before == nullptr || after == nullptr) {
    // A condition needs nothing written.
    if (after == nullptr || accepted(after->program, 0)) return {};
    return {{}};
  }
  const auto symbols = index_symbols(instance);
  const std::size_t combinations = std::size_t{1} << (4 * symbols.size());
  std::vector<std::vector<std::uint32_t>> out;
  for (std::size_t combination = 0; combination < combinations; ++combination) {
    std::vector<std::uint32_t> values;
    for (std::size_t i = 0; i < symbols.size(); ++i) values.push_back(combination >> (4 * i) & 0xf);
    const auto with_indices = [&](const Fragment& fragment) {
      Program code = fragment.program;
      for (std::size_t pc = 0; pc < fragment.size; ++pc)
        if (fragment.operands[pc] && has_memory_index(code[pc]))
          for (std::size_t i = 0; i < symbols.size(); ++i)
            if (fragment.operands[pc]->name == instance.symbols[symbols[i]].name)
              code[pc].k = values[i];
      return code;
    };
    if (memory_refused(*instance.rule, with_indices(*before), before->size, with_indices(*after),
                       after->size))
      out.push_back(std::move(values));
  }
  return out;
}

std::optional<Counterexample> replay(const Instance& instance, const Assignment& assignment) {
  if (value_of(instance.condition, instance, assignment) == 0) return std::nullopt;
  for (std::size_t i = 0; i < instance.symbols.size(); ++i) {
    const std::uint32_t value = assignment.symbols[i];
    const Role role = instance.symbols[i].role;
    if (role == Role::kOffset && (value % 4 != 0 || value >= kSeccompDataSize)) return std::nullopt;
    if (role == Role::kIndex && value >= kMemWords) return std::nullopt;
  }
  const auto* before = std::get_if<Fragment>(&instance.before);
  if (before != nullptr && value_of(legality(*before), instance, assignment) == 0)
    return std::nullopt;
  Counterexample out;
  out.assignment = assignment;
  out.before = end_of(instance.before, instance, assignment);
  if (const auto* after = std::get_if<Fragment>(&instance.after)) {
    out.refusal = refusal_of(*after, instance, assignment);
    if (out.refusal.empty()) {
      std::vector<std::uint32_t> values;
      for (const std::size_t symbol : index_symbols(instance))
        values.push_back(assignment.symbols[symbol]);
      if (std::ranges::count(memory_refusals(instance), values) != 0)
        out.refusal = "mem_unset: a word of M[] may be read before it is written";
    }
    if (!out.refusal.empty()) {
      out.kind = Deviation::kIllegal;
      return out;
    }
  }
  out.after = end_of(instance.after, instance, assignment);
  if (out.before.exit != out.after.exit) {
    out.kind = Deviation::kExit;
  } else if (!out.before.exit) {
    if (out.before.value == out.after.value) return std::nullopt;
    out.kind = Deviation::kValue;
  } else {
    out.differs =
        difference(out.before.state, out.after.state, instance.rule->live[*out.before.exit]);
    if (out.differs == 0) return std::nullopt;
    out.kind = Deviation::kState;
  }
  return out;
}

}  // namespace secequiv::rules
