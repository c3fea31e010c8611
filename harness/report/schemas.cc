#include "harness/report/schemas.h"

#include <algorithm>
#include <map>
#include <set>
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
std::string_view schemas();  // embedded: an array of schemas
}

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kEnding = ".schema.json";

struct Document {
  const char* name;
  Json (*schema)();
};
template <class Report>
constexpr Document document(const char* name) {
  return {name, [] { return fields_of<Report>().document_schema(); }};
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

// Returns the schemas, sorted by the last part of their $id, such as "check.schema.json".
std::map<std::string, ordered_json> all_schemas() {
  std::map<std::string, ordered_json> out;
  for (ordered_json& schema : ordered_json::parse(documents::schemas(), nullptr, false)) {
    const std::string id = schema["$id"];
    out.emplace(id.substr(id.rfind('/') + 1), std::move(schema));
  }
  return out;
}

// Collects the other schemas to which `part` refers.
void add_references(const ordered_json& part, std::set<std::string>& out) {
  for (const auto& [key, value] : part.items()) {
    if (key == "$ref" && value.is_string()) {
      const std::string target = value;
      if (!target.starts_with('#')) out.insert(target.substr(0, target.find('#')));
    } else if (value.is_structured()) {
      add_references(value, out);
    }
  }
}

// Returns the schema with all schemas that it needs among its definitions, so that a validator
// fetches nothing.
ordered_json bundled(const std::map<std::string, ordered_json>& all, const std::string& file) {
  ordered_json out = all.at(file);
  std::set<std::string> done = {file};
  std::vector<std::string> open = {file};
  while (!open.empty()) {
    std::set<std::string> needed;
    add_references(all.at(open.back()), needed);
    open.pop_back();
    for (const std::string& other : needed) {
      if (!done.insert(other).second) continue;
      out["$defs"][other] = all.at(other);
      open.push_back(other);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> schema_names() {
  const auto all = all_schemas();
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [file, document] : all)
    out.push_back(file.substr(0, file.size() - kEnding.size()));
  std::ranges::sort(out);  // files have another order: kernel-check.*, kernel.*
  return out;
}

std::optional<ordered_json> schema(const std::string& name) {
  const auto all = all_schemas();
  const std::string file = name + std::string(kEnding);
  for (const Document& one : kDocuments)
    if (name == one.name) return one.schema();
  if (!all.contains(file)) return std::nullopt;
  return bundled(all, file);
}

}  // namespace secequiv
