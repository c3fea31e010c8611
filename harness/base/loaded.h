// Owns shared libraries that are loaded when they are first needed, because loading a large one
// takes longer than most runs of this tool. It must not know any library.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace secequiv {

struct LoadedFunction {
  const char* name;
  void** address;
};

// Loads a library, which stays loaded, and stores the addresses of its functions. Errors: kIo with
// the loader's message. Calls for the same library must not overlap.
Status load_functions(const char* library, std::span<const LoadedFunction> functions);

// Returns the files of PyPI's `package` that match the pattern `file`, if the package is installed
// beside this code: beside our own package, or below the prefix of our command.
std::vector<std::string> files_of_pypi(const std::string& package, const std::string& file);

// A library that no caller can go on without is not installed. The answer is unknown.
class NotInstalled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace secequiv
