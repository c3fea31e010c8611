// The JSON schemas of reports and policies, which are part of the binary. Owns how a schema and
// those that it refers to become one document.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace secequiv {

// Sorted: "actions", "bench", ...
std::vector<std::string> schema_names();

// The schema of this name with all that it needs, so that a validator fetches nothing.
std::optional<nlohmann::ordered_json> schema(const std::string& name);

}  // namespace secequiv
