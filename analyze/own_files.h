// Recognizes files that earlier runs wrote. Owns what a report or a certificate of this tool looks
// like.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace secequiv {

inline constexpr std::array kCertificateFiles = {"walk.cert", "query.cnf", "proof.lrat",
                                                 "condition.bpf"};

// Returns whether the beginning of a file looks like a report of this tool.
bool is_report(const std::string& path);

// Returns the paths of the files in `folder` whose names a certificate uses: those that this tool
// wrote if `ours`, otherwise those that it did not write.
std::vector<std::filesystem::path> certificate_files(const std::string& folder, bool ours);

}  // namespace secequiv
