#include "harness/report/json.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

std::string hex(std::uint32_t value) { return fmt::format("{:#010x}", value); }

}  // namespace

Shape name_shape() { return matching("^[A-Za-z_][A-Za-z0-9_]*$"); }

void describe(Fields<ShownValue>& value) {
  value.is("value", "The return value of a filter.");
  value("value", "All 32 bits.", [](const ShownValue& it) { return hex(it.value); }, hex32());
  value("action", "The same in words.",
        [](const ShownValue& it) { return describe_action(it.value); });
}

void describe(Fields<SeccompData>& data) {
  const auto arch = [](const SeccompData& it) { return arch_from_data(it.arch(), it.nr()); };
  const auto field = [](const SeccompData& it, int index) {
    return fmt::format("{:#x}", it.field(index, endian_of(it.arch())));
  };
  data.is("data", "One struct seccomp_data.");
  data("nr", "System call number.", &SeccompData::nr, number32());
  data("arch", "AUDIT_ARCH value.", [](const SeccompData& it) { return hex(it.arch()); }, hex32());
  data("arch_name", "The architecture's name, if the value belongs to one.",
       [=](const SeccompData& it) -> std::optional<std::string> {
         if (const auto known = arch(it)) return std::string(arch_info(*known).name);
         return std::nullopt;
       });
  data("syscall", "The system call's name, if the number belongs to one.",
       [=](const SeccompData& it) -> std::optional<std::string> {
         const auto known = arch(it);
         return known ? unless_empty(std::string(syscall_name(*known, it.nr()))) : std::nullopt;
       });
  data(
      "ip", "Instruction pointer.", [=](const SeccompData& it) { return field(it, kIpField); },
      hex64());
  data(
      "args", "The six arguments, in the byte order of the architecture.",
      [=](const SeccompData& it) {
        std::vector<std::string> out;
        out.reserve(kArgCount);
        for (int i = 0; i < kArgCount; ++i) out.push_back(field(it, i));
        return out;
      },
      list_of(hex64(), kArgCount, kArgCount));
  data("words", "The same 64 bytes as 32-bit words, from offset 0: what the program's loads see.",
       &SeccompData::words, list_of(number32(), 16, 16));
}

void describe(Fields<Witness>& witness) {
  witness.is("witness", "An input on which the programs differ. Both were run on it.");
  witness("data", "The input.", &Witness::data);
  witness("before", "Return value of the first program.",
          [](const Witness& it) { return ShownValue{it.before}; });
  witness("after", "Return value of the second program.",
          [](const Witness& it) { return ShownValue{it.after}; });
}

void describe(Fields<TraceStep>& step) {
  step.is("step", "One instruction executed.");
  step("pc", "Its index.", &TraceStep::pc);
  step("a", "A before it.", &TraceStep::a);
  step("x", "X before it.", &TraceStep::x);
  step("outcome", "For a two-way instruction: the outcome that was taken.", &TraceStep::outcome);
}

void describe(Fields<Trace>& trace) {
  trace.is("trace", "The execution in one program.");
  trace("steps", "The instructions executed.", &Trace::steps, list_of<TraceStep>(1));
  trace("result", "The value returned.", [](const Trace& it) { return ShownValue{it.result}; });
}

void describe(Fields<Obligation>& obligation) {
  static constexpr std::string_view kKinds[] = {"line", "true", "false"};
  obligation("instruction", "Index of the instruction, from 0.", &Obligation::pc);
  obligation(
      "kind", "The instruction itself, or one of its two outcomes.",
      [](const Obligation& it) { return kKinds[static_cast<int>(it.kind)]; },
      words({"line", "true", "false"}));
}

void describe(Fields<SideReport>& side) {
  side.is("side", "One program.");
  side("name", "Where it came from.", &SideReport::name);
  side("instructions", "Its length.", [](const SideReport& it) { return it.program.size(); });
  side("installable", "Whether the kernel would accept it.",
       [](const SideReport& it) { return !it.refusal; });
  side("refusal", "Why the kernel would refuse it.",
       [](const SideReport& it) -> std::optional<ShownRefusal> {
         if (!it.refusal) return std::nullopt;
         return ShownRefusal{*it.refusal, it.program};
       });
  if (!side.for_schema()) return;
  side.rule(is("installable", false), has({"refusal"}), lacks({"refusal"}));
}

