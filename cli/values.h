// The values that options accept. Owns how their texts are checked. It must not know any option.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/question.h"

namespace secequiv::cli {

// Accepts a finite number of seconds above 0, and also 0 if `or_none` is set.
Check seconds(bool or_none = false);
// Accepts a whole number in these bounds, decimal or after 0x. Leading zeros are errors, because
// they mean octal elsewhere.
Check whole_number(std::uint64_t least, std::uint64_t most);
// Accepts one of these words.
Check one_of(std::vector<std::string> words);
// Accepts a form of programs.
Check form();
// Accepts the name of an architecture.
Check architecture();

}  // namespace secequiv::cli
