// Regions of inputs as text. Owns the wording: conditions use the language of assumptions
// (harness/seccomp/assumption.h). It must not know how regions are found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/report/value_text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// How texts show values. parse_assumption() accepts both forms. Stored reports and JSON use
// numbers.
enum class Values : std::uint8_t {
  kNumbers,  // "arg0 == 0x26", and ranges of system calls by number
  kNamed,    // "arg0 == AF_ALG", and system calls in alphabetical order
};

// Returns "arch == x86_64 && nr in {read, write} && arg0 == 0x5", or "true" without conditions.
// `host` is the default architecture with which parse_assumption() reads the text.
std::string condition_text(const Region& region, Arch host, Values values = Values::kNumbers,
                           std::optional<AskedCall> asked = {});

// Returns the conditions of the regions. Regions that differ in only one 64-bit field share one:
// "arg0 != 0x5" stands for `arg0.hi == 0x0 && arg0.lo != 0x5` and `arg0.hi >= 0x1`.
std::vector<std::string> condition_texts(std::span<const Region> regions, Arch host,
                                         Values values = Values::kNumbers,
                                         std::optional<AskedCall> asked = {});

bool contains(const Region& region, const SeccompData& data);

// Returns the regions that share one condition with the region of `data`.
std::vector<Region> joined_around(std::span<const Region> regions, const SeccompData& data,
                                  Arch host);

// Returns "A || B" for the listed regions, with "..." if the set has more.
std::string condition_text(const RegionList& where, Arch host, Values values = Values::kNumbers,
                           std::optional<AskedCall> asked = {});

// Returns the condition with long lists shortened, only for people.
std::string short_condition(const std::string& condition);

// A system call of some inputs in a region.
struct NamedCall {
  const ArchInfo* arch;
  const SyscallEntry* entry;
};
std::vector<NamedCall> named_calls(const Region& region);

// Returns "every system call", "... on x86_64" or "... if arch != x86_64", unless the region has a
// condition on the number.
std::optional<std::string> every_call_text(const Region& region);

// Returns whether the region is one system call with any arguments.
bool is_one_call(const Region& region);

// Returns one region for each named call in `region`; if there are several, they have no counts.
// Returns `region` itself if it has, or may have, numbers without a name, or more than `most`
// calls.
std::vector<Region> by_call(const Region& region, std::size_t most);

// Returns a decimal number of inputs, shortened: "2^448", "3 * 2^447", "about 1.23e+150".
std::string count_text(const std::string& decimal);

// Returns "ERRNO(1 EPERM)" or "ERRNO(computed from the input)".
std::string action_text(const ReturnValue& value);

// Returns the effect of one region on callers: "x86_64 socket: no longer allowed (now ERRNO(1
// EPERM)) if arg0 == 0x26".
std::string summary(const Change& change, const Region& region, Arch host);
// Returns the effects of several regions, joined as in condition_texts().
std::vector<std::string> summaries(const Change& change, std::span<const Region> regions,
                                   Arch host);

// Returns the last part of the summary: "if arg0 == 0x26", or "whatever the arguments".
std::string arguments_text(const Region& region, Arch host);

// Returns a line that reports that only `shown` of `all` regions are shown, or "" if these are all.
// `how` names the option that shows more, and may be empty.
std::string not_shown_text(std::size_t shown, const std::string& all, int indent,
                           std::string_view how = "");

}  // namespace secequiv
