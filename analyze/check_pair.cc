#include "analyze/check_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/direction.h"
#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "harness/coverage/listing.h"
#include "harness/report/oracle.h"
#include "verify/decide/feasibility.h"

namespace secequiv {
namespace {

class Job {
 public:
  Job(CheckReport& report, const CheckOptions& options)
      : report_(report),
        options_(options),
        pair_{report.before.program, report.after.program, report.sameness},
        coverage_(report.after.program) {}

  Result<Ok> run(std::span<const SeccompData> inputs) {
    run_inputs(inputs);
    if (report_.witness) return Ok{};
    const auto start = Clock::now();
    if (auto s = account_for_edges(); !s || report_.witness) return s;
    return prove(options_.budget.after(seconds_since(start)));
  }

 private:
  [[nodiscard]] bool classes() const { return pair_.sameness == Sameness::kEffect; }

  void differs(const Witness& witness, std::string_view found_by) {
    report_.verdict = Verdict::kDifferent;
    report_.reason = fmt::format("the {} return different values (found by {})",
                                 report_.policies() ? "policies" : "programs", found_by);
    report_.witness = witness;
    report_.own_inputs.push_back(witness.data);
  }

  void run_inputs(std::span<const SeccompData> inputs) {
    const auto start = Clock::now();
    // A single input that shows a difference does not show one of its class. For kEffect, inputs
    // therefore only cover edges, and the proof compares the classes.
    const PairRun result =
        classes() ? run_pair({pair_.after, pair_.after, pair_.sameness}, inputs, coverage_)
                  : run_pair(pair_, inputs, coverage_);
    report_.evaluations = result.evaluations;
    interrupted_ = result.interrupted;
    report_.run_seconds = seconds_since(start);
    report_.obligations = coverage_.obligations().size();
    report_.covered_by_inputs = report_.obligations - coverage_.uncovered().size();
    if (result.witness) differs(minimize(pair_, *result.witness), options_.inputs_name);
  }

  // Asks the prover about each obligation that no input covers. The prover shows that the
  // obligation is infeasible, finds an input that covers it, or leaves it undecided. Runs these
  // inputs through both programs, and stops at the first difference.
  Result<Ok> account_for_edges() {
    const auto start = Clock::now();
    // Half of the time remains for the proof.
    Budget half = options_.budget;
    if (options_.prove)
      for (double* const seconds : {&half.timeout_seconds, &half.diagrams.seconds}) *seconds /= 2;
    const auto asked = secequiv::account_for_edges(
        coverage_, options_.engine, half,
        [&](const Feasibility& answer) {
          if (answer.answer == Feasibility::Answer::kInfeasible)
            report_.infeasible.push_back(answer.obligation);
          if (answer.answer == Feasibility::Answer::kUnknown) report_.open.push_back(answer);
          if (answer.answer != Feasibility::Answer::kFeasible) return true;
          ++report_.evaluations;
          coverage_.run(*answer.witness);
          report_.own_inputs.push_back(*answer.witness);
          const auto witness = classes() ? std::nullopt : replay(pair_, *answer.witness);
          if (witness)
            differs(minimize(pair_, *witness),
                    "an input for an edge that no derived input reaches");
          return !witness;
        },
        options_.infeasible);
    if (!asked) return asked.error();
    const std::size_t missing = coverage_.uncovered().size();
    report_.covered_by_witnesses = report_.obligations - report_.covered_by_inputs - missing;
    report_.listing = listing(coverage_, [&](const Obligation& obligation) {
      return std::ranges::find(report_.infeasible, obligation) != report_.infeasible.end();
    });
    report_.coverage_seconds = seconds_since(start);
    return Ok{};
  }

  Result<Ok> prove(const Budget& left) {
    if (!options_.prove && interrupted_) {
      report_.verdict = Verdict::kUnknown;
      report_.reason = stop_reason() + " before all inputs were run";
      return Ok{};
    }
    if (!options_.prove) {
      conclude("no input that was run shows a difference (no proof of equivalence was requested)");
      return Ok{};
    }
    const auto start = Clock::now();
    auto proof = options_.proof ? Result<Proof>(*options_.proof)
                                : ask_engine(Question(pair_), options_.engine, left);
    if (!proof) return proof.error();
    report_.proof_seconds = seconds_since(start);
    report_.proof = *proof;
    if (proof->verdict == Verdict::kDifferent) {
      differs(*proof->witness, "the proof; no derived input shows the difference");
    } else if (proof->verdict == Verdict::kUnknown) {
      report_.verdict = Verdict::kUnknown;
      report_.reason = "equivalence is undecided: " + proof->detail;
    } else {
      conclude(classes() ? "proven to have the same effect for all inputs"
                         : "proven equivalent for all inputs");
    }
    return Ok{};
  }

  // Concludes that nothing differs. `how` explains why.
  void conclude(std::string_view how) {
    if (!report_.open.empty()) {
      report_.verdict = Verdict::kUnknown;
      report_.reason =
          fmt::format("{} of the {}'s obligations are neither covered nor proven infeasible: {}",
                      report_.open.size(), report_.after_role(), report_.open.front().detail);
    } else {
      report_.verdict = Verdict::kPass;
      report_.reason = fmt::format("{}; every edge of the {} is covered or proven infeasible", how,
                                   report_.after_role());
    }
  }

