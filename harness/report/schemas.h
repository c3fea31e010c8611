// The JSON schemas of reports and policies, which are part of the binary. Owns the bundling of a
// schema with those that it refers to. It must not know what a schema describes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace secequiv {

// Returns the sorted names: "actions", "bench", ...
std::vector<std::string> schema_names();

// Returns the schema `name` with all schemas that it needs, so that a validator fetches nothing.
std::optional<nlohmann::ordered_json> schema(const std::string& name);

}  // namespace secequiv
