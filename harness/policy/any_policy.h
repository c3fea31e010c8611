// Policies in whatever format a user has them: ours, or an OCI profile. Owns telling these, and
// programs, apart by content. It must not know where the text came from.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/policy/import_oci.h"

namespace secequiv {

// Is this the text of a JSON document (a policy) rather than a program?
bool looks_like_json(std::string_view text);

// `skipped` is empty for our own format. Errors: kParse, kPolicy.
Result<OciImport> read_any_policy(std::string_view text, const std::string& name,
                                  const OciOptions& options);

}  // namespace secequiv
