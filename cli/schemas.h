// `--print-schema`: the JSON schemas of reports and policies, which are part of the binary. Owns
// how a schema and those that it refers to become one document.
#pragma once

#include <string>

namespace secequiv::cli {

// Prints the schema of this name, or the names of all if it is empty. Returns the exit status.
int print_schema(const std::string& name);

}  // namespace secequiv::cli
