#include "harness/report/schemas.h"

#include <algorithm>
#include <string_view>

#include "harness/report/actions.h"
#include "harness/report/bisect.h"
#include "harness/report/cache.h"
#include "harness/report/check.h"
#include "harness/report/cost.h"
#include "harness/report/cover.h"
#include "harness/report/diff.h"
#include "harness/report/explanations.h"
#include "harness/report/find_rules.h"
#include "harness/report/guard.h"
#include "harness/report/hunt.h"
#include "harness/report/json.h"
#include "harness/report/kernel.h"
#include "harness/report/latency.h"
#include "harness/report/lint.h"
#include "harness/report/mutate.h"
#include "harness/report/precompile.h"
#include "harness/report/prove.h"
#include "harness/report/prove_property.h"
#include "harness/report/prove_rule.h"
#include "harness/report/reach.h"
#include "harness/report/run.h"
#include "harness/report/validate.h"
#include "harness/report/why.h"

namespace secequiv {

namespace documents {
std::string_view policy_schema();  // embedded: corpus/policies/schema.json
}

namespace {

struct Document {
  std::string_view name;
  Json (*schema)();
};
template <class Report>
constexpr Document document(const char* name) {
  return {name, [] { return schema_of<Report>().document_schema(); }};
}
// Every report that a command prints with --json.
constexpr Document kDocuments[] = {
    document<ActionsReport>("actions"),
    document<LatencyReport>("bench"),
    document<BisectReport>("bisect"),
    document<CacheReport>("cache"),
    document<CheckReport>("check"),
    document<CostReport>("cost"),
    document<CoverReport>("cover"),
    document<DiffReport>("diff"),
    document<Error>("error"),
    document<ExplainReport>("explain"),
    document<FoundRules>("find-rules"),
    document<HuntReport>("fuzz"),
    document<GuardReport>("guard"),
    document<kernel::KernelReport>("kernel"),
    document<kernel::SelfCheckReport>("kernel-check"),
    document<LintReport>("lint"),
    document<ShownScore>("mutate"),
    document<PrecompileReport>("precompile"),
    document<ProveReport>("prove"),
    document<PropertyReport>("prove-property"),
    document<ShownRules>("prove-rule"),
    document<ReachReport>("reach"),
    document<RunReport>("run"),
    document<ValidateReport>("validate"),
    document<WhyReport>("why"),
};

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> out = {"policy"};
  for (const Document& document : kDocuments) out.emplace_back(document.name);
  std::ranges::sort(out);
  return out;
}

std::optional<Json> schema(const std::string& name) {
  if (name == "policy") return Json::parse(documents::policy_schema(), nullptr, false);
  const auto* const found = std::ranges::find(kDocuments, name, &Document::name);
  if (found == std::end(kDocuments)) return std::nullopt;
  return found->schema();
}

}  // namespace secequiv
