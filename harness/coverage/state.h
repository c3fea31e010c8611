// Coverage and inputs on disk, so that runs add up. Owns two small formats: a coverage file (text:
// one line of marks per instruction, bound to its program) and an input file (64-byte little-endian
// seccomp_data records).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/coverage.h"

namespace secequiv {

std::string write_coverage(const CoverageMap& coverage);

// Adds what the file says is covered to `coverage`. Errors: kParse (malformed), kUsage (it is about
// another program).
Status read_coverage(std::string_view text, const std::string& name, CoverageMap& coverage);

// Errors: kParse when the size is no multiple of 64.
Result<std::vector<SeccompData>> read_inputs(std::string_view bytes, const std::string& name);
std::string write_inputs(const std::vector<SeccompData>& inputs);

}  // namespace secequiv
