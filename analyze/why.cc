#include "analyze/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "analyze/deciding.h"
#include "analyze/installed.h"
#include "analyze/load.h"
#include "harness/bpf/text.h"
#include "harness/compare/pair.h"
#include "harness/coverage/coverage.h"
#include "harness/import/oci_runtime.h"
#include "harness/report/regions.h"
#include "harness/seccomp/annotate.h"
#include "verify/dd/nearest.h"
#include "verify/dd/regions.h"

namespace secequiv {
namespace {

using Other = WhyReport::Other;

constexpr std::size_t kMostRegions = 3;  // limit for each decision
constexpr std::size_t kMostOthers = 4;   // limit for decisions that changed arguments lead to

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

// A decision of a stack, and the position of the rule that decides. A filter without a policy
// decides as its program does.
struct Decision {
  std::uint32_t result;
  PositionRef position;
};
using Policies = std::vector<const Policy*>;  // the policy of each filter, or null

Decision decision(const std::vector<Source>& filters, const Policies& policies,
                  const SeccompData& data) {
  std::uint32_t result = 0;
  const Policy* by = nullptr;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const std::uint32_t value =
        policies[i] != nullptr ? decide(*policies[i], data) : run(filters[i].program, data);
    if (i != 0 && precedence(value) >= precedence(result)) continue;
    result = value;
    by = policies[i];
  }
  if (filters.size() > 1 && action_of(result) == SECCOMP_RET_ALLOW) result = SECCOMP_RET_ALLOW;
  return {result, by != nullptr ? deciding_rule(*by, data).position : PositionRef{}};
}

Policies policies_of(const std::vector<Source>& filters) {
  Policies out;
  for (const Source& source : filters) out.push_back(source.policy ? &*source.policy : nullptr);
  return out;
}

// Finds capabilities of the container and versions of the kernel that would change the decision.
// Adds or removes one capability at a time; if none changes the decision, adds all missing ones
// together. Reads every container profile of the stack again for each attempt.
class Containers {
 public:
  explicit Containers(const WhyJob& job)
      : data_(job.data),
        filters_(job.stack.filters),
        result_(decision(filters_, policies_of(filters_), data_).result) {
    for (const Source& source : filters_) {
      if (!source.profile) continue;
      options_ = source.profile->options;
      for (const std::string& name : source.profile->asked)
        if (!among(asked_, name)) asked_.push_back(name);
      kernels_.insert(source.profile->kernels.begin(), source.profile->kernels.end());
    }
  }

  std::vector<Other> find() {
    for (const std::string& name : asked_) {
      const bool has = among(options_.capabilities, name);
      OciOptions changed = options_;
      if (has) {
        std::erase(changed.capabilities, name);
        add(changed, "without " + name, {});
      } else {
        changed.capabilities.push_back(name);
        add(changed, "with " + name, "without " + name);
      }
    }
    if (out_.empty()) together();
    kernels();
    return std::move(out_);
  }

 private:
  static bool among(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  // Returns std::nullopt if the stack's decision stays the same.
  [[nodiscard]] std::optional<Decision> changed_by(const OciOptions& options) const {
    std::deque<Policy> read;
    Policies policies = policies_of(filters_);
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      if (!filters_[i].profile) continue;
      auto policy = filters_[i].profile->read(options);
      if (!policy) return std::nullopt;
      policies[i] = &read.emplace_back(std::move(*policy));
    }
    Decision found = decision(filters_, policies, data_);
    if (found.result == result_) return std::nullopt;
    // If several filters return this action, the report shows the rule of the filter whose
    // decision changed.
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      if (!filters_[i].profile) continue;
      const std::uint32_t now = decide(*policies[i], data_);
      if (now == decide(*filters_[i].policy, data_) || precedence(now) != precedence(found.result))
        continue;
      found.position = deciding_rule(*policies[i], data_).position;
      break;
    }
    return found;
  }

