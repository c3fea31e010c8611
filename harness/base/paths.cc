#include "harness/base/paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace secequiv {
namespace {

namespace fs = std::filesystem;

// Returns the place where a file written to `path` appears: the target of all symbolic links, which
// need not exist.
fs::path destination(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
    path = path.parent_path() / fs::read_symlink(path, error);
  return fs::weakly_canonical(fs::absolute(path, error), error);
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path target = destination(a);  // empty if a folder in the path may not be entered
  return !target.empty() && target == destination(b);
}

bool lies_in(const std::string& file, const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || !fs::exists(file, error)) return false;
  const fs::path relative = destination(file).lexically_relative(destination(folder));
  return !relative.empty() && *relative.begin() != "..";
}

Status may_be_written(const std::string& path) {
  const auto folder = fs::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ||
      ::access(path.c_str(), W_OK) == 0)
    return Ok{};
  return make_error(ErrorCode::kIo, path,
                    fmt::format("cannot be written: {}", std::strerror(errno)));
}

}  // namespace secequiv
