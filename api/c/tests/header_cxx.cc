// Compiles only the header, as C++.
#include <type_traits>

#include "api/c/secequiv.h"

static_assert(std::is_standard_layout_v<secequiv_options>);

// Checks that the library accepts the options and the ABI version that the header defines.
int main() {
  const secequiv_options options = SECEQUIV_OPTIONS_INIT;
  secequiv_result* result = secequiv_validate(nullptr, 0, &options);
  const bool good = secequiv_result_verdict(result) == SECEQUIV_REJECTED &&
                    secequiv_abi_version() == SECEQUIV_ABI_VERSION;
  secequiv_result_free(result);
  return good ? 0 : 1;
}
