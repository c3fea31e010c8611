// `--certificate DIR`: what `prove` leaves for checkers of others. Owns that option, the files'
// folder and what is said about them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/engine_options.h"

namespace secequiv::cli {

struct CertificateOption {
  std::string directory;

  // What was written, or why something was not.
  struct Report {
    std::string directory;
    std::string reason;  // why one that was asked for is not there
    int failed = 0;      // the exit status then, of a proof that is one
    std::string same;    // what the checkers want to be told of the question
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
  // Before anything is proven: refuses what has no certificates, and removes old ones.
  [[nodiscard]] Status prepare(const Question& question) const;
  // Errors: kIo.
  [[nodiscard]] Result<Report> write(const Question& question, const Proof& proof,
                                     const EngineOptions& engine, const Options& options) const;
};

}  // namespace secequiv::cli
