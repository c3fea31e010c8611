#include "harness/import/included_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace secequiv {

namespace fs = std::filesystem;

std::string folder_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

bool stays_below(const std::string& path) {
  const fs::path relative = fs::path(path).lexically_normal();
  return relative.begin() != relative.end() && *relative.begin() != "..";
}

std::string included_file(const std::string& file, const std::string& path) {
  return (fs::path(folder_of(file)) / fs::path(path).lexically_normal()).string();
}

std::string why_not_included(const std::string& file, const std::string& folder) {
  std::error_code failed;
  const auto target = fs::canonical(file, failed);
  if (failed) return {};
  const auto top = fs::canonical(folder, failed);
  if (failed || std::ranges::mismatch(top, target).in1 != top.end())
    return "it leads out of the policy's folder";
  if (!fs::is_regular_file(target, failed)) return "expected a regular file";
  return {};
}

}  // namespace secequiv
