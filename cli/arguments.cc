#include "cli/arguments.h"

namespace secequiv::cli {

Option* add_filter(Command& app, const char* name, std::string& paths) {
  return app
      .add_option(name, paths,
                  "Program or policy; commas separate the filters of a stack, newest first")
      ->required();
}

void add_program(Command& app, std::string& path) {
  app.add_option("program", path, "Program in any form, or a policy (compiled, not optimized)")
      ->required();
}

void add_records(Command& app, std::vector<std::string>& paths) {
  app.add_option("--inputs", paths,
                 "Run the 64-byte records of struct seccomp_data in this file; repeatable");
}

void add_listing(Command& app, std::string& path) {
  app.add_option("--listing", path,
                 "Write an annotated listing of the program to this file, - for standard output")
      ->writes(Writes::kFile);
}

Option* add_passes(Command& app, std::vector<std::string>& passes) {
  return app
      .add_option("--passes", passes,
                  "Run only these passes, in this order, separated by commas; 'none' runs none")
      ->delimiter(',')
      ->one_at_a_time();
}

void add_seed(Command& app, std::uint64_t& seed) {
  add_number(app, "--seed", seed, 0, UINT64_MAX, "Set the random seed");
}

void add_trace(Command& app, bool& traces) {
  app.add_flag("--trace", traces, "Show the instructions executed");
}

void add_max_regions(Command& app, std::size_t& regions) {
  add_number(app, "--max-regions", regions, 0, 1000000,
             "List at most this many regions; counts still include all regions");
}

}  // namespace secequiv::cli
