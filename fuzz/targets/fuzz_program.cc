// Programs through an optimizer; every answer is assessed: accepted by the kernel, the same on some
// inputs, proven. The input is a raw program (little endian). `--optimizer=NAME` is one of
// adapters/builtin/builtin.h, the reference optimizer if it is left out.
#include <cstdio>
#include <cstdlib>

#include "adapters/builtin/builtin.h"
#include "fuzz/targets/optimizer_target.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace secequiv;
  const std::string name = fuzz::option(*argc, *argv, "optimizer", "secequiv");
  Optimizer* optimizer = builtin_optimizer(name).release();
  if (optimizer == nullptr) {
    std::fprintf(stderr, "fuzz_program: expected a built-in optimizer, found '%s'\n", name.c_str());
    std::exit(2);
  }
  return fuzz::assess_each(*optimizer, *new fuzz::Trials("fuzz_program", true));
}
