// `--certificate DIR`: what `prove` leaves for checkers of others. Owns that option, the files'
// folder and what is said about them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/cli/common.h"
#include "harness/cli/engine_options.h"

namespace secequiv::cli {

struct CertificateOption {
  std::string directory;

  // What was written, or why nothing was.
  struct Report {
    std::string directory;
    std::string reason;  // empty: it was written
    struct File {
      std::string name;
      std::size_t bytes = 0;
    };
    std::vector<File> files;
    double seconds = 0;  // to make and to write

    [[nodiscard]] std::string text() const;
    [[nodiscard]] nlohmann::ordered_json json() const;
  };

  void add(CLI::App& app);
  [[nodiscard]] bool wanted() const { return !directory.empty(); }
  // Before anything is proven: nothing else has certificates.
  [[nodiscard]] Status check(const Question& question) const;
  // Errors: kBudget and others of verify/certificate where there is none; kIo.
  [[nodiscard]] Result<Report> write(const Question& question, const Proof& proof,
                                     const EngineOptions& engine, const Options& options) const;
};

}  // namespace secequiv::cli
