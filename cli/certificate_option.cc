#include "cli/certificate_option.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/base/file.h"
#include "harness/compare/verdict.h"

namespace secequiv::cli {

namespace fs = std::filesystem;

namespace {

Status write_files(const CertificateReport& report, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return make_error(ErrorCode::kIo, directory,
                      fmt::format("cannot create the folder: {}", error.message()));
  for (const CertificateReport::File& file : report.files)
    // Flushing to disk would take longer than all other work, and a lost file can be made again.
    RETURN_IF_ERROR(
        write_file((fs::path(directory) / file.name).string(), file.text, /*flush=*/false));
  return Ok{};
}

}  // namespace

void CertificateOption::add(Command& command) {
  command
      .add_option("--certificate", directory,
                  "Write a certificate of the proof to this folder, for independent checkers")
      ->writes(Writes::kFolder)
      ->check([](const std::string& path) {
        return path.empty() ? std::string("--certificate: expected a folder") : std::string();
      });
}

void CertificateOption::write(CertificateReport& report) const {
  if (report.files.empty()) return;
  const Status written = write_files(report, directory);
  if (written) return;
  std::error_code ignored;
  for (const CertificateReport::File& file : report.files)
    if (const fs::path path = fs::path(directory) / file.name; fs::is_regular_file(path, ignored))
      fs::remove(path, ignored);
  report.files.clear();
  report.failed = exit_code(written.error().code);
  report.reason += (report.reason.empty() ? "" : "; ") + written.error().text();
}

}  // namespace secequiv::cli