  CheckReport& report_;
  const CheckOptions& options_;
  Pair pair_;
  CoverageMap coverage_;
  bool interrupted_ = false;  // true if not all inputs were run
};

// Finds out how the difference affects callers, and shows the input that matters most.
Status direct(CheckReport& report, const CheckOptions& options,
              std::span<const SeccompData> inputs) {
  std::vector<SeccompData> all(inputs.begin(), inputs.end());
  all.insert(all.end(), report.own_inputs.begin(), report.own_inputs.end());
  const Pair pair{report.before.program, report.after.program, report.sameness};
  const Question question(pair);
  auto found = find_direction(question, options.host, options.budget.diagrams, all);
  if (!found) return found.error();
  report.direction = std::move(*found);
  if (!report.direction->example) return Ok{};
  report.witness = report.direction->example;
  report.own_inputs.push_back(report.witness->data);
  return Ok{};
}

// An optimizer should not lose calls that the kernel answers without running the filter. For a
// program too long to be installed, the comparison uses the cache that it would have.
void compare_caches(CheckReport& report, const CheckOptions& options) {
  const ProgramView before = report.before.program;
  const ProgramView after = report.after.program;
  report.cache = cache_changes({&before, 1}, {&after, 1}, options.host);
  report.cache_loss_allowed = options.allow_cache_loss;
  if (report.verdict == Verdict::kDifferent || !loses(report.cache)) return;
  const std::string lost = "the kernel no longer answers " + lost_text(report.cache);
  if (options.allow_cache_loss) {
    report.reason += "; " + lost + ", which is allowed";
  } else {
    report.verdict = Verdict::kFail;
    report.reason = lost + "; " + report.reason;
  }
}

// Applies the oracle's answers to the verdict.
void weigh(CheckReport& report) {
  if (report.oracle->in_doubt() != nullptr) {
    report.verdict = Verdict::kFail;
    report.reason = fmt::format(
        "the pair may be correct, but our interpreter may be wrong: {}; without the oracle the "
        "result is: {}",
        disagreement_text(*report.oracle), report.reason);
    return;
  }
  for (const AskedProgram& program : report.oracle->programs)
    if (!program.not_asked.empty())
      report.reason += fmt::format("; {} did not run {}", report.oracle->who, program.name);
  if (report.oracle->not_asked() != nullptr && report.verdict == Verdict::kPass)
    report.verdict = Verdict::kUnknown;
}

Status ask_oracle(CheckReport& report, const Oracle& oracle, std::span<const SeccompData> inputs,
                  std::span<const SeccompData> more) {
  std::vector<SeccompData> all(inputs.begin(), inputs.end());
  all.insert(all.end(), more.begin(), more.end());
  const NamedProgram programs[] = {{report.before.name, report.before.program},
                                   {report.after.name, report.after.program}};
  auto answer = oracle(programs, all);
  if (!answer) return answer.error();
  report.oracle = std::move(*answer);
  weigh(report);
  return Ok{};
}

// Returns why the kernel refuses a program, or std::nullopt if it accepts it.
std::optional<std::string> refusal_reason(const SideReport& side, std::string_view role,
                                          LengthRule length) {
  const auto refusal = refusal_of(side.program, length);
  if (!refusal) return std::nullopt;
  return fmt::format("the kernel refuses the {}: {}", role, describe(*refusal, side.program));
}

}  // namespace

Result<CheckReport> check_pair(const SideReport& before, const SideReport& after, Sameness sameness,
                               std::span<const SeccompData> inputs, const CheckOptions& options) {
  if (sameness == Sameness::kEffect && !options.prove)
    return make_error(ErrorCode::kUsage, "", "only a proof can compare effects");
  CheckReport report;
  report.sameness = sameness;
  report.before = before;
  report.after = after;
  report.before.refusal = refusal_of(before.program);
  report.after.refusal = refusal_of(after.program);
  report.inputs = inputs.size();
  auto refused = refusal_reason(report.before, report.before_role(), LengthRule::kUnlimited);
  if (!refused)
    // Nobody installs our own compilation of a second policy, so it may be too long.
    refused =
        refusal_reason(report.after, report.after_role(),
                       options.require_installable && !report.policies() ? LengthRule::kKernel
                                                                         : LengthRule::kUnlimited);
  if (refused) {
    report.verdict = Verdict::kRejected;
    report.reason = *refused;
    return report;
  }
  Job job(report, options);
  if (auto s = job.run(inputs); !s) return s.error();
  report.host = options.host;
  if (report.witness)
    if (auto s = direct(report, options, inputs); !s) return s.error();
  compare_caches(report, options);
  if (options.oracle)
    if (auto s = ask_oracle(report, options.oracle, inputs, report.own_inputs); !s)
      return s.error();
  return report;
}

}  // namespace secequiv
