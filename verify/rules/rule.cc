#include "verify/rules/rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"

namespace secequiv::rules {
namespace {

constexpr std::size_t kMaxInstances = 1000;
constexpr std::size_t kMaxParts = 500'000;  // limit for all members together
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

// Collects the symbols of an instance in the order of their first use.
class Symbols {
 public:
  explicit Symbols(std::vector<Symbol>& out) : out_(out) {}

  Symbol& of(const Expr& e) {
    const auto [known, added] = at_.emplace(e.name, out_.size());
    if (added) out_.push_back({e.name, e.width, Role::kPlain});
    return out_[known->second];
  }
  // If `legal`, records that symbols used as offsets of loads or as indices of M[] must be in
  // range.
  void add(const Expr& whole, bool legal) {
    for_each_part(whole, [&](const Expr& e) {
      if (e.op == Op::kSymbol) of(e);
      if (legal && (e.op == Op::kLoad || e.op == Op::kMem) && e.args[0].op == Op::kSymbol)
        of(e.args[0]).role = e.op == Op::kLoad ? Role::kOffset : Role::kIndex;
    });
  }
  void add(const Side& side, bool legal) {
    if (const auto* condition = std::get_if<Expr>(&side)) return add(*condition, legal);
    const auto& fragment = std::get<Fragment>(side);
    for (std::size_t pc = 0; pc < fragment.size; ++pc) {
      const auto& operand = fragment.operands[pc];
      if (!operand) continue;
      add(*operand, false);
      if (!legal || operand->op != Op::kSymbol) continue;
      if (fragment.program[pc].code == kLdWAbs) of(*operand).role = Role::kOffset;
      if (has_memory_index(fragment.program[pc])) of(*operand).role = Role::kIndex;
    }
  }

 private:
  std::vector<Symbol>& out_;
  std::unordered_map<std::string, std::size_t> at_;
};

Result<Side> bind_side(const Side& side, const Indices& indices, const std::string& where,
                       std::size_t& parts) {
  if (const auto* condition = std::get_if<Expr>(&side)) {
    ASSIGN_OR_RETURN(auto bound, written_out(*condition, indices, where, parts));
    return Side(std::move(bound));
  }
  Fragment out = std::get<Fragment>(side);
  for (std::size_t pc = 0; pc < out.size; ++pc) {
    auto& operand = out.operands[pc];
    if (!operand) continue;
    ASSIGN_OR_RETURN(operand, written_out(*operand, indices, where, parts));
    if (!of_symbols(*operand))
      return make_error(
          ErrorCode::kParse, where,
          fmt::format(
              "the operand of an instruction cannot depend on registers, M[] or the input: {}",
              insn_text(out.program, pc)));
    if (has_memory_index(out.program[pc]) && operand->op != Op::kSymbol)
      return make_error(ErrorCode::kParse, where,
                        "expected a number or a symbol as an index of M[]");
  }
  return Side(std::move(out));
}

Result<Instance> instance_of(const Rewrite& rule, const Indices& indices, std::size_t& parts) {
  Instance out{&rule, indices, all_of({}), {}, {}, {}};
  for (const Expr& condition : rule.conditions) {
    ASSIGN_OR_RETURN(auto bound, written_out(condition, indices, rule.where_found, parts));
    out.condition.args.push_back(std::move(bound));
  }
  ASSIGN_OR_RETURN(auto before, bind_side(rule.before, indices, rule.where_found, parts));
  ASSIGN_OR_RETURN(auto after, bind_side(rule.after, indices, rule.where_found, parts));
  out.before = std::move(before);
  out.after = std::move(after);
  Symbols symbols(out.symbols);
  symbols.add(out.before, true);
  symbols.add(out.condition, false);
  symbols.add(out.after, false);
  if (index_symbols(out).size() > kMaxIndexSymbols)
    return make_error(
        ErrorCode::kParse, rule.where_found,
        fmt::format("more than {} symbols are used as indices of M[]", kMaxIndexSymbols));
  return out;
}

// The domain of numbers; symbols have their values from an assignment.
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
    return assignment.input.words[offset % kSeccompDataSize / 4];
  }
  static Value apply(Op op, int width, const std::vector<Value>& args) {
    return rules::apply(op, width, args);
  }
};

