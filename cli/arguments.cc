#include "cli/arguments.h"

namespace secequiv::cli {

Option* add_filter(Command& command, const char* name, std::string& paths) {
  return command
      .add_option(name, paths,
                  "Program or policy; commas separate the filters of a stack, newest first")
      ->required();
}

void add_program(Command& command, std::string& path) {
  command.add_option("program", path, "Program in any form, or a policy (compiled, not optimized)")
      ->required();
}

void add_records(Command& command, std::vector<std::string>& paths) {
  command.add_option("--inputs", paths,
                     "Run the 64-byte records of struct seccomp_data in this file; repeatable");
}

void add_listing(Command& command, std::string& path) {
  command
      .add_option("--listing", path,
                  "Write an annotated listing of the program to this file, - for standard output")
      ->writes(Writes::kFile);
}

Option* add_passes(Command& command, std::vector<std::string>& passes) {
  return command
      .add_option("--passes", passes,
                  "Run only these passes, in this order, separated by commas; 'none' runs none")
      ->delimiter(',')
      ->one_at_a_time();
}

void add_seed(Command& command, std::uint64_t& seed) {
  add_number(command, "--seed", seed, 0, UINT64_MAX, "Set the random seed");
}

void add_trace(Command& command, bool& traces) {
  command.add_flag("--trace", traces, "Show the instructions executed");
}

void add_max_regions(Command& command, std::size_t& regions) {
  add_number(command, "--max-regions", regions, 0, 1000000,
             "List at most this many regions; counts still include all regions");
}

}  // namespace secequiv::cli
