// Regions of inputs as text. Owns the wording: conditions are written in the language of
// assumptions (harness/seccomp/assumption.h).
#pragma once

#include <string>
#include <string_view>

#include "harness/compare/difference.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// How values are written. Both forms are assumptions; stored reports and JSON keep the numbers.
enum class Values : std::uint8_t {
  kNumbers,  // "arg0 == 0x26", and ranges of system calls by number
  kNamed,    // "arg0 == AF_ALG", and system calls in alphabetical order
};

// "arch == x86_64 && nr in {read, write} && arg0 == 0x5"; "true" without conditions. `host` is the
// default architecture under which an assumption is read.
std::string condition_text(const Region& region, Arch host, Values values = Values::kNumbers);

// "A || B" of the regions listed, with "..." if the set has more.
std::string condition_text(const RegionList& where, Arch host);

// The same with long lists shortened, for people only.
std::string short_condition(const std::string& condition);

// A decimal number of inputs, shortened: "2^448", "3 * 2^447", "about 1.23e+150".
std::string count_text(const std::string& decimal);

// "ERRNO(1 EPERM)", "ERRNO(computed from the input)".
std::string action_text(const ReturnValue& value);

// What one region means for callers: "x86_64 socket: no longer allowed (now ERRNO(1 EPERM)) if
// arg0 == 0x26".
std::string summary(const Change& change, const Region& region, Arch host);

// A line that only `shown` of `all` regions are shown; empty if these are all. `how`: how the
// caller asks for more; may be empty.
std::string not_shown_text(std::size_t shown, const std::string& all, int indent,
                           std::string_view how = "");

}  // namespace secequiv
