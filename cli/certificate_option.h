// `--certificate DIR` of `prove`. Owns that option and the files in its folder.
#pragma once

#include <string>

#include "cli/common.h"
#include "harness/report/prove.h"

namespace secequiv::cli {

struct CertificateOption {
  std::string directory;  // empty: none is wanted

  void add(CLI::App& app);
  // An old certificate must not be taken for one of this run. Errors: kIo.
  [[nodiscard]] Status remove_old() const;
  // Errors: kIo.
  [[nodiscard]] Status write(const CertificateReport& report) const;
  // The error with the option's name, if it is about the certificate.
  [[nodiscard]] Error named(Error error) const;
};

}  // namespace secequiv::cli
