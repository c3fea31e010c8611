// `--certificate DIR` of `prove`. Owns that option and the files in its folder.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/base/result.h"
#include "harness/report/prove.h"

namespace secequiv::cli {

struct CertificateOption {
  std::string directory;  // empty: none is wanted

  void add(CLI::App& app);
  // Errors: kIo.
  [[nodiscard]] Status write(const CertificateReport& report) const;
};

}  // namespace secequiv::cli
