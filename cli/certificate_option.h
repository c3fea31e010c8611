// Owns the option `--certificate DIR` of `prove`, and writing the files in its folder. It must not
// know how certificates are made.
#pragma once

#include <string>

#include "cli/question.h"
#include "harness/base/result.h"
#include "harness/report/prove.h"

namespace secequiv::cli {

struct CertificateOption {
  std::string directory;  // empty: no certificate is wanted

  void add(Command& command);
  // Writes the report's files. If one file cannot be written, none of them stays in the folder
  // or in the report, and the report has the reason.
  void write(CertificateReport& report) const;
};

}  // namespace secequiv::cli
