#include "verify/smt/z3.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/base/loaded.h"

namespace secequiv::smt {
namespace {

Status load_all() {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names of functions
#define SECEQUIV_Z3_LOADED(name) {#name, reinterpret_cast<void**>(&name)},
  const LoadedFunction functions[] = {SECEQUIV_Z3_FUNCTIONS(SECEQUIV_Z3_LOADED)};
#undef SECEQUIV_Z3_LOADED
  Status loaded = load_functions(SECEQUIV_Z3_LIBRARY, functions);
  for (const std::string& file :
       loaded ? std::vector<std::string>() : files_of_pypi("z3", "lib/libz3.so"))
    if (load_functions(file.c_str(), functions)) return Ok{};
  return loaded;
}

}  // namespace

void load_z3() {
  static const Status loaded = load_all();
  if (!loaded)
    throw NotInstalled(fmt::format("Z3 cannot be loaded: {} (Debian: libz3-4; PyPI: z3-solver)",
                                   loaded.error().detail));
}

}  // namespace secequiv::smt
