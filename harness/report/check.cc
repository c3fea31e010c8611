#include "harness/report/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/direction.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;
using State = ReportedCase::State;

// ---- Lines that both the text and the cases contain.

std::string coverage_line(const CheckReport& report) {
  return fmt::format(
      "{} of the {}: {} covered by derived inputs, {} by inputs from the prover, {} infeasible, {} "
      "undecided",
      counted(report.obligations, "obligation"), report.after_role(), report.covered_by_inputs,
      report.covered_by_witnesses, report.infeasible.size(), report.open.size());
}

std::string undecided_line(const CheckReport& report, const Feasibility& open) {
  return fmt::format("{}: {}\n", describe(open.obligation, report.after.program), open.detail);
}

std::string cache_line(const CacheChange& change) {
  return fmt::format("{}: {} cached before, {} after; lost: {}; gained: {}\n",
                     arch_info(change.arch).name, counted(change.before.size(), "call"),
                     change.after.size(), shown_calls(change.arch, change.lost),
                     shown_calls(change.arch, change.gained));
}

std::string traces_of(const CheckReport& report) {
  const Pair pair{report.before.program, report.after.program, report.sameness};
  return witness_text(Question(pair), *report.witness, report.rules,
                      report.all_traces || !report.policies());
}

// ---- Text.

std::string side_line(const char* role, const SideReport& side) {
  return fmt::format(
      "{:<9} {}: {}{}\n", role, side.name, counted(side.program.size(), "instruction"),
      side.finding() != nullptr
          ? fmt::format(" (not installable: {})", describe(*side.finding(), side.program))
          : "");
}

std::string inputs_text(const CheckReport& report) {
  if (report.evaluations == 0) return "";
  std::string left_out;
  if (report.dropped != 0)
    left_out = report.dropped < 1000000 ? fmt::format("; {} combinations left out", report.dropped)
                                        : fmt::format("; {:.1e} combinations left out",
                                                      static_cast<double>(report.dropped));
  return fmt::format("inputs    {} derived, {} run through both in {}{}\n", report.inputs,
                     report.evaluations, milliseconds(report.run_seconds), left_out);
}

std::string coverage_text(const CheckReport& report) {
  if (report.listing.empty()) return "";
  const std::string out = fmt::format(
      "coverage  {}{} ({})\n", coverage_line(report),
      report.not_examined() == 0 ? "" : fmt::format(", {} not examined", report.not_examined()),
      milliseconds(report.coverage_seconds));
  constexpr std::size_t kShown = 10;
  return out + first_lines(report.open.size(), kShown, "  ", [&](std::size_t i) {
           return "undecided: " + undecided_line(report, report.open[i]);
         });
}

std::string campaign_text(const CampaignReport& fuzz, std::size_t obligations) {
  std::string out = fmt::format(
      "seeds     {} from the prover cover {} of {} obligations after {}\n",
      counted(fuzz.seeds, "input"), fuzz.seeds_met, obligations, milliseconds(fuzz.seed_seconds));
  if (!fuzz.not_run.empty()) {
    out += fmt::format("fuzzing   not started: {}\n", fuzz.not_run);
  } else {
    out += fmt::format(
        "fuzzing   {} inputs in {:.2f} s ({:.2f} M/s, {}, seed {}), last new edge {}{}\n",
        fuzz.evaluations, fuzz.seconds,
        static_cast<double>(fuzz.evaluations) / 1e6 / std::max(fuzz.seconds, 1e-9),
        counted(fuzz.jobs, "job"), fuzz.seed,
        fuzz.last_edge_seconds > 0 ? fmt::format("after {:.2f} s", fuzz.last_edge_seconds)
                                   : std::string("from the seeds"),
        fuzz.interrupted ? "; interrupted" : "");
  }
  if (!fuzz.corpus.empty())
    out += fmt::format("corpus    {}: {} read, {} added{}\n", fuzz.corpus,
                       counted(fuzz.stored, "input"), fuzz.added,
                       fuzz.kept ? fmt::format(", {} left", *fuzz.kept) : std::string());
  return out;
}

