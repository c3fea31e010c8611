// Stores coverage and inputs in files, so that several runs can add up their coverage. Owns two
// small formats: a coverage file (text: one line of marks per instruction, bound to its program)
// and an input file (64-byte little-endian seccomp_data records). It must not know who produced the
// inputs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/coverage.h"
#include "harness/seccomp/data.h"

namespace secequiv {

std::string write_coverage(const CoverageMap& coverage);

// Adds the coverage in the file to `coverage`. Errors: kParse (malformed), kUsage (the file belongs
// to another program).
Status read_coverage(std::string_view text, const std::string& name, CoverageMap& coverage);

// Reads an input file. Errors: kParse if the size is not a multiple of 64.
Result<std::vector<SeccompData>> read_inputs(std::string_view bytes, const std::string& name);
inline std::string write_inputs(const std::vector<SeccompData>& inputs) {
  return input_bytes(inputs);
}

}  // namespace secequiv
