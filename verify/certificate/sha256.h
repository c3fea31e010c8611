// Owns the SHA-256 hash, which identifies inputs in certificates and reports. It must not know what
// the bytes mean.
#pragma once

#include <string>
#include <string_view>

namespace secequiv {

// Returns the SHA-256 of `bytes` as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace secequiv
