#include "harness/report/json.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/report/oracle.h"
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
                   {"same", question.sameness == Sameness::kRaw ? "raw" : "behaviour"},
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

namespace {

ordered_json fuzz_json(const PairFuzzReport& fuzz) {
  ordered_json out{{"seeds", fuzz.seeds},
                   {"seeds_met", fuzz.seeds_met},
                   {"seed_seconds", fuzz.seed_seconds},
                   {"derived_seconds", fuzz.derived_seconds},
                   {"seed", fuzz.seed},
                   {"jobs", fuzz.jobs},
                   {"runs", fuzz.runs},
                   {"evaluations", fuzz.evaluations},
                   {"seconds", fuzz.seconds},
                   {"last_edge_seconds", fuzz.last_edge_seconds},
                   {"interrupted", fuzz.interrupted}};
  if (!fuzz.not_run.empty()) out["not_run"] = fuzz.not_run;
  if (!fuzz.corpus.empty()) {
    ordered_json corpus{{"folder", fuzz.corpus}, {"read", fuzz.stored}, {"added", fuzz.added}};
    if (fuzz.kept) corpus["left"] = *fuzz.kept;
    out["corpus"] = std::move(corpus);
  }
  return out;
}

ordered_json cache_json(const CheckReport& report) {
  const auto names = [](Arch arch, const std::vector<std::uint32_t>& numbers) {
    ordered_json out = ordered_json::array();
    for (const std::uint32_t nr : numbers) out.push_back(shown_call(arch, nr));
    return out;
  };
  ordered_json arches = ordered_json::array();
  for (const CacheChange& change : report.cache)
    arches.push_back({{"arch", arch_info(change.arch).name},
                      {"before", change.before.size()},
                      {"after", change.after.size()},
                      {"lost", names(change.arch, change.lost)},
                      {"gained", names(change.arch, change.gained)}});
  return {{"loss_allowed", report.cache_loss_allowed}, {"arches", arches}};
}

}  // namespace

ordered_json to_json(const CheckReport& report) {
  ordered_json out{{"schema", "secequiv.check/1"},
                   {"verdict", verdict_name(report.verdict)},
                   {"reason", report.reason},
                   {"same", report.sameness == Sameness::kRaw ? "raw" : "behaviour"},
                   {"before", to_json(report.before)},
                   {"after", to_json(report.after)}};
  out["inputs"] = {{"derived", report.inputs},
                   {"dropped", report.dropped},
                   {"evaluations", report.evaluations},
                   {"seconds", report.run_seconds}};
  ordered_json infeasible = ordered_json::array();
  for (const Obligation& obligation : report.infeasible) infeasible.push_back(to_json(obligation));
  ordered_json open = ordered_json::array();
  for (const Feasibility& one : report.open) {
    ordered_json row = to_json(one.obligation);
    row["detail"] = one.detail;
    open.push_back(std::move(row));
  }
  out["coverage"] = {{"obligations", report.obligations},
                     {"covered_by_inputs", report.covered_by_inputs},
                     {"covered_by_witnesses", report.covered_by_witnesses},
                     {"infeasible", infeasible},
                     {"open", open},
                     {"seconds", report.coverage_seconds}};
  if (report.proof) out["proof"] = to_json(*report.proof);
  if (!report.cache.empty()) out["cache"] = cache_json(report);
  if (report.oracle) out["oracle"] = to_json(*report.oracle);
  if (report.fuzz) out["fuzz"] = fuzz_json(*report.fuzz);
  if (report.witness) {
    out["witness"] = to_json(*report.witness);
    out["traces"] = {{"before", to_json(trace(report.before.program, report.witness->data))},
                     {"after", to_json(trace(report.after.program, report.witness->data))}};
  }
  return out;
}

ordered_json to_json(const Error& error) {
  ordered_json out{{"schema", "secequiv.error/1"}, {"error", error_name(error.code)}};
  if (!error.where.empty()) out["where"] = error.where;
  if (error.pc >= 0) out["instruction"] = error.pc;
  out["detail"] = Error{error.code, {}, -1, error.detail}.text();
  return out;
}

std::string render(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace secequiv
