#include "harness/base/loaded.h"

#include <dlfcn.h>

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

}  // namespace secequiv
