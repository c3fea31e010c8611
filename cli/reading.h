// Turns the options of a command into settings for reading programs and policies (analyze/load.h).
// Owns the values that --set gives to names in programs, and where notes about files go.
#pragma once

#include "analyze/load.h"
#include "cli/options.h"

namespace secequiv::cli {

// States whether a program may contain names to which --set gives no value.
enum class Names : std::uint8_t { kRefused, kTaken };

// `options` must outlive the result.
Reading reading(const Options& options, Names names = Names::kRefused);

}  // namespace secequiv::cli