void describe(Fields<ShownRefusal>& refusal) {
  refusal.is("refusal", "Why the kernel would not install the program.");
  refusal(
      "rule", "The first rule broken; corpus/FORMAT.md explains them.",
      [](const ShownRefusal& it) { return rule_name(it.refusal.rule); },
      names_of(rule_name, RefusalRule::kNotSeccomp));
  refusal("instruction", "Index of the instruction, from 0.",
          [](const ShownRefusal& it) { return it.refusal.pc; });
  refusal("detail", "The same in words.",
          [](const ShownRefusal& it) { return secequiv::describe(it.refusal, it.program); });
}

void describe(Fields<Symbol>& symbol) {
  symbol("name", "Without the '$'.", &Symbol::name, name_shape());
  symbol("low", "1 if the name is used as a divisor, otherwise 0.", &Symbol::low, number32());
  symbol("high", "31 if the name is used as a shift distance, otherwise 4294967295.", &Symbol::high,
         number32());
}

void describe(Fields<Question>& question) {
  question.is("question", "The property that was to be proven.");
  question(
      "goal",
      "The same decisions, or that the second filter is never more permissive than the first.",
      [](const Question& it) { return it.goal == Question::Goal::kSame ? "same" : "refines"; },
      words({"same", "refines"}));
  question(
      "same", "What counts as the same return value: all 32 bits, or what a process can observe.",
      [](const Question& it) { return sameness_name(it.sameness); },
      words({"raw", "behaviour", "effect"}));
  question("assume",
           "The inputs to which the proof is restricted, in the language of --assume; 'true': all "
           "inputs.",
           [](const Question& it) { return secequiv::describe(it.assumption); });
  question(
      "byte_order",
      "With an assumption: the byte order that its conditions on 64-bit fields use if they "
      "name no architecture.",
      [](const Question& it) -> std::optional<std::string_view> {
        if (it.assumption.nodes.empty()) return std::nullopt;
        return it.endian == Endian::kLittle ? "little" : "big";
      },
      words({"little", "big"}));
  question(
      "symbols",
      "Names that stand for numbers in the filters. The answer holds for all of their values "
      "from low to high; the kernel refuses filters with other values.",
      [](const Question& it) {
        const auto all = it.symbols.all();
        return unless_empty(std::vector<Symbol>(all.begin(), all.end()));
      },
      list_of<Symbol>(1));
}

Json symbols_json(const Question& question, std::span<const std::uint32_t> values) {
  Json out = Json::object();
  for (std::size_t i = 0; i < values.size(); ++i) out[question.symbols.all()[i].name] = values[i];
  return out;
}

