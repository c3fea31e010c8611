// Fuzz target for optimizers. It assesses every answer: the kernel must accept the answer, both
// programs must agree on some inputs, and the proof must not fail. The input is a raw program,
// little endian. `--optimizer=NAME` selects one of adapters/builtin/builtin.h. The default is the
// reference optimizer.
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
