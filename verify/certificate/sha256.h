// SHA-256 (FIPS 180-4), so that an accident to a certificate is told from a wrong one. Owns that
// function.
#pragma once

#include <string>
#include <string_view>

namespace secequiv::certificate {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace secequiv::certificate
