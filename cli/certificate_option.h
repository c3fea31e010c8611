// `--certificate DIR`: the certificates that `prove` writes for independent checkers. Owns the
// option, the folder of the files and the report about them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/engine_options.h"

namespace secequiv::cli {

struct CertificateOption {
  std::string directory;

  // What was written, or why something was not written.
  struct Report {
    std::string directory;
    std::string reason;  // why a certificate is missing
    int failed = 0;      // the exit status in that case
    std::string same;    // options that the checkers need
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
  // Runs before the proof: refuses questions without certificates, and removes old files.
  [[nodiscard]] Status prepare(const Question& question) const;
  // Errors: kIo.
  [[nodiscard]] Result<Report> write(const Question& question, const Proof& proof,
                                     const EngineOptions& engine, const Options& options) const;
};

}  // namespace secequiv::cli
