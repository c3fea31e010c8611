// Fuzz target for every reader of foreign files (readers.h): programs in all forms, policies,
// profiles, assumptions and others. The input is a file for all readers, or two bytes that select
// one reader and then a file. `--deny=NAME` plants a bug: the target fails if this reader accepts
// anything.
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/readers.h"
#include "fuzz/targets/target.h"

namespace {
std::string denied;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  denied = secequiv::fuzz::option(*argc, *argv, "deny", "");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return -1;
  const std::string failure =
      secequiv::fuzz::reader_failure({reinterpret_cast<const char*>(data), size}, denied);
  if (failure.empty()) return 0;
  std::fprintf(stderr, "fuzz_parsers: %s\n", failure.c_str());
  std::abort();
}
