#include "harness/report/json.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

std::string hex32(std::uint32_t value) { return fmt::format("{:#010x}", value); }

}  // namespace

ordered_json value_json(std::uint32_t value) {
  return {{"value", hex32(value)}, {"action", describe_action(value)}};
}

ordered_json to_json(const SeccompData& data) {
  const Endian endian = endian_of(data.arch());
  const auto arch = arch_from_data(data.arch(), data.nr());
  ordered_json out{{"nr", data.nr()}, {"arch", hex32(data.arch())}};
  if (arch) {
    out["arch_name"] = arch_info(*arch).name;
    if (const auto name = syscall_name(*arch, data.nr()); !name.empty()) out["syscall"] = name;
  }
  out["ip"] = fmt::format("{:#x}", data.field(kIpField, endian));
  out["args"] = ordered_json::array();
  for (int i = 0; i < kArgCount; ++i)
    out["args"].push_back(fmt::format("{:#x}", data.field(i, endian)));
  out["words"] = data.words;
  return out;
}

ordered_json to_json(const Witness& witness) {
  return {{"data", to_json(witness.data)},
          {"before", value_json(witness.before)},
          {"after", value_json(witness.after)}};
}

ordered_json to_json(const Trace& trace) {
  ordered_json steps = ordered_json::array();
  for (const TraceStep& step : trace.steps) {
    ordered_json row{{"pc", step.pc}, {"a", step.a}, {"x", step.x}};
    if (step.outcome) row["outcome"] = *step.outcome;
    steps.push_back(std::move(row));
  }
  return {{"steps", steps}, {"result", value_json(trace.result)}};
}

ordered_json to_json(const Obligation& obligation) {
  static constexpr const char* kKinds[] = {"line", "true", "false"};
  return {{"instruction", obligation.pc}, {"kind", kKinds[static_cast<int>(obligation.kind)]}};
}

ordered_json to_json(const SideReport& side) {
  ordered_json out{
      {"name", side.name}, {"instructions", side.program.size()}, {"installable", !side.refusal}};
  if (side.refusal)
    out["refusal"] = {{"rule", rule_name(side.refusal->rule)},
                      {"instruction", side.refusal->pc},
                      {"detail", describe(*side.refusal, side.program)}};
  return out;
}

ordered_json to_json(const Question& question) {
  ordered_json out{{"goal", question.goal == Question::Goal::kSame ? "same" : "refines"},
                   {"same", sameness_name(question.sameness)},
                   {"assume", describe(question.assumption)}};
  if (!question.assumption.nodes.empty())
    out["byte_order"] = question.endian == Endian::kLittle ? "little" : "big";
  for (const Symbol& symbol : question.symbols.all())
    out["symbols"].push_back({{"name", symbol.name}, {"low", symbol.low}, {"high", symbol.high}});
  return out;
}

ordered_json symbols_json(const Question& question, std::span<const std::uint32_t> values) {
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < values.size(); ++i) out[question.symbols.all()[i].name] = values[i];
  return out;
}

ordered_json to_json(const Proof& proof) {
  ordered_json out{{"schema", "secequiv.prove/2"},
                   {"verdict", verdict_name(proof.verdict)},
                   {"engine", proof.engine},
                   {"encode_seconds", proof.encode_seconds},
                   {"solve_seconds", proof.solve_seconds}};
  if (proof.relation) out["relation"] = relation_name(*proof.relation);
  if (!proof.detail.empty()) out["detail"] = proof.detail;
  if (proof.witness) {
    out["witness"] = to_json(*proof.witness);
    out["minimal"] = proof.minimal;
  }
  return out;
}

ordered_json to_json(const Error& error) {
  ordered_json out{{"schema", "secequiv.error/1"}, {"error", error_name(error.code)}};
  if (error.code == ErrorCode::kBudget) out["verdict"] = verdict_name(Verdict::kUnknown);
  if (!error.where.empty()) out["where"] = error.where;
  if (error.pc >= 0) out["instruction"] = error.pc;
  out["detail"] = Error{error.code, {}, -1, error.detail}.text();
  return out;
}

std::string render(const ordered_json& document) {
  const std::string text = document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  std::string out;
  for (std::size_t at = 0, size = 0; at < text.size(); at += size) {
    for (size = 1; at + size < text.size() && (text[at + size] & 0xc0) == 0x80;) ++size;
    const std::string_view one = std::string_view(text).substr(at, size);
    // JSON permits characters that control a terminal, so they are escaped.
    if (size > 1 || one[0] == '\x7f')
      if (printable(one, false) != one) {
        const std::string quoted = ordered_json(one).dump(-1, ' ', true);
        out += std::string_view(quoted).substr(1, quoted.size() - 2);
        continue;
      }
    out += one;
  }
  return out + "\n";
}

}  // namespace secequiv
