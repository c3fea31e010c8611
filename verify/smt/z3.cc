#include "verify/smt/z3.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/base/loaded.h"

namespace secequiv::smt {
namespace {

Status load_all() {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names of functions
#define SECEQUIV_Z3_LOADED(name) {#name, reinterpret_cast<void**>(&name)},
  const LoadedFunction functions[] = {SECEQUIV_Z3_FUNCTIONS(SECEQUIV_Z3_LOADED)};
#undef SECEQUIV_Z3_LOADED
  return load_functions(SECEQUIV_Z3_LIBRARY, functions);
}

}  // namespace

void load_z3() {
  static const Status loaded = load_all();
  if (!loaded)
    throw std::runtime_error(fmt::format("Z3 cannot be loaded: {}", loaded.error().detail));
}

}  // namespace secequiv::smt
