#include "analyze/policy_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/lift.h"
#include "analyze/proven.h"
#include "harness/base/table.h"
#include "harness/import/import_oci.h"
#include "harness/import/oci_rule.h"
#include "harness/import/oci_writer.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/normal_form.h"
#include "harness/report/policy_text.h"
#include "harness/report/regions.h"
#include "verify/dd/diff.h"

namespace secequiv {
namespace {

struct NamedForm {
  std::string_view name;
  PolicyForm form;
};
constexpr std::array<NamedForm, 4> kForms = {{{"policy", PolicyForm::kOwn},
                                              {"normal-form", PolicyForm::kNormalForm},
                                              {"oci", PolicyForm::kOci},
                                              {"text", PolicyForm::kText}}};

// Proves that both policies make the same decisions. Errors: kPolicy with the first inputs on which
// they differ.
Status prove_same(const Policy& before, const Policy& after, const std::string& name, Arch host,
                  const dd::Limits& limits) {
  const Program first = compile(before);
  const Program second = compile(after);
  Question question;
  question.before = {first};
  question.after = {second};
  auto same = expect_same(question.before, second, name, "the OCI profile", limits);
  if (same || same.error().code != ErrorCode::kInternal) return same;
  ASSIGN_OR_RETURN(const auto difference, dd::diff(question, 1, limits));
  if (difference.changes.empty()) return same;
  const Change& change = difference.changes.front();
  return make_error(ErrorCode::kPolicy, name, summary(change, change.where.regions.front(), host));
}

// Returns whether the entries have different actions and a form that libseccomp 2.5.4 may merge
// wrongly.
bool may_merge_wrongly(const MixedCall& mixed) {
  for (const RuleSet& one : mixed.entries)
    for (const RuleSet& other : mixed.entries)
      if (one.action != other.action &&
          !exclude_each_other(one.rules.front().rule, other.rules.front().rule))
        return true;
  return false;
}

// Returns what in the profile depends on the runtime or has no effect.
std::optional<std::string> doubt_about(const OciImport& read) {
  if (const auto mixed = std::ranges::find_if(read.mixed, may_merge_wrongly);
      mixed != read.mixed.end())
    return fmt::format(
        "{}: entries with different actions test several arguments or ranges, and libseccomp 2.5.4 "
        "may merge them wrongly",
        syscall_name(mixed->entries[0].rules[0].arch, mixed->entries[0].rules[0].nr));
  if (!read.failures.empty()) return read.failures.front().problem();
  if (!read.unclear.empty()) return read.unclear.front();
  if (!read.skipped.empty()) return read.skipped.front();
  if (!read.unknown.empty()) return read.unknown.front().text();
  return std::nullopt;
}

Result<std::string> proven_oci(const Policy& policy, const std::string& name, Arch host,
                               const dd::Limits& limits) {
  auto text = write_oci(policy, name);
  if (!text) return text;
  OciOptions options;
  options.arch = policy.has_arch(host) ? host : policy.arches.front();
  const auto read = import_oci(*text, "the written profile", options);
  if (!read && read.error().code == ErrorCode::kRejected)
    return make_error(ErrorCode::kPolicy, name,
                      "no OCI profile can express this policy: " + read.error().detail);
  if (!read) return make_error(ErrorCode::kInternal, name, read.error().text());
  if (const auto doubt = doubt_about(*read))
    return make_error(
        ErrorCode::kPolicy, name,
        fmt::format("no OCI profile can express this policy for all runtimes: {}", *doubt));
  // No call has these numbers, so a policy need not mention them.
  Policy asked = policy;
  if (asked.default_ranges.empty()) asked.default_ranges = read->policy.default_ranges;
  auto same = prove_same(asked, read->policy, name, options.arch, limits);
  if (same) return text;
  if (same.error().code == ErrorCode::kPolicy)
    same.error().detail = fmt::format(
        "no OCI profile can express this policy, because an entry applies to all architectures, "
        "and "
        "on some of them also to socketcall or ipc: {}",
        same.error().detail);
  return same.error();
}

// Different rules can mean the same. If no profile can express the rules of a policy, tries those
// that lift() finds for it, because they are simple, and the same on all architectures.
Result<std::string> write_proven_oci(const Policy& policy, const std::string& name, Arch host,
                                     const dd::Limits& limits) {
  auto text = proven_oci(policy, name, host, limits);
  if (text || text.error().code != ErrorCode::kPolicy) return text;
  LiftJob job;
  job.stack.name = name;
  job.stack.filters.push_back({name, compile(policy), std::nullopt});
  job.host = host;
  job.limits = limits;
  const auto lifted = lift(job);
  if (!lifted) return text;
  auto again = proven_oci(lifted->policy, name, host, limits);
  return again ? again : text;
}

}  // namespace

std::optional<PolicyForm> policy_form_from_name(std::string_view name) {
  const auto* const known = entry_of(kForms, name, &NamedForm::name);
  return known == nullptr ? std::nullopt : std::optional(known->form);
}

std::vector<std::string> policy_form_names() {
  std::vector<std::string> out;
  out.reserve(kForms.size());
  for (const NamedForm& one : kForms) out.emplace_back(one.name);
  return out;
}

Result<std::string> write_policy_as(PolicyForm form, const Policy& policy, const std::string& name,
                                    Arch host, const dd::Limits& limits) {
  switch (form) {
    case PolicyForm::kOwn:
      break;
    case PolicyForm::kNormalForm:
      return write_normal_form(policy);
    case PolicyForm::kOci:
      return write_proven_oci(policy, name, host, limits);
    case PolicyForm::kText:
      return policy_text(policy);
  }
  return write_policy(policy);
}

}  // namespace secequiv