  // Returns whether the decision changes.
  bool add(const OciOptions& options, std::string condition, std::string missing,
           Other::Kind kind = Other::Kind::kCapability) {
    auto found = changed_by(options);
    if (!found) return false;
    out_.push_back({kind,
                    std::move(condition),
                    constant(found->result),
                    std::move(found->position),
                    {},
                    std::move(missing)});
    return true;
  }

  // Tries the versions that the profiles name: later ones and then earlier ones, each from the
  // nearest on.
  void kernels() {
    const auto host = kernel_version(options_.kernel);
    if (!host) return;
    OciOptions changed = options_;
    for (auto at = kernels_.upper_bound(*host); at != kernels_.end(); ++at) {
      const std::string text = fmt::format("Linux {}.{}", at->first, at->second);
      changed.kernel = fmt::format("{}.{}", at->first, at->second);
      if (add(changed, "on " + text + " or later", "below " + text, Other::Kind::kKernel)) break;
    }
    constexpr unsigned kLastMinor = 99999;  // for the version before 5.0
    for (auto at = kernels_.upper_bound(*host); at != kernels_.begin();) {
      const auto [major, minor] = *--at;
      if (major == 0 && minor == 0) break;
      changed.kernel = minor > 0 ? fmt::format("{}.{}", major, minor - 1)
                                 : fmt::format("{}.{}", major - 1, kLastMinor);
      if (add(changed, fmt::format("before Linux {}.{}", major, minor), {}, Other::Kind::kKernel))
        break;
    }
  }

  // Reports missing capabilities that together change the decision, because an entry may need
  // several. Leaves out those without effect.
  void together() {
    std::vector<std::string> missing;
    for (const std::string& name : asked_)
      if (!among(options_.capabilities, name)) missing.push_back(name);
    const auto with = [&](const std::vector<std::string>& more) {
      OciOptions out = options_;
      out.capabilities.insert(out.capabilities.end(), more.begin(), more.end());
      return out;
    };
    if (!changed_by(with(missing))) return;
    for (std::size_t i = missing.size(); i-- > 0;) {
      auto fewer = missing;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (changed_by(with(fewer))) missing = std::move(fewer);
    }
    const std::string names = fmt::format("{}", fmt::join(missing, " and "));
    add(with(missing), "with " + names, "without " + names);
  }

  const SeccompData& data_;
  const std::vector<Source>& filters_;
  std::uint32_t result_;
  OciOptions options_;
  std::vector<std::string> asked_;
  std::set<std::pair<unsigned, unsigned>> kernels_;
  std::vector<Other> out_;
};

std::optional<AskedCall> asked_call(const SeccompData& data) {
  const auto arch = arch_from_data(data.arch(), data.nr());
  return arch ? std::optional(AskedCall{*arch, data.nr()}) : std::nullopt;
}

Other other_of(Other::Kind kind, const dd::Decided& found, const Stack& stack,
               const SeccompData& call, Arch host) {
  SeccompData data = call;
  for (const WordSet& word : found.where.regions.front().words)
    data.words[word.word] = word.example;
  const Arch arch = arch_from_data(call.arch(), 0).value_or(host);
  DecidingRule rule = deciding_rule(stack.filters, data);
  return {kind,
          "if " + condition_text(found.where, arch),
          found.value,
          std::move(rule.position),
          "if " + condition_text(found.where, arch, Values::kNamed, asked_call(call)),
          {},
          rule.others.size()};
}

// Returns the decisions for the same call on other architectures that the filters distinguish from
// unknown ones.
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
                     deciding_rule(job.stack.filters, data).position});
  }
  return out;
}

