// Declares arguments and options that several commands have. Each command keeps the values itself.
// Owns their names and help texts. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/values.h"

namespace secequiv::cli {

CLI::Option* add_filter(CLI::App& app, const char* name,
                        std::string& paths);  // one filter, or a stack
void add_program(CLI::App& app, std::string& path);
void add_records(CLI::App& app, std::vector<std::string>& paths);  // --inputs
void add_listing(CLI::App& app, std::string& path);
CLI::Option* add_passes(CLI::App& app, std::vector<std::string>& passes);
void add_seed(CLI::App& app, std::uint64_t& seed);
// For commands that compare a pair, and show traces of two policies only on request.
void add_trace(CLI::App& app, bool& traces);
void add_max_regions(CLI::App& app, std::size_t& regions);

// Declares an option with a number from `least` to `most`. The help shows its default.
template <class Number>
CLI::Option* add_number(CLI::App& app, const char* name, Number& value, std::uint64_t least,
                        std::uint64_t most, const std::string& text) {
  return app.add_option(name, value, text)->check(whole_number(least, most))->capture_default_str();
}

}  // namespace secequiv::cli