// `witness` is the text of the witness, or "".
std::string text(const CheckReport& report, const std::string& witness) {
  std::string out = direction_line(report.direction, report.host);
  if (!out.empty()) out += "\n";
  out += side_line("before", report.before) + side_line("after", report.after);
  out += inputs_text(report) + coverage_text(report);
  if (report.fuzz) out += campaign_text(*report.fuzz, report.obligations);
  if (report.proof)
    out += fmt::format("proof     {} by {} in {}\n", verdict_name(report.proof->verdict),
                       report.proof->engine, milliseconds(report.proof_seconds));
  for (const CacheChange& change : report.cache)
    if (!change.lost.empty() || !change.gained.empty()) out += "cache     " + cache_line(change);
  if (report.oracle) out += oracle_text(*report.oracle);
  if (report.direction) out += fallback_calls(*report.direction, report.host);
  return out + witness +
         fmt::format("verdict   {}{}: {}\n", verdict_name(report.verdict), report.notes.limits(),
                     report.reason);
}

// ---- JSON.

ordered_json campaign_json(const CampaignReport& fuzz) {
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

ordered_json coverage_json(const CheckReport& report) {
  ordered_json open = ordered_json::array();
  for (const Feasibility& one : report.open) {
    ordered_json row = to_json(one.obligation);
    row["detail"] = one.detail;
    open.push_back(std::move(row));
  }
  return {{"obligations", report.obligations},
          {"covered_by_inputs", report.covered_by_inputs},
          {"covered_by_witnesses", report.covered_by_witnesses},
          {"infeasible", *shapes::value_of(report.infeasible)},
          {"open", open},
          {"seconds", report.coverage_seconds}};
}

// ---- Cases.

ReportedCase acceptance(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"acceptance", State::kPass, "the kernel accepts both programs"};
  if (report.verdict != Verdict::kRejected) {
    if (report.before.refusal || report.after.refusal) out.message = "both programs are legal";
    if (report.before.finding() != nullptr || report.after.finding() != nullptr)
      out.message += ", though too long to be installed";
    return out;
  }
  out.state = State::kFail;
  out.message = report.reason;
  // The unoptimized program may have any length.
  const bool first = refusal_of(report.before.program, LengthRule::kUnlimited).has_value();
  const SideReport& side = first ? report.before : report.after;
  if (side.refusal) {
    std::optional<std::size_t> pc;
    if (side.refusal->pc < side.program.size()) pc = side.refusal->pc;
    out.place = place_in(first ? files.before : files.after, pc);
  }
  return out;
}

void show_difference(ReportedCase& one, const CheckReport& report, const SideFiles& files) {
  one.message = directed(direction_line(report.direction, report.host), *report.witness);
  one.detail = traces_of(report);
  one.only_stricter = report.direction && report.direction->only_stricter();
  show_witness(one, report.before.program, report.after.program, *report.witness, files);
  place_by_rules(one, report.rules);
}

// Returns whether the proof found the difference. In that case, no input that was run shows it.
bool proof_found_it(const CheckReport& report) {
  return report.proof && report.proof->verdict == Verdict::kDifferent;
}

ReportedCase decision(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"decision", State::kPass,
                   fmt::format("both programs make the same decisions on {}",
                               counted(report.evaluations, "input"))};
  out.seconds = report.run_seconds;
  if (!report.witness || proof_found_it(report)) return out;
  out.state = State::kFail;
  show_difference(out, report, files);
  return out;
}

ReportedCase fuzzing(const CampaignReport& fuzz, Verdict verdict) {
  ReportedCase out{"fuzzing", State::kPass,
                   fmt::format("{} in {:.1f} s (seed {})", counted(fuzz.evaluations, "input"),
                               fuzz.seconds, fuzz.seed)};
  out.seconds = fuzz.seconds;
  if (!fuzz.not_run.empty()) {
    out.state = State::kSkipped;
    out.message = "not started: " + fuzz.not_run;
  } else if (fuzz.interrupted) {
    out.state = verdict == Verdict::kUnknown ? State::kUnknown : State::kSkipped;
    out.message += ", interrupted";
  }
  return out;
}

ReportedCase coverage(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"coverage", State::kPass, ""};
  out.seconds = report.coverage_seconds;
  if (report.listing.empty()) {
    out.state = State::kSkipped;
    out.message = "not examined, because a difference was found earlier";
    return out;
  }
  out.message = coverage_line(report);
  if (report.open.empty()) {
    if (report.not_examined() == 0) return out;
    out.state = State::kSkipped;
    out.message += fmt::format(", {} not examined, because a difference was found earlier",
                               report.not_examined());
    return out;
  }
  out.state = State::kUnknown;
  out.place = place_in(files.after, report.open.front().obligation.pc);
  for (const Feasibility& open : report.open) out.detail += undecided_line(report, open);
  return out;
}

