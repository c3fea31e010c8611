#include "harness/base/loaded.h"

#include <dlfcn.h>
#include <glob.h>

#include <filesystem>
#include <system_error>

namespace secequiv {

Status load_functions(const char* library, std::span<const LoadedFunction> functions) {
  const auto refused = [&] {
    const char* message = ::dlerror();
    return make_error(ErrorCode::kIo, library, message == nullptr ? "cannot be loaded" : message);
  };
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return refused();
  for (const LoadedFunction& function : functions) {
    *function.address = ::dlsym(handle, function.name);
    if (*function.address == nullptr) return refused();
  }
  return Ok{};
}

std::vector<std::string> files_of_pypi(const std::string& package, const std::string& file) {
  std::vector<std::string> patterns;
  Dl_info library{};  // the command's own name may be relative to another folder
  if (::dladdr(reinterpret_cast<const void*>(&files_of_pypi), &library) != 0)
    patterns.push_back(std::filesystem::path(library.dli_fname).parent_path() / ".." / package /
                       file);
  std::error_code none;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", none);
  patterns.push_back(command.parent_path() / "../lib/python3*/*-packages" / package / file);
  std::vector<std::string> out;
  for (const std::string& pattern : patterns) {
    glob_t found{};
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
      out.insert(out.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
  }
  return out;
}

}  // namespace secequiv
