// `bisect`: finds the first version of the code under test that has a finding.
#include "analyze/bisect.h"

#include <filesystem>

#include "analyze/direction.h"
#include "analyze/versions.h"
#include "cli/bisect_version.h"
#include "cli/certificate_option.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "fuzz/hunt/store.h"
#include "harness/report/hunt.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

namespace fs = std::filesystem;

struct BisectOptions : VersionOptions {
  std::string versions;
};

// Stores a certificate beside the finding. It proves that the last version without the finding
// answers the finding's program correctly.
void certify_last_pass(BisectReport& report, RunningVersion& running) {
  const Finding& finding = report.found->findings.front();
  const bool wanted = report.last_pass && !finding.file.empty() && report.kind != "evaluator";
  if (!wanted || was_interrupted()) return;
  const CertificateOption option{fs::path(finding.file).replace_extension("certificate").string()};
  report.certificate = running.certify(report.versions[*report.last_pass].version, finding.subject);
  report.certificate->directory = option.directory;
  option.write(*report.certificate);
}

Result<int> run_bisect(const BisectOptions& given) {
  RETURN_IF_ERROR(given.options.no_effect());
  const TargetOptions& named = given.fuzz.target;
  const auto usage = [](const char* option, const char* detail) {
    return make_error(ErrorCode::kUsage, option, detail);
  };
  if (named.name().empty()) return usage("", "expected --optimizer, --compiler or --evaluator");
  const std::string whole = named.name() + given.build;
  if (whole.find("{version}") == std::string::npos)
    return usage("--versions", "expected {version} in the command under test or in --build");
  ASSIGN_OR_RETURN(const auto versions, read_versions(given.versions));
  heed_interrupts();
  terminal::Ticker ticker;
  RunningVersion running(given);
  auto report = bisect(
      versions, {[&](const std::string& version) { return running.start(version); },
                 [&](const Finding* only) { return running.hunt(only); },
                 [&](const std::string& name) { ticker.step("trying " + name); }, was_interrupted});
  ticker.clear();
  if (!report) return report.error();
  report->kind = named.kind();
  report->target = named.name();
  report->sameness = given.options.sameness();
  Status stored = Ok{};
  ReportedCases cases;
  cases.exit_status = exit_code(report->verdict);
  if (report->found) {
    RETURN_IF_ERROR(
        add_directions(*report->found, given.options.sameness(), given.options.oci().arch));
    const ReportedCases found = reported(*report->found);
    cases.direction = found.direction;
    cases.effect = found.effect;
    if (!given.fuzz.save.empty()) stored = hunt::store_all(*report->found, given.fuzz.save);
    certify_last_pass(*report, running);
  }
  return print_found(given.options.json ? render(to_json(*report)) : bisect_text(*report), cases,
                     given.options, stored);
}

}  // namespace

void add_bisect(Commands& all) {
  const auto [sub, given] = add_command(
      all, "bisect", "Find the first version of an optimizer, compiler or interpreter that fails",
      run_bisect);
  sub->add_option("--versions", given->versions,
                  "Versions, oldest first: a file with one on each line, or a range such as v1..v9")
      ->required();
  sub->add_option("--build", given->build,
                  "Run this command before testing a version; if it fails, skip the version");
  given->fuzz.add_search(*sub);
  given->effort.add(*sub);
  given->options.add(*sub, {kSandbox, kInput, kSame, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
