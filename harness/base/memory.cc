#include "harness/base/memory.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace secequiv {
namespace {

constexpr std::size_t kPage = 4096;  // of x86-64 and of most other machines, otherwise too small

}  // namespace

std::size_t memory_in_use() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  std::array<char, 128> text{};  // "SIZE RESIDENT SHARED ...", in pages
  const bool read = std::fgets(text.data(), static_cast<int>(text.size()), file) != nullptr;
  std::fclose(file);
  char* at = text.data();
  std::strtoul(at, &at, 10);
  const unsigned long resident = std::strtoul(at, &at, 10);
  const unsigned long shared = std::strtoul(at, &at, 10);
  return read && resident > shared ? (resident - shared) * kPage : 0;
}

void return_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace secequiv
