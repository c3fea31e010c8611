// Hashes of certificates and of the inputs of reports.
#pragma once

#include <string>
#include <string_view>

namespace secequiv {

// Returns the SHA-256 of `bytes` as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace secequiv
