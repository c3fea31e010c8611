// Owns shared libraries that are loaded when they are first needed, because loading a large one
// takes longer than most runs of this tool. It must not know any library.
#pragma once

#include <span>

#include "harness/base/result.h"

namespace secequiv {

struct LoadedFunction {
  const char* name;
  void** address;
};

// Loads a library, which stays loaded, and stores the addresses of its functions. Errors: kIo with
// the loader's message. Calls for the same library must not overlap.
Status load_functions(const char* library, std::span<const LoadedFunction> functions);

}  // namespace secequiv
