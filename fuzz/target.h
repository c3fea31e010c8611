// What every fuzz target shares: libFuzzer's entry points, and finding data files beside the
// executable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed);

namespace secequiv::fuzz {

// Path of `name` in the folder of the executable `argv0`, or empty if there is none. (Fuzzing
// services move targets, so nothing may depend on where they were built.)
inline std::string data_file(const char* argv0, const char* name) {
  std::error_code error;
  const auto path = std::filesystem::path(argv0).parent_path() / name;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

}  // namespace secequiv::fuzz
