// Makes the usage lines of --help and the placeholders of options' values. It must not know any
// command.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace secequiv::cli {

inline constexpr const char* kProgram = "secequiv";

// Returns the words that an option accepts, or none if it accepts other text or numbers.
std::vector<std::string> words_of(const CLI::Option& option);

// Returns the placeholder of an option's value in help and documents: "raw|behaviour", "ARCH", "N",
// "SECONDS" or "TEXT". It is empty for a flag.
std::string placeholder(const CLI::Option& option);

std::shared_ptr<CLI::FormatterBase> help_layout();

}  // namespace secequiv::cli
