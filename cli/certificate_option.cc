#include "cli/certificate_option.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "verify/certificate/certificate.h"

namespace secequiv::cli {

void CertificateOption::add(CLI::App& app) {
  app.add_option("--certificate", directory,
                 "Write a certificate of the proof to this folder, for independent checkers")
      ->check([](const std::string& path) {
        return path.empty() ? std::string("--certificate: a folder is expected") : std::string();
      });
}

Status CertificateOption::prepare(const Question& question) const {
  if (!wanted()) return Ok{};
  if (auto s = certificate::supported(question, "--certificate"); !s) return s;
  // Files of an earlier proof must not be taken for files of this one.
  for (const char* name : {"walk.cert", "query.cnf", "proof.lrat"}) {
    const std::filesystem::path path = std::filesystem::path(directory) / name;
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error && std::filesystem::exists(path))
      return make_error(ErrorCode::kIo, path.string(),
                        fmt::format("cannot remove the old certificate: {}", error.message()));
  }
  return Ok{};
}

Result<CertificateOption::Report> CertificateOption::write(const Question& question,
                                                           const Proof& proof,
                                                           const EngineOptions& engine,
                                                           const Options& options) const {
  Report out;
  out.directory = directory;
  if (proof.verdict != Verdict::kEquivalent) {
    out.reason = "the verdict is not 'equivalent'";
    return out;
  }
  const auto start = Clock::now();
  const certificate::Limits limits{options.timeout, engine.max_memory};
  std::vector<certificate::File> files;
  // If one certificate cannot be made, the other one and the verdict still stand.
  const auto take = [&](Result<std::vector<certificate::File>> made) {
    if (!made) {
      out.failed = exit_code(made.error().code);
      out.reason += (out.reason.empty() ? "" : "; ") + made.error().text();
      return;
    }
    files.insert(files.end(), std::make_move_iterator(made->begin()),
                 std::make_move_iterator(made->end()));
  };
  if (engine.engine() != Engine::kZ3) take(certificate::by_cases(question, limits));
  if (engine.engine() != Engine::kDd) take(certificate::by_formula(question, limits));
  if (files.empty()) return out;
  out.same = question.sameness == Sameness::kRaw ? "" : " --same behaviour";
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return make_error(ErrorCode::kIo, directory,
                      fmt::format("cannot create the folder: {}", error.message()));
  for (const certificate::File& file : files) {
    const std::string path = (std::filesystem::path(directory) / file.name).string();
    // A lost file can be made again, and a flush takes longer than everything else.
    if (auto s = write_file(path, file.text, /*flush=*/false); !s) return s.error();
    out.files.push_back({file.name, file.text.size()});
  }
  out.seconds = seconds_since(start);
  return out;
}

std::string CertificateOption::Report::text() const {
  std::string out;
  if (!reason.empty()) out = fmt::format("certificate: not written: {}\n", reason);
  if (files.empty()) return out;
  std::string checks;
  for (const File& file : files) {
    out += fmt::format("certificate: {} ({} bytes)\n",
                       (std::filesystem::path(directory) / file.name).string(), file.bytes);
    const bool cases = file.name == "walk.cert";
    if (cases || file.name == "query.cnf")
      checks +=
          fmt::format("; scripts/check{}_certificate {}{}", cases ? "" : "_cnf", directory, same);
  }
  return out + fmt::format("             written in {:.1f} ms{}\n", seconds * 1e3, checks);
}

nlohmann::ordered_json CertificateOption::Report::json() const {
  nlohmann::ordered_json out{{"path", directory}, {"written", !files.empty()}};
  if (!reason.empty()) out["reason"] = reason;
  if (files.empty()) return out;
  std::size_t bytes = 0;
  auto list = nlohmann::ordered_json::array();
  for (const File& file : files) {
    list.push_back({{"name", file.name}, {"bytes", file.bytes}});
    bytes += file.bytes;
  }
  out["files"] = std::move(list);
  out["bytes"] = bytes;
  out["seconds"] = seconds;
  return out;
}

}  // namespace secequiv::cli
