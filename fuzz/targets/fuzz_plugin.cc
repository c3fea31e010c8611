// Fuzz target for an optimizer that is a plugin (harness/adapter/plugin.h). The plugin runs in this
// process, so that sanitizers detect its memory errors. The target assesses every answer. The input
// is a raw program. `--plugin=FILE` names the shared object. The default is plugin.so next to the
// executable. Without that file, the target uses the example of harness/adapter/examples, which is
// linked in.
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets/optimizer_target.h"
#include "harness/adapter/plugin.h"
#include "harness/adapter/plugin_host.h"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace secequiv;
  const std::string file =
      fuzz::option(*argc, *argv, "plugin", fuzz::data_file((*argv)[0], "plugin.so"));
  Optimizer* optimizer = nullptr;
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
  return fuzz::assess_each(*optimizer, *new fuzz::Trials("fuzz_plugin", false));
}
