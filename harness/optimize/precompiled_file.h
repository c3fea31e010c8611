// Precompiled filters as files. Owns the format "secequiv.precompiled/1"
// (harness/report/schema/precompiled.schema.json). It must not know how they are made.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/optimize/precompile.h"

namespace secequiv {

// Reads one; find_fault finds nothing in the result. Errors: kParse (syntax), kPolicy (meaning)
// with a JSON pointer, what was expected and what was found.
Result<Precompiled> read_precompiled(std::string_view text, const std::string& name);

// One line for each variable and each instruction; reading it back gives the same.
std::string write_precompiled(const Precompiled& precompiled);

}  // namespace secequiv
