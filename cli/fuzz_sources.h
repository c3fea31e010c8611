// The inputs of code under test: programs, policies or generated ones. Owns how a user names files
// and folders of programs and policies. It must not know what is under test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv::cli {

struct FuzzSources {
  std::vector<std::string> programs;  // files or folders
  std::vector<std::string> policies;
  bool generate = false;
  std::vector<std::string> arches;  // architectures of generated policies
  bool no_low_halves = false;
  bool no_dead_code = false;

  void add(Command& command);

  // Opens the policies if `compiler` is set, otherwise the programs. Errors: kUsage, and those of
  // reading a file that the user named.
  [[nodiscard]] Result<std::unique_ptr<hunt::ProgramSource>> open(bool compiler,
                                                                  const Options& options) const;
};

}  // namespace secequiv::cli
