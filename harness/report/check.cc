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

// An obligation that is not decided.
struct Undecided {
  const Feasibility& found;
};
void describe(Fields<Undecided>& open) {
  open.include([](const Undecided& it) { return it.found.obligation; });
  open("detail", "The limit that was reached.",
       [](const Undecided& it) { return it.found.detail; });
}

struct Traces {
  Trace before;
  Trace after;
};
void describe(Fields<Traces>& traces) {
  traces("before", "The trace of the first program.", &Traces::before);
  traces("after", "The trace of the second program.", &Traces::after);
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

void describe(Fields<CacheChange>& change) {
  const auto names = [](Arch arch, const std::vector<std::uint32_t>& numbers) {
    std::vector<std::string> out;
    out.reserve(numbers.size());
    for (const std::uint32_t nr : numbers) out.push_back(shown_call(arch, nr));
    return out;
  };
  change("arch", "Its name.", [](const CacheChange& it) { return arch_info(it.arch).name; });
  change("before", "Calls cached with the unoptimized program.",
         [](const CacheChange& it) { return it.before.size(); });
  change("after", "Calls cached with the optimized program.",
         [](const CacheChange& it) { return it.after.size(); });
  change("lost", "No longer cached.",
         [=](const CacheChange& it) { return names(it.arch, it.lost); });
  change("gained", "Cached now.", [=](const CacheChange& it) { return names(it.arch, it.gained); });
}

void describe(Fields<CampaignReport>& fuzz) {
  using Report = CampaignReport;
  fuzz("seeds", "Inputs that the prover found, one for each edge that no earlier input took.",
       &Report::seeds);
  fuzz("seeds_met", "Obligations that these inputs cover.", &Report::seeds_met);
  fuzz("seed_seconds",
       "Seconds from the start of the command until all inputs from the prover were run.",
       &Report::seed_seconds);
  fuzz("derived_seconds",
       "Seconds from the start of the command until all derived and stored inputs were run.",
       &Report::derived_seconds);
  fuzz("seed", "The random seed.", &Report::seed);
  fuzz("jobs", "Number of processes.", &Report::jobs, at_least(1));
  fuzz("runs", "Runs of libFuzzer, each with up to 16 inputs.", &Report::runs);
  fuzz("evaluations", "Inputs run through both programs while fuzzing.", &Report::evaluations);
  fuzz("seconds", "Seconds spent fuzzing.", &Report::seconds);
  fuzz(
      "last_edge_seconds",
      "Seconds from the start of fuzzing until the last new edge was reached; 0 if there was none.",
      &Report::last_edge_seconds);
  fuzz("interrupted", "Whether the user ended the fuzzing.", &Report::interrupted);
  fuzz("not_run", "Why there was no fuzzing.",
       [](const Report& it) { return unless_empty(it.not_run); });
  fuzz.only_if([](const Report& it) { return !it.corpus.empty(); });
  fuzz.object("corpus", "The folder of inputs, if one was given.", [](Fields<Report>& corpus) {
    corpus("folder", "Its path.", &Report::corpus);
    corpus("read", "Distinct inputs in it at the start.", &Report::stored);
    corpus("added", "Distinct inputs that this run added, before --minimize.", &Report::added);
    corpus("left", "Inputs that --minimize kept.", &Report::kept);
  });
}

namespace {

void describe_coverage(Fields<CheckReport>& coverage) {
  using Report = CheckReport;
  coverage("obligations", "Instructions, and both outcomes of every two-way instruction.",
           &Report::obligations);
  coverage("covered_by_inputs", "Covered by derived inputs.", &Report::covered_by_inputs);
  coverage("covered_by_witnesses", "Covered only by inputs from the prover.",
           &Report::covered_by_witnesses);
  coverage("infeasible", "Proven infeasible: no input reaches them.", &Report::infeasible);
  coverage("open", "Undecided obligations; a report that passes has none.", [](const Report& it) {
    std::vector<Undecided> out;
    out.reserve(it.open.size());
    for (const Feasibility& one : it.open) out.push_back({one});
    return out;
  });
  coverage("seconds", "Time for the prover's part.", &Report::coverage_seconds);
}

void describe_rules(Fields<CheckReport>& report) {
  report.rule(is_one_of("verdict", {"different", "fail"}), together({"witness", "traces"}),
              lacks({"witness", "traces"}));
  report.rule(is("verdict", "different"), has({"witness"}));
  report.rule(is("verdict", "pass"),
              all({inside("coverage", is_empty("open")),
                   any({all({has({"proof"}), inside("proof", is("verdict", "equivalent"))}),
                        all({has({"fuzz"}), lacks({"proof"})})})}));
  report.rule(is("verdict", "rejected"), lacks({"cache"}), has({"cache"}));
  // A lost call that is not allowed makes the verdict 'fail', unless a worse verdict applies.
  const Json lost = some_in("arches", is_filled("lost"));
  report.rule(is("verdict", "fail"), any({inside("cache", all({is("loss_allowed", false), lost})),
                                          is_in_doubt(), has({"not_loaded"})}));
  report.rule(is_one_of("verdict", {"pass", "unknown"}),
              inside("cache", any({is("loss_allowed", true), none({lost})})));
  report.rule(is_in_doubt(), is("verdict", "fail"));
}

}  // namespace

void describe(Fields<CheckReport>& report) {
  using Report = CheckReport;
  report.document("check", 1, "secequiv check --json", "All results about a pair of programs.");
  report(
      "verdict",
      "fail: the kernel no longer answers a call from its cache, or the oracle contradicts our "
      "interpreter. Exit status: 0 for pass, 1 for fail and different, 3 for unknown, 4 for "
      "rejected.",
      [](const Report& it) { return verdict_name(it.verdict); },
      words({"pass", "fail", "different", "unknown", "rejected"}));
  report("reason", "The reason for the verdict, in a sentence.", &Report::reason);
  report(
      "same", "The meaning of 'same' that the user chose (--same).",
      [](const Report& it) { return sameness_name(it.sameness); },
      words({"raw", "behaviour", "effect"}));
  report("before", "The unoptimized program.", &Report::before);
  report("after", "The optimized program.", &Report::after);
  report.object("inputs", "The inputs run through both.", [](Fields<Report>& inputs) {
    inputs("derived", "Distinct inputs derived from policies and programs.", &Report::inputs);
    inputs("dropped", "Combinations of constants that were left out because there are too many.",
           &Report::dropped);
    inputs("evaluations", "Inputs run through both, up to the first difference.",
           &Report::evaluations);
    inputs("seconds", "Seconds that these runs took.", &Report::run_seconds);
  });
  report.object("coverage", "Coverage of the optimized program.", describe_coverage);
  report("proof",
         "The proof. Absent if an input showed a difference first, if a program was refused, or "
         "with `fuzz --no-prove`.",
         &Report::proof);
  report.only_if([](const Report& it) { return !it.cache.empty(); });
  report.object(
      "cache",
      "The system calls that the kernel answers without running the filter, on the host and for "
      "its 32-bit programs. Absent if the verdict is 'rejected'.",
      [](Fields<Report>& cache) {
        cache("loss_allowed",
              "Whether lost calls are only reported and do not fail the check "
              "(--allow-cache-loss).",
              &Report::cache_loss_allowed);
        cache("arches", "One for each architecture.", &Report::cache, list_of<CacheChange>(1, 2));
      });
  report.only_if(nullptr);
  report("oracle", "", &Report::oracle);
  report("fuzz", "Results of `secequiv fuzz` with a pair.", &Report::fuzz);
  report.include(&Report::notes);
  report("direction", "", [](const Report& it) { return shown_direction(it.direction, it.host); });
  report("witness",
         "Present if the verdict is 'different'. Also present if it is 'fail' because the oracle "
         "contradicts our interpreter, and the programs differ according to that interpreter.",
         &Report::witness);
  report("traces", "The execution of the witness in both programs.",
         [](const Report& it) -> std::optional<Traces> {
           if (!it.witness) return std::nullopt;
           return Traces{trace(it.before.program, it.witness->data),
                         trace(it.after.program, it.witness->data)};
         });
  if (report.for_schema()) describe_rules(report);
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
