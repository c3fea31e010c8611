// `plugin-host`: the process of its own in which `plugin:FILE` runs a plugin. It is not in the
// help, because nobody runs it by hand.
#include "harness/adapter/plugin_host.h"

#include "cli/common.h"

namespace secequiv::cli {

void add_plugin_host(CLI::App& app, Context& context) {
  struct Args {
    std::string file;
  };
  auto* sub = app.add_subcommand("plugin-host", "Answer requests with a plugin (a shared object)");
  sub->group("");
  auto args = std::make_shared<Args>();
  sub->add_option("file", args->file, "The plugin")->required();
  sub->callback([&context, args] {
    const Status done = host_plugin(args->file);
    if (!done) context.status = report(done.error(), Options());
  });
}

}  // namespace secequiv::cli
