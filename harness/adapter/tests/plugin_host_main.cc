// Contains only the plugin host, for tests that are built without the command line.
#include <cstdio>

#include "harness/adapter/plugin_host.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const secequiv::Status done = secequiv::host_plugin(argv[2]);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return 2;
}
