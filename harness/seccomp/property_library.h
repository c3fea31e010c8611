// The properties that every copy of this program knows by name (corpus/properties). Owns their
// names and texts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/seccomp/property.h"

namespace secequiv {

struct LibraryProperty {
  std::string_view name;     // "no-ptrace"
  std::string_view summary;  // one line
  std::string_view text;     // in the language of property.h
};

// Sorted by name.
std::span<const LibraryProperty> property_library();

// Returns nullptr if there is no such property.
const LibraryProperty* find_library_property(std::string_view name);

// Reads the property of the library with this name, or `wanted` as clauses; these have no name.
// Errors name `where`: kUsage if it is neither, and those of parse_property().
Result<Property> named_property(std::string_view wanted, const std::string& where, Arch host);

}  // namespace secequiv
