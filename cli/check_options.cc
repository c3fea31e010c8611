#include "cli/check_options.h"

#include "analyze/deciding.h"
#include "analyze/installed.h"
#include "analyze/page.h"
#include "analyze/provenance.h"
#include "cli/report_files.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {

void PairCheckOptions::add(Command& command) {
  command.add_flag("--any-length", any_length, "Accept programs of more than 4096 instructions");
  command.add_flag("--allow-cache-loss", allow_cache_loss,
                   "Do not fail if system calls leave the kernel's cache; only report them");
  engine.add_engine(command);
  oracle.add(command);
}

Result<CheckOptions> PairCheckOptions::check_options(const Options& options) const {
  CheckOptions out;
  ASSIGN_OR_RETURN(out.oracle, oracle.open());
  ASSIGN_OR_RETURN(out.engine, engine.engine(options));
  out.budget = budget(options);
  out.require_installable = !any_length;
  out.host = options.oci().arch;
  out.allow_cache_loss = allow_cache_loss;
  return out;
}

Status PairCheckOptions::conclude(const Source& before, const Source& after, PairNotes notes,
                                  const Options& options, CheckReport& report) {
  report.notes = std::move(notes);
  if (report.verdict == Verdict::kDifferent && !report.notes.choices.empty()) {
    const Pair pair{before.program, after.program, report.sameness};
    const Question question(pair);
    const dd::Limits limits = diagram_limits(options);
    ASSIGN_OR_RETURN(const auto proof,
                     difference_without_choices(question, report.notes.choices, limits));
    if (proof.verdict == Verdict::kDifferent) {
      ASSIGN_OR_RETURN(auto direction,
                       find_direction_without_choices(question, report.notes.choices, report.host,
                                                      limits, {&proof.witness->data, 1}));
      report.witness = direction.example ? direction.example : proof.witness;
      report.direction = std::move(direction);
    } else {
      report.verdict = Verdict::kUnknown;
      report.reason = proof.detail;
      report.proof = proof;
      report.witness.reset();
      report.direction.reset();
    }
  }
  if (report.witness)
    report.rules = {deciding_rule(std::span(&before, 1), report.witness->data),
                    deciding_rule(std::span(&after, 1), report.witness->data)};
  report.notes.conclude(report.verdict, report.reason);
  return Ok{};
}

Status PairCheckOptions::write_page(const CheckReport& report, const Source& before,
                                    const Source& after, std::span<const SeccompData> inputs,
                                    const Options& options, const std::string& link) const {
  if (options.html.empty()) return Ok{};
  ASSIGN_OR_RETURN(auto engines, engine.engine(options));
  terminal::Ticker ticker;
  ticker.step("preparing the page", 5 * options.timeout);
  ASSIGN_OR_RETURN(
      auto found,
      page({.report = report,
            .before = before,
            .after = after,
            .inputs = inputs,
            .engine = std::move(engines),
            .budget = budget(options),
            .limits = diagram_limits(options),
            .seconds = options.timeout,
            .host = options.oci().arch,
            .version = SECEQUIV_VERSION,
            .provenance = provenance({{"before", &before}, {"after", &after}}, SECEQUIV_VERSION)}));
  found.link = link;
  return write_html(std::move(found), options);
}

}  // namespace secequiv::cli
