// `plugin-host`: the separate process in which `plugin:FILE` runs a plugin. The help does not list
// it, because nobody runs it by hand.
#include "harness/adapter/plugin_host.h"

#include "cli/command.h"

namespace secequiv::cli {

namespace {

struct PluginOptions {
  Options options;
  std::string file;
};

Result<int> host(const PluginOptions& given) {
  RETURN_IF_ERROR(host_plugin(given.file));
  return 0;
}

}  // namespace

void add_plugin_host(Commands& all) {
  const auto [sub, given] =
      add_command(all, "plugin-host", "Answer requests with a plugin (a shared object)", host);
  sub->add_option("file", given->file, "Shared object that exports the functions of plugin.h")
      ->required();
}

}  // namespace secequiv::cli
