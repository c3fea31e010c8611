#include "harness/policy/any_policy.h"

#include "harness/base/text.h"
#include "harness/policy/json.h"

namespace secequiv {

bool looks_like_json(std::string_view text) {
  text = without_bom(text);
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const std::size_t inside = text.find_first_not_of(" \t\r\n", brace + 1);
  return inside != std::string_view::npos && (text[inside] == '"' || text[inside] == '}');
}

Result<OciImport> read_any_policy(std::string_view text, const std::string& name,
                                  const OciOptions& options) {
  auto document = parse_json(text, name);
  if (!document) return document.error();
  if (!document->contains("rule_sets") &&
      (document->contains("defaultAction") || document->contains("linux")))
    return import_oci(text, name, options);
  auto policy = read_policy(text, name);
  if (!policy) return policy.error();
  return OciImport{std::move(*policy), {}};
}

}  // namespace secequiv
