// The values that options accept. Owns how their texts are checked. It must not know any option.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace secequiv::cli {

// Accepts a finite number of seconds above 0, and also 0 if `or_none` is set.
CLI::Validator seconds(bool or_none = false);
// Accepts a whole number in these bounds, decimal or after 0x. Leading zeros are errors, because
// they mean octal elsewhere.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
// Accepts one of these words.
CLI::Validator one_of(std::vector<std::string> words);
// Accepts a form of programs.
CLI::Validator form();
// Accepts the name of an architecture.
CLI::Validator architecture();

}  // namespace secequiv::cli
