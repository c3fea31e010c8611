#include "cli/bisect_version.h"

#include "analyze/versions.h"
#include "fuzz/hunt/start.h"
#include "harness/adapter/command.h"
#include "harness/bpf/refusal.h"
#include "verify/certificate/certificate.h"

namespace secequiv::cli {

Result<std::string> RunningVersion::start(const std::string& version) {
  target_ = {};
  fuzz_ = given_.fuzz;
  for (std::string* name :
       {&fuzz_.target.optimizer, &fuzz_.target.compiler, &fuzz_.target.evaluator})
    *name = with_version(*name, version);
  if (!given_.build.empty()) {
    // The user's own build is neither confined nor limited. Messages quote its standard error.
    const AdapterLimits limits{.seconds = 1e8, .memory_bytes = 0};
    const auto built = run_command("exec >&2; " + with_version(given_.build, version), {}, limits);
    if (!built.ok()) return "the build failed: " + built.detail;
  }
  auto target = open_target(fuzz_.target, given_.options);
  if (!target && target.error().code == ErrorCode::kUsage) return target.error();
  if (!target) return target.error().detail;
  target_ = std::move(*target);
  if (target_.evaluator) return hunt::why_not_started(*target_.evaluator);
  return hunt::why_not_started(
      {fuzz_.target.name(), target_.optimizer.get(), target_.compiler.get()});
}

Result<HuntReport> RunningVersion::hunt(const Finding* only) {
  ASSIGN_OR_RETURN(auto hunting, fuzz_.hunt_options(given_.options, given_.effort));
  hunting.shorter = target_.shorter;
  hunting.stop_at_first = true;
  hunting.scaling = false;
  std::vector<SeccompData> inputs;
  if (only != nullptr) {
    hunting.trials = 0;  // only the finding's subject, which every hunt tries
    if (only->witness) inputs.push_back(only->witness->data);
    ASSIGN_OR_RETURN(auto source, hunt::given_subject(only->subject));
    return hunt_target(fuzz_.target, target_, *source, inputs, hunting);
  }
  ASSIGN_OR_RETURN(auto source, fuzz_.sources.open(!fuzz_.target.compiler.empty(), given_.options));
  // With a file that cannot be read, no version would pass.
  if (const auto unread = source->unread(); !unread.empty()) return unread.front().error;
  ASSIGN_OR_RETURN(auto stored, fuzz_.stored_inputs());
  return hunt_target(fuzz_.target, target_, *source, stored, hunting);
}

CertificateReport RunningVersion::certify(const std::string& version, const HuntSubject& subject) {
  CertificateReport out;
  const auto without = [&](std::string why) {
    out.reason = version + ": " + std::move(why);
    return out;
  };
  const auto clock = Clock::now();
  const auto obstacle = start(version);
  if (!obstacle) return without(obstacle.error().text());
  if (!obstacle->empty()) return without(*obstacle);
  const auto answer =
      hunt::ask({fuzz_.target.name(), target_.optimizer.get(), target_.compiler.get()}, subject);
  if (!answer.ok()) return without(answer.detail);
  if (refusal_of(answer.value, LengthRule::kUnlimited))
    return without("the kernel refuses the answer");
  const Pair pair{subject.before, answer.value, given_.options.sameness()};
  auto files = certificate::by_cases(Question(pair), {});
  if (!files) return without(files.error().text());
  for (certificate::File& file : *files)
    out.files.push_back({std::move(file.name), std::move(file.text)});
  out.seconds = seconds_since(clock);
  return out;
}

}  // namespace secequiv::cli