// Returns a set of inputs that contains the call and gets the same decision. The inputs have one
// condition: the regions of a diagram that differ in only one 64-bit field are joined.
RegionList around(dd::Space& space, dd::NodeId others, const WhyJob& job) {
  constexpr std::size_t kMostJoined = 64;
  dd::Regions regions(space);
  const Region one = regions.around(others, job.data);
  RegionList alone{{one}, one.count, "1"};
  Region calls = one;
  std::erase_if(calls.words,
                [](const WordSet& set) { return set.word != kNrWord && set.word != kArchWord; });
  if (calls.words.size() == one.words.size()) return alone;
  dd::Diagrams& diagrams = space.diagrams();
  const dd::NodeId same = diagrams.both(regions.set_of(calls), diagrams.negate(others));
  const RegionList all = regions.list(same, kMostJoined);
  const auto joined = joined_around(all.regions, job.data, job.host);
  if (space.exhausted() || !all.is_all(all.regions.size()) || joined.size() < 2) return alone;
  dd::Count count = 0;
  for (const Region& region : joined) count += dd::Count(region.count);
  return {joined, dd::text_of(count), std::to_string(joined.size())};
}

Result<std::vector<Other>> possible(dd::Space& space, const dd::Decisions& decisions,
                                    const Stack& stack, const SeccompData& call, Arch host) {
  const auto found = dd::decided(space, decisions, call, dd::kAllArguments, kMostRegions);
  if (space.exhausted()) return dd::limits_reached(stack.name);
  std::vector<Other> out;
  if (found.size() > 1)
    for (const dd::Decided& one : found)
      out.push_back(other_of(Other::Kind::kArgument, one, stack, call, host));
  return out;
}

}  // namespace

Result<std::vector<Other>> possible_decisions(const Stack& stack, const SeccompData& call,
                                              Arch host, const dd::Limits& limits) {
  const auto programs = views(stack.filters);
  dd::Space space(programs, limits);
  const dd::Decisions decisions = space.decisions(programs, Sameness::kRaw);
  if (space.exhausted()) return dd::limits_reached(stack.name);
  return possible(space, decisions, stack, call, host);
}

Result<WhyReport> why(const WhyJob& job) {
  const auto programs = views(job.stack.filters);
  dd::Space space(programs, job.limits);
  const dd::Decisions decisions = space.decisions(programs, Sameness::kRaw);
  if (space.exhausted()) return dd::limits_reached(job.stack.name);
  WhyReport report;
  report.data = job.data;
  report.recorded = job.recorded;
  report.notes = notes_about(std::span(job.stack.filters));
  report.notes.choices = choices_at(job.stack.filters, job.data, job.arguments_known, job.limits);
  if (!job.arguments_known) {
    ASSIGN_OR_RETURN(report.possible, possible(space, decisions, job.stack, job.data, job.host));
  }
  report.result = run_stack(programs, job.data);
  const dd::NodeId others =
      space.differing(decisions, {space.diagrams().leaf(report.result), false});
  if (space.exhausted()) return dd::limits_reached(job.stack.name);
  const RegionList where = around(space, others, job);
  report.condition = condition_text(where, job.host);
  report.named = condition_text(where, job.host, Values::kNamed, asked_call(job.data));
  report.count = where.count;
  bool decided = programs.size() == 1;
  for (const Source& source : job.stack.filters) {
    const Trace run = trace(source.program, job.data);
    // If several filters return the same action, the newest one decides.
    const bool decides = !decided && precedence(run.result) == precedence(report.result);
    decided = decided || decides;
    DecidingRule rule = deciding_rule(source, job.data);
    std::string why = source.policy ? reason(*source.policy, job.data) : rule.shown();
    report.filters.push_back({source.title(), run.result, decides, std::move(rule), std::move(why),
                              tests_of(source.program, run)});
  }
  report.others = Containers(job).find();
  // If the limits are reached, the report omits the nearest other inputs.
  auto near = dd::nearest(space, decisions, job.data, kMostRegions);
  if (space.exhausted()) near.clear();
  for (const dd::Decided& one : std::span(near).first(std::min(kMostOthers, near.size())))
    report.others.push_back(other_of(Other::Kind::kArgument, one, job.stack, job.data, job.host));
  std::ranges::move(architectures(job, report.result), std::back_inserter(report.others));
  return report;
}

}  // namespace secequiv
