// Programs through an optimizer; every answer is judged: accepted by the kernel, the same on some
// inputs, proven. The input is a raw program (little endian). `--optimizer=NAME` is one of
// harness/adapters/builtin.h, the reference optimizer if it is left out.
#include <cstdio>
#include <cstdlib>

#include "fuzz/program_bytes.h"
#include "fuzz/target.h"
#include "fuzz/trials.h"
#include "harness/adapters/builtin.h"

namespace {
using namespace secequiv;
Optimizer* optimizer = nullptr;
fuzz::Trials* trials = nullptr;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string name = fuzz::option(*argc, *argv, "optimizer", "secequiv");
  optimizer = builtin_optimizer(name).release();
  if (optimizer == nullptr) {
    std::fprintf(stderr, "fuzz_program: expected a built-in optimizer, found '%s'\n", name.c_str());
    std::exit(2);
  }
  trials = new fuzz::Trials("fuzz_program", true);
  return std::atexit([] { std::fputs(trials->summary().c_str(), stderr); });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = fuzz::legal_program({data, size});
  if (!program) return -1;
  trials->optimize(*optimizer, *program);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed) {
  return fuzz::mutate_program_bytes({data, capacity}, size, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t capacity, unsigned seed) {
  return fuzz::cross_program_bytes({first, first_size}, {second, second_size}, {out, capacity},
                                   seed);
}
