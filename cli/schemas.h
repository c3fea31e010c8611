// `--print-schema`: the JSON schemas of reports and policies, which are part of the binary. Owns
// joining a schema and the schemas to which it refers into one document. It must not know any
// report.
#pragma once

#include <string>

namespace secequiv::cli {

// Prints the schema `name`, or the names of all schemas if `name` is empty. Returns the exit
// status.
int print_schema(const std::string& name);

}  // namespace secequiv::cli
