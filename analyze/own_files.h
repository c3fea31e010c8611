// Files that earlier runs wrote. Owns how reports and certificates of this tool are recognized.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace secequiv {

inline constexpr std::array kCertificateFiles = {"walk.cert", "query.cnf", "proof.lrat"};

// Whether a file is a report of this tool, judged by its beginning.
bool is_report(const std::string& path);

// The paths of the certificate files in `folder` that exist and are ours, or are not.
std::vector<std::filesystem::path> certificate_files(const std::string& folder, bool ours);

}  // namespace secequiv
