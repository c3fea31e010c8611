// The values that options take. Owns how their texts are checked. It must not know any option.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace secequiv::cli {

// A finite number of seconds above 0, or also 0 itself.
CLI::Validator seconds(bool or_none = false);
// One of these words.
CLI::Validator one_of(std::vector<std::string> words);
// The name of an architecture.
CLI::Validator architecture();

}  // namespace secequiv::cli
