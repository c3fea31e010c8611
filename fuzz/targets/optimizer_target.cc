#include "fuzz/targets/optimizer_target.h"

#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/program_bytes.h"

namespace {
using namespace secequiv;
Optimizer* the_optimizer = nullptr;
fuzz::Trials* the_trials = nullptr;
}  // namespace

int secequiv::fuzz::assess_each(Optimizer& optimizer, Trials& trials) {
  the_optimizer = &optimizer;
  the_trials = &trials;
  return std::atexit([] { std::fputs(the_trials->summary().c_str(), stderr); });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = fuzz::legal_program({data, size});
  if (!program) return -1;
  the_trials->optimize(*the_optimizer, *program);
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
