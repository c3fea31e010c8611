// The options --expect and --write-expect of `diff`, which compare with a stored difference or
// store one. Owns these options.
#pragma once

#include <optional>
#include <string>

#include "analyze/diff.h"
#include "cli/question.h"

namespace secequiv::cli {

struct ExpectOption {
  std::string path;
  std::string write;

  void add(Command& command);
  // Returns the expected difference, if --expect names one. Errors: kUsage, and those of reading
  // the file.
  [[nodiscard]] Result<std::optional<DiffJob::Expected>> read() const;
  // Writes the difference if --write-expect is given, unless the oracle contradicts it.
  [[nodiscard]] Status store(const DiffReport& found) const;
};

}  // namespace secequiv::cli
