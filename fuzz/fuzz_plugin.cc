// Programs through an optimizer that is a plugin (harness/adapter/plugin.h), in this process, so
// that what it does to memory is seen; every answer is judged. The input is a raw program.
// `--plugin=FILE` names the shared object; without it it is plugin.so beside the executable, or
// else the example of harness/adapter/examples, which is linked in.
#include <cstdio>
#include <cstdlib>

#include "fuzz/program_bytes.h"
#include "fuzz/target.h"
#include "fuzz/trials.h"
#include "harness/adapter/plugin.h"
#include "harness/adapter/plugin_host.h"

namespace {
using namespace secequiv;
Optimizer* optimizer = nullptr;
fuzz::Trials* trials = nullptr;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string file =
      fuzz::option(*argc, *argv, "plugin", fuzz::data_file((*argv)[0], "plugin.so"));
  if (file.empty()) {
    optimizer = new Plugin({.optimize = &secequiv_optimize});
  } else if (auto plugin = load_plugin(file); plugin && (*plugin)->functions().starts_with('O')) {
    optimizer = plugin->release();
  } else {
    std::fprintf(stderr, "fuzz_plugin: %s\n",
                 plugin ? (file + ": expected secequiv_optimize, found none").c_str()
                        : plugin.error().text().c_str());
    std::exit(2);
  }
  trials = new fuzz::Trials("fuzz_plugin", false);
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
