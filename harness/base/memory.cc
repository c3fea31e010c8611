#include "harness/base/memory.h"

#include <cstdio>
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
  unsigned long size = 0;
  unsigned long resident = 0;
  unsigned long shared = 0;
  const int read = std::fscanf(file, "%lu %lu %lu", &size, &resident, &shared);
  std::fclose(file);
  return read == 3 && resident > shared ? (resident - shared) * kPage : 0;
}

void return_freed_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace secequiv