// Records the exit through which execution leaves the code, and the state there.
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
  return end_of_code(instantiate(fragment, instance, assignment), fragment.size, assignment);
}

// How the kernel's check of M[] treats code. Bit k stands for M[k].
struct MemoryUse {
  std::uint32_t needed = 0;        // read, but not always written since the entry
  std::vector<std::uint32_t> set;  // by exit: written since the entry on all paths to it
};

// check_load_and_stores in the kernel (net/core/filter.c) treats each word separately, so one pass
// finds all words that are needed and all that are set.
MemoryUse memory_use(ProgramView code, std::size_t size, std::size_t exits) {
  WrittenMemory written(size + exits + 1);
  MemoryUse out;
  for (std::size_t pc = 0; pc < size; ++pc)
    if (!written.pass(pc, code[pc])) out.needed |= 1u << code[pc].k;
  for (std::size_t exit = 0; exit < exits; ++exit) {
    out.set.push_back(0);
    for (std::uint32_t k = 0; k < kMemWords; ++k)
      if (written.pass(size + exit, {kLdMem, 0, 0, k})) out.set.back() |= 1u << k;
    // Exits are separate: no exit continues into the next one.
    written.pass(size + exit, {kJa, 0, 0, static_cast<std::uint32_t>(exits - exit - 1)});
  }
  return out;
}

// Replaces index symbols in code and conditions by numbers.
class IndexValues {
 public:
  IndexValues(const Instance& instance, const std::vector<std::size_t>& symbols,
              const std::vector<std::uint32_t>& values)
      : instance_(instance), symbols_(symbols), values_(values) {}

  [[nodiscard]] Program in(const Fragment& fragment) const {
    Program code = fragment.program;
    for (std::size_t pc = 0; pc < fragment.size; ++pc)
      if (fragment.operands[pc] && has_memory_index(code[pc]))
        code[pc].k = *of(*fragment.operands[pc]);
    return code;
  }
  // Returns the words of M[] that an expression mentions. The analysis assumes that they were
  // written before the code runs.
  [[nodiscard]] std::uint32_t in(const Expr& expr) const {
    std::uint32_t out = 0;
    for_each_part(expr, [&](const Expr& e) {
      if (e.op != Op::kMem) return;
      const Expr& index = e.args[0];
      const auto value = index.op == Op::kNumber
                             ? std::optional(static_cast<std::uint32_t>(index.number))
                             : of(index);
      if (value) out |= 1u << *value % kMemWords;
    });
    return out;
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> of(const Expr& e) const {
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (e.op == Op::kSymbol && e.name == instance_.symbols[symbols_[i]].name) return values_[i];
    return std::nullopt;
  }

  const Instance& instance_;
  const std::vector<std::size_t>& symbols_;
  const std::vector<std::uint32_t>& values_;
};

// Returns the word of M[] that makes the kernel refuse `after` although it accepts `before`; "" if
// there is none.
std::string missing_memory(const Instance& instance, const std::vector<std::size_t>& symbols,
                           const std::vector<std::uint32_t>& values) {
  const auto* after = std::get_if<Fragment>(&instance.after);
  if (after == nullptr) return "";
  const Rewrite& rule = *instance.rule;
  const IndexValues at(instance, symbols, values);
  std::uint32_t known = at.in(instance.condition);
  MemoryUse had{0, std::vector<std::uint32_t>(rule.exits.size(), 0)};
  if (const auto* before = std::get_if<Fragment>(&instance.before))
    had = memory_use(at.in(*before), before->size, rule.exits.size());
  else
    known |= at.in(std::get<Expr>(instance.before));
  const MemoryUse has = memory_use(at.in(*after), after->size, rule.exits.size());
  known |= had.needed;
  if (const std::uint32_t missing = has.needed & ~known; missing != 0)
    return fmt::format("M[{}] is read, but may not have been written before",
                       std::countr_zero(missing));
  for (std::size_t exit = 0; exit < rule.exits.size(); ++exit) {
    const std::uint32_t missing =
        had.set[exit] & ~has.set[exit] & ~known & (rule.live[exit] / kLiveM);
    if (missing != 0)
      return fmt::format("M[{}] is live at {}, but may not have been written before",
                         std::countr_zero(missing), rule.exits[exit]);
  }
  return "";
}

// Returns a program that writes all of M[] and then runs `code`.
Program after_stores(const Program& code) {
  Program out;
  for (std::uint32_t k = 0; k < kMemWords; ++k) out.push_back({kSt, 0, 0, k});
  out.insert(out.end(), code.begin(), code.end());
  return out;
}

Live difference(const Machine<Concrete>& a, const Machine<Concrete>& b, Live live) {
  Live out = 0;
  if (a.a != b.a) out |= kLiveA;
  if (a.x != b.x) out |= kLiveX;
  for (std::uint32_t k = 0; k < kMemWords; ++k)
    if (a.m[k] != b.m[k]) out |= kLiveM << k;
  return out & live;
}

// Returns why the kernel refuses an operand of `after`; "" if it accepts all.
std::string refused_numbers(const Fragment& after, const Instance& instance,
                            const Assignment& assignment) {
  const Program code = instantiate(after, instance, assignment);
  const auto refusal = refusal_of(code);
  if (!refusal) return "";
  return fmt::format("{}: {}", rule_name(refusal->rule), insn_text(code, refusal->pc));
}

// Returns why the kernel refuses the use of M[] in `after`, or "" if it accepts it.
std::string refused_memory(const Instance& instance, const Assignment& assignment) {
  const auto symbols = index_symbols(instance);
  std::vector<std::uint32_t> values;
  values.reserve(symbols.size());
  for (const std::size_t symbol : symbols) values.push_back(assignment.symbols[symbol]);
  const std::string missing = missing_memory(instance, symbols, values);
  return missing.empty() ? "" : fmt::format("{}: {}", rule_name(RefusalRule::kMemUnset), missing);
}

}  // namespace

