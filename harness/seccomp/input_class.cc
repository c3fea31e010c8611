#include "harness/seccomp/input_class.h"

#include <fmt/format.h>

#include <bit>

#include "harness/seccomp/arch.h"
#include "harness/seccomp/seen_bits.h"

namespace secequiv {
namespace {

// Returns "bit 5", "bits 32 to 63", or the mask if the bits are not consecutive.
std::string bits_text(std::uint64_t bits) {
  const int first = std::countr_zero(bits);
  const int count = std::popcount(bits);
  if (count == 1) return fmt::format("bit {}", first);
  if (std::countr_one(bits >> first) != count) return fmt::format("the bits {:#x}", bits);
  return fmt::format("bits {} to {}", first, first + count - 1);
}

}  // namespace

WordMasks seen_words(std::uint32_t audit, std::uint32_t nr) {
  WordMasks out;
  out.fill(~0U);
  const SeenArguments seen = seen_arguments(audit, nr);
  const Endian endian = endian_of(audit);
  for (int i = 0; i < kArgCount; ++i) {
    const std::uint64_t bits = seen[static_cast<std::size_t>(i)].bits;
    out[half_word(i, false, endian)] = static_cast<std::uint32_t>(bits);
    out[half_word(i, true, endian)] = static_cast<std::uint32_t>(bits >> 32);
  }
  return out;
}

SeccompData class_of(const SeccompData& data) {
  SeccompData out = data;
  const WordMasks seen = seen_words(data.arch(), data.nr());
  for (std::size_t i = 0; i < seen.size(); ++i) out.words[i] &= seen[i];
  return out;
}

std::vector<std::string> ignored_differences(const SeccompData& a, const SeccompData& b) {
  std::vector<std::string> out;
  const Endian endian = endian_of(a.arch());
  const SeenArguments seen = seen_arguments(a.arch(), a.nr());
  for (int i = 0; i < kArgCount; ++i) {
    const std::uint64_t ignored = ~seen[static_cast<std::size_t>(i)].bits;
    if (((a.field(i, endian) ^ b.field(i, endian)) & ignored) == 0) continue;
    out.push_back(ignored == ~std::uint64_t{0}
                      ? fmt::format("the kernel ignores arg{}", i)
                      : fmt::format("the kernel ignores {} of arg{}", bits_text(ignored), i));
  }
  return out;
}

}  // namespace secequiv