void describe(Fields<ProofParts>& proof) {
  const auto engines =
      one_of({words({"dd", "identical", "walk", "sat", "z3", "dd and z3", "inputs", "all"}),
              matching("^smt:.")});
  proof(
      "engine",
      "The engine that answered: \"identical\" for equal programs; \"walk\" for the product walk; "
      "\"inputs\" if derived inputs show a difference and the engine gave up; \"smt:\" and the "
      "command of another solver; \"all\" if several engines ran and none decided.",
      [](const ProofParts& it) { return it.proof.engine; }, engines);
  proof("encode_seconds", "Seconds to encode the query for the engine.",
        [](const ProofParts& it) { return it.proof.encode_seconds; });
  proof("solve_seconds",
        "Seconds of everything else, from the first engine that ran until the answer.",
        [](const ProofParts& it) { return it.proof.solve_seconds; });
  proof(
      "relation",
      "Relation of the second filter's actions to those of the first, in the kernel's order; "
      "absent if undecided.",
      [](const ProofParts& it) -> std::optional<std::string_view> {
        if (!it.proof.relation) return std::nullopt;
        return relation_name(*it.proof.relation);
      },
      names_of(relation_name, Relation::kIncomparable));
  proof("detail", "If the verdict is 'unknown': the limit that was reached.",
        [](const ProofParts& it) { return unless_empty(it.proof.detail); });
  proof("witness", "Always present if the verdict is 'different' or 'fail'.",
        [](const ProofParts& it) -> std::optional<ShownWitness> {
          if (!it.proof.witness) return std::nullopt;
          return ShownWitness{*it.proof.witness, it.symbols};
        });
  proof("minimal",
        "Whether the witness is proven minimal. First, its symbols have the smallest values, "
        "compared in their order; then it has the fewest non-zero words; then its words are "
        "smallest, compared in their order.",
        [](const ProofParts& it) -> std::optional<bool> {
          if (!it.proof.witness) return std::nullopt;
          return it.proof.minimal;
        });
  if (!proof.for_schema()) return;
  proof.rule(is_one_of("verdict", {"different", "fail"}), has({"witness", "minimal"}),
             lacks({"witness", "minimal"}));
  proof.rule(is("verdict", "unknown"), has({"detail"}));
}

void describe(Fields<Proof>& proof) {
  proof.is("proof", "One proof about all inputs.");
  proof(
      "schema", "Name and version of this format.", [](const Proof&) { return "secequiv.prove/2"; },
      constant("secequiv.prove/2"));
  proof(
      "verdict", "", [](const Proof& it) { return verdict_name(it.verdict); },
      words({"equivalent", "pass", "different", "unknown"}));
  proof.include([](const Proof& it) { return ProofParts{it, Json()}; });
}

void describe(Fields<ShownWitness>& witness) {
  witness.is("witness_of_proof", "An input on which the programs differ. Both were run on it.");
  witness.include([](const ShownWitness& it) -> const Witness& { return it.witness; });
  witness(
      "symbols",
      "If the programs contain names in place of numbers: the values with which they were run.",
      [](const ShownWitness& it) { return unless_empty(it.symbols); },
      map_of(name_shape(), number32(), 1));
}

void describe(Fields<Error>& error) {
  error.document("error", 1, "secequiv --json, if any command ends in an error",
                 "The error, which standard error also reports. Exit status: 3 for budget, 4 for "
                 "rejected, 5 for adapter, 2 for all other errors.");
  error(
      "error", "The kind of error.", [](const Error& it) { return error_name(it.code); },
      names_of(error_name, ErrorCode::kInternal));
  error(
      "verdict",
      "Present if a limit was reached or the command was interrupted, so that the answer is "
      "unknown.",
      [](const Error& it) -> std::optional<std::string_view> {
        if (it.code != ErrorCode::kBudget) return std::nullopt;
        return verdict_name(Verdict::kUnknown);
      },
      constant("unknown"));
  error("where", "File with line and column, offset or JSON pointer; option; or command.",
        [](const Error& it) { return unless_empty(it.where); });
  error("instruction", "Index of the instruction concerned.",
        [](const Error& it) -> std::optional<std::uint64_t> {
          if (it.pc < 0) return std::nullopt;
          return static_cast<std::uint64_t>(it.pc);
        });
  error("detail", "The expected and the found value.",
        [](const Error& it) { return Error{it.code, {}, -1, it.detail}.text(); });
}

std::string render(const Json& document) {
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace);
  std::string out;
  for (std::size_t at = 0, size = 0; at < text.size(); at += size) {
    for (size = 1; at + size < text.size() && (text[at + size] & 0xc0) == 0x80;) ++size;
    const std::string_view one = std::string_view(text).substr(at, size);
    // JSON permits characters that control a terminal, so they are escaped.
    if (size > 1 || one[0] == '\x7f')
      if (printable(one, false) != one) {
        const std::string quoted = Json(one).dump(-1, ' ', true);
        out += std::string_view(quoted).substr(1, quoted.size() - 2);
        continue;
      }
    out += one;
  }
  return out + "\n";
}

}  // namespace secequiv
