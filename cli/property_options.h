// Owns the options --property and --list-properties of `prove`, and how a user names a property. It
// must not prove anything.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "harness/seccomp/property.h"

namespace secequiv::cli {

struct PropertyOptions {
  std::vector<std::string> wanted;
  bool list = false;

  // With these options, the command does not require all of its arguments.
  void add(Command& command);
  // Reads the wanted properties: of the library, from files, or written as arguments.
  [[nodiscard]] Result<std::vector<Property>> load(const Options& options) const;
};

// Returns a line for each property of the library.
std::string library_text();

}  // namespace secequiv::cli
