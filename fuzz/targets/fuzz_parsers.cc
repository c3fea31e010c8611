// Every reader of what others wrote (readers.h) on arbitrary bytes: programs in all forms,
// policies, profiles, assumptions and so on. The input is a file as it is, for all of them, or one
// for a single reader behind two bytes that choose it. `--deny=NAME` plants a bug: that this reader
// reads anything at all.
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
