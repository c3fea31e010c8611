// Declares arguments and options that several commands have. Each command keeps the values itself.
// Owns their names and help texts. It must not know any command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/question.h"
#include "cli/values.h"

namespace secequiv::cli {

Option* add_filter(Command& command, const char* name,
                   std::string& paths);  // one filter, or a stack
void add_program(Command& command, std::string& path);
void add_records(Command& command, std::vector<std::string>& paths);  // --inputs
void add_listing(Command& command, std::string& path);
Option* add_passes(Command& command, std::vector<std::string>& passes);
void add_seed(Command& command, std::uint64_t& seed);
// For commands that compare a pair, and show traces of two policies only on request.
void add_trace(Command& command, bool& traces);
void add_max_regions(Command& command, std::size_t& regions);

// Declares an option with a number from `least` to `most`. The help shows its default.
template <class Number>
Option* add_number(Command& command, const char* name, Number& value, std::uint64_t least,
                   std::uint64_t most, const std::string& text) {
  return command.add_option(name, value, text)->check(whole_number(least, most))->shows_default();
}

}  // namespace secequiv::cli