ReportedCase proof(const CheckReport& report, const SideFiles& files) {
  ReportedCase out{"proof", State::kSkipped,
                   "not attempted, because a difference was found earlier"};
  if (!report.proof) {
    if (!report.witness) out.message = "not requested";
    return out;
  }
  out.seconds = report.proof_seconds;
  out.state = state_of(report.proof->verdict);
  out.message = fmt::format("{} by {}", verdict_name(report.proof->verdict), report.proof->engine);
  if (!report.proof->detail.empty()) out.message += ": " + report.proof->detail;
  if (proof_found_it(report) && report.witness) show_difference(out, report, files);
  return out;
}

ReportedCase cache(const CheckReport& report) {
  ReportedCase out{"cache", State::kPass, "no call is lost"};
  for (const CacheChange& change : report.cache) out.detail += cache_line(change);
  if (!loses(report.cache)) return out;
  out.message = "the kernel no longer answers " + lost_text(report.cache);
  if (report.cache_loss_allowed)
    out.message += ", which is allowed";
  else
    out.state = State::kFail;
  return out;
}

}  // namespace

std::string check_text(const CheckReport& report) {
  return text(report, report.witness ? traces_of(report) : "");
}

std::string check_summary(const CheckReport& report) {
  return text(report,
              report.witness ? fmt::format("witness   {}\n", became_text(*report.witness)) : "");
}

ordered_json cache_json(const std::vector<CacheChange>& changes) {
  const auto names = [](Arch arch, const std::vector<std::uint32_t>& numbers) {
    ordered_json out = ordered_json::array();
    for (const std::uint32_t nr : numbers) out.push_back(shown_call(arch, nr));
    return out;
  };
  ordered_json arches = ordered_json::array();
  for (const CacheChange& change : changes)
    arches.push_back({{"arch", arch_info(change.arch).name},
                      {"before", change.before.size()},
                      {"after", change.after.size()},
                      {"lost", names(change.arch, change.lost)},
                      {"gained", names(change.arch, change.gained)}});
  return arches;
}

ordered_json to_json(const CheckReport& report) {
  ordered_json out{{"schema", "secequiv.check/1"},     {"verdict", verdict_name(report.verdict)},
                   {"reason", report.reason},          {"same", sameness_name(report.sameness)},
                   {"before", to_json(report.before)}, {"after", to_json(report.after)}};
  out["inputs"] = {{"derived", report.inputs},
                   {"dropped", report.dropped},
                   {"evaluations", report.evaluations},
                   {"seconds", report.run_seconds}};
  out["coverage"] = coverage_json(report);
  if (report.proof) out["proof"] = to_json(*report.proof);
  if (!report.cache.empty())
    out["cache"] = {{"loss_allowed", report.cache_loss_allowed},
                    {"arches", cache_json(report.cache)}};
  if (report.oracle) out["oracle"] = to_json(*report.oracle);
  if (report.fuzz) out["fuzz"] = campaign_json(*report.fuzz);
  add_fields(report.notes, out);
  if (report.direction) out["direction"] = to_json(ShownDirection{*report.direction, report.host});
  if (report.witness) {
    out["witness"] = to_json(*report.witness);
    out["traces"] = {{"before", to_json(trace(report.before.program, report.witness->data))},
                     {"after", to_json(trace(report.after.program, report.witness->data))}};
  }
  return out;
}

ReportedCases reported(const CheckReport& report, const std::string& command,
                       const SideFiles& files) {
  ReportedCases out{command,        fmt::format("{}, {}", report.before.name, report.after.name),
                    report.verdict, exit_code(report.verdict),
                    report.reason,  {}};
  set_direction(report.direction, report.host, out);
  out.file = file_of(files);
  out.cases.push_back(acceptance(report, files));
  if (report.verdict != Verdict::kRejected) {
    out.cases.push_back(decision(report, files));
    if (report.fuzz) out.cases.push_back(fuzzing(*report.fuzz, report.verdict));
    out.cases.push_back(coverage(report, files));
    out.cases.push_back(proof(report, files));
    out.cases.push_back(cache(report));
    if (report.oracle) add_oracle(out, *report.oracle);
  }
  add_notes(report.notes, out);
  conclude(out);
  return out;
}

}  // namespace secequiv