Ending end_of_code(const Program& code, std::size_t size, const Assignment& assignment) {
  ExitObserver observer{code.data() + size};
  Machine<Concrete> machine = assignment.entry;
  const std::uint32_t value = resume(code, 0, machine, assignment.input, observer);
  return {observer.exit, value, observer.state};
}

std::optional<Refusal> refusal_of(const Program& code) {
  auto refusal = refusal_of(after_stores(code), LengthRule::kUnlimited);
  if (refusal) refusal->pc -= std::min<std::size_t>(refusal->pc, kMemWords);
  return refusal;
}

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

Result<std::vector<Instance>> instances(const Rewrite& rule) {
  std::vector<Indices> choices = {{}};
  for (const Rewrite::Range& range : rule.family) {
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
                        fmt::format("the family has more than {} members", kMaxInstances));
  }
  std::vector<Instance> out;
  std::size_t parts = kMaxParts;
  for (const Indices& choice : choices) {
    ASSIGN_OR_RETURN(auto instance, instance_of(rule, choice, parts));
    out.push_back(std::move(instance));
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
    if (!operand) continue;  // parse_rules has checked it
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
  const auto symbols = index_symbols(instance);
  const std::size_t combinations = std::size_t{1} << (4 * symbols.size());
  std::vector<std::vector<std::uint32_t>> out;
  for (std::size_t combination = 0; combination < combinations; ++combination) {
    std::vector<std::uint32_t> values;
    values.reserve(symbols.size());
    for (std::size_t i = 0; i < symbols.size(); ++i) values.push_back(combination >> (4 * i) & 0xf);
    if (!missing_memory(instance, symbols, values).empty()) out.push_back(std::move(values));
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
  const auto illegal = [&](std::string refusal) -> std::optional<Counterexample> {
    if (refusal.empty()) return std::nullopt;
    out.refusal = std::move(refusal);
    out.kind = Deviation::kIllegal;
    return out;
  };
  if (const auto* after = std::get_if<Fragment>(&instance.after))
    if (auto found = illegal(refused_numbers(*after, instance, assignment))) return found;
  out.after = end_of(instance.after, instance, assignment);
  if (out.before.exit != out.after.exit) {
    out.kind = Deviation::kExit;
  } else if (!out.before.exit) {
    if (out.before.value == out.after.value) return illegal(refused_memory(instance, assignment));
    out.kind = Deviation::kValue;
  } else {
    out.differs =
        difference(out.before.state, out.after.state, instance.rule->live[*out.before.exit]);
    if (out.differs == 0) return illegal(refused_memory(instance, assignment));
    out.kind = Deviation::kState;
  }
  return out;
}

}  // namespace secequiv::rules
