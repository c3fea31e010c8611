#include "analyze/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "analyze/limits.h"
#include "harness/bpf/text.h"
#include "harness/compare/pair.h"
#include "harness/coverage/coverage.h"
#include "harness/report/regions.h"
#include "harness/seccomp/annotate.h"
#include "verify/dd/nearest.h"
#include "verify/dd/regions.h"

namespace secequiv {
namespace {

using Other = WhyReport::Other;

constexpr std::size_t kMostRegions = 3;  // of one decision
constexpr std::size_t kMostOthers = 4;   // that changed arguments lead to

std::vector<WhyReport::Test> tests_of(const Program& program, const Trace& run) {
  std::vector<WhyReport::Test> out;
  const auto comments = annotate(program);
  for (const TraceStep& step : run.steps) {
    if (!step.outcome && &step != &run.steps.back()) continue;
    std::string text = insn_text(program, step.pc);
    if (step.outcome) text += fmt::format(" -> {}", outcome_name(program[step.pc], *step.outcome));
    out.push_back({step.pc, std::move(text), comments[step.pc]});
  }
  return out;
}

ReturnValue constant(std::uint32_t value) { return {value, action_of(value)}; }

// The policy that decides alone, if there is one.
const Policy* policy_of(const WhyJob& job) {
  const auto& filters = job.stack.filters;
  return filters.size() == 1 && filters[0].policy ? &*filters[0].policy : nullptr;
}

PositionRef position_in(const Policy* policy, const SeccompData& data) {
  return policy != nullptr ? deciding_rule(*policy, data).position : PositionRef{};
}

Other other_of(Other::Kind kind, const dd::Decided& found, const WhyJob& job) {
  SeccompData data = job.data;
  for (const WordSet& word : found.where.regions.front().words)
    data.words[word.word] = word.example;
  const Arch arch = arch_from_data(job.data.arch(), 0).value_or(job.host);
  return {kind, "if " + condition_text(found.where, arch), found.value,
          position_in(policy_of(job), data)};
}

// What capabilities change, one at a time; if no single one does, all that are missing.
class Capabilities {
 public:
  explicit Capabilities(const WhyJob& job)
      : data_(job.data), profile_(*job.stack.filters[0].profile), policy_(*policy_of(job)) {}

  std::vector<Other> find() {
    for (const std::string& name : profile_.asked) {
      const bool has = granted(profile_.granted, name);
      auto changed = profile_.granted;
      if (has) {
        std::erase(changed, name);
      } else {
        changed.push_back(name);
      }
      add(changed, fmt::format("{} {}", has ? "without" : "with", name));
    }
    if (out_.empty()) together();
    return std::move(out_);
  }

 private:
  static bool granted(const std::vector<std::string>& among, const std::string& name) {
    return std::ranges::find(among, name) != among.end();
  }

  [[nodiscard]] bool differs(const std::vector<std::string>& capabilities) const {
    const auto policy = profile_.read(capabilities);
    return policy && decide(*policy, data_) != decide(policy_, data_);
  }

  void add(const std::vector<std::string>& capabilities, std::string condition) {
    const auto policy = profile_.read(capabilities);
    if (!policy || decide(*policy, data_) == decide(policy_, data_)) return;
    out_.push_back({Other::Kind::kCapability, std::move(condition),
                    constant(decide(*policy, data_)), position_in(&*policy, data_)});
  }

  // An entry may need several capabilities: all that it names, except those without effect.
  void together() {
    std::vector<std::string> missing;
    for (const std::string& name : profile_.asked)
      if (!granted(profile_.granted, name)) missing.push_back(name);
    const auto with = [&](const std::vector<std::string>& more) {
      auto out = profile_.granted;
      out.insert(out.end(), more.begin(), more.end());
      return out;
    };
    if (!differs(with(missing))) return;
    for (std::size_t i = missing.size(); i-- > 0;) {
      auto fewer = missing;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (differs(with(fewer))) missing = std::move(fewer);
    }
    add(with(missing), fmt::format("with {}", fmt::join(missing, " and ")));
  }

  const SeccompData& data_;
  const ContainerProfile& profile_;
  const Policy& policy_;
  std::vector<Other> out_;
};

// The same call on other architectures that the filters distinguish from unknown ones.
std::vector<Other> architectures(const WhyJob& job, std::uint32_t result) {
  const auto programs = views(job.stack.filters);
  const auto own = arch_from_data(job.data.arch(), job.data.nr());
  const std::string_view name = own ? syscall_name(*own, job.data.nr()) : std::string_view();
  std::vector<Other> out;
  for (const ArchInfo& info : all_arches()) {
    const auto nr = syscall_nr(info.arch, name);
    if (info.arch == own || !nr) continue;
    SeccompData data = job.data;
    data.set_nr(*nr);
    data.set_arch(0);
    const std::uint32_t unknown = run_stack(programs, data);
    data.set_arch(info.audit);
    const std::uint32_t found = run_stack(programs, data);
    if (found != result && found != unknown)
      out.push_back({Other::Kind::kArch, fmt::format("on {}", info.name), constant(found),
                     position_in(policy_of(job), data)});
  }
  return out;
}

}  // namespace

Result<WhyReport> why(const WhyJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const dd::Decisions decisions = space.decisions(programs, Sameness::kRaw);
  if (space.exhausted()) return limits_reached(job.stack.name);
  WhyReport report;
  report.data = job.data;
  report.recorded = job.recorded;
  if (!job.arguments_known) {
    const auto found = dd::decided(space, decisions, job.data, dd::kAllArguments, kMostRegions);
    if (space.exhausted()) return limits_reached(job.stack.name);
    if (found.size() > 1)
      for (const dd::Decided& one : found)
        report.possible.push_back(other_of(Other::Kind::kArgument, one, job));
  }
  report.result = run_stack(programs, job.data);
  const dd::NodeId others =
      space.differing(decisions, {space.diagrams().leaf(report.result), false});
  if (space.exhausted()) return limits_reached(job.stack.name);
  const Region region = dd::Regions(space).around(others, job.data);
  report.condition = condition_text(region, job.host);
  report.count = region.count;
  bool decided = programs.size() == 1;
  for (const Source& source : job.stack.filters) {
    const Trace run = trace(source.program, job.data);
    // Several filters may return the same action: the newest decides.
    const bool decides = !decided && precedence(run.result) == precedence(report.result);
    decided = decided || decides;
    const Policy* policy = source.policy ? &*source.policy : nullptr;
    report.filters.push_back({source.name, run.result, decides,
                              policy != nullptr ? deciding_rule(*policy, job.data) : DecidingRule{},
                              policy != nullptr ? reason(*policy, job.data) : "",
                              tests_of(source.program, run)});
  }
  if (policy_of(job) != nullptr && job.stack.filters[0].profile)
    report.others = Capabilities(job).find();
  // Beyond the limits, the answer stands without the nearest other inputs.
  auto near = dd::nearest(space, decisions, job.data, kMostRegions);
  if (space.exhausted()) near.clear();
  for (const dd::Decided& one : std::span(near).first(std::min(kMostOthers, near.size())))
    report.others.push_back(other_of(Other::Kind::kArgument, one, job));
  std::ranges::move(architectures(job, report.result), std::back_inserter(report.others));
  return report;
}

}  // namespace secequiv
