// Differences and regions of inputs, as text and JSON. Owns their wording: conditions are written
// in the language of --assume (harness/seccomp/assumption.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/compare/difference.h"
#include "harness/compare/question.h"
#include "harness/compare/verdict.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// "arch == x86_64 && nr in {read, write} && arg0 == 0x5"; "true" without conditions. `host` is the
// default architecture under which --assume reads it.
std::string condition_text(const Region& region, Arch host);

// A decimal number of inputs, shortened: "2^448", "3 * 2^447", "about 1.23e+150".
std::string count_text(const std::string& decimal);

// The same with long lists cut short, for people only.
std::string short_condition(const std::string& condition);

// What one region means for callers: "x86_64 socket: no longer allowed (now ERRNO(1 EPERM)) if
// arg0 == 0x26".
std::string summary(const Change& change, const Region& region, Arch host);

// Says that only the first `shown` regions are shown, a line, if there are more.
std::string not_shown_text(const RegionList& list, std::size_t shown, int indent);

// Grouped by change, at most `most` regions for each.
std::string diff_text(const Difference& difference, std::size_t most, Arch host);

// Schema "secequiv.diff/1".
nlohmann::ordered_json to_json(const Difference& difference, const Question& question,
                               std::size_t most, Arch host);

// Reads a document of to_json as `diff --write-expect` stores it. Errors: kParse, also for JSON
// that is none of these.
Result<nlohmann::ordered_json> read_expectation(std::string_view text, const std::string& name);

// What is in one difference and not in the other, a line each: "+ ..." is new, "- ..." is missing.
// Empty if they are the same. `expected` should be a document that to_json made and was then read
// from `file`; `found` is one. Errors: kParse with the JSON pointer; kUsage if they answer
// different questions.
Result<std::vector<std::string>> unexpected(const nlohmann::ordered_json& expected,
                                            const std::string& file,
                                            const nlohmann::ordered_json& found);

}  // namespace secequiv
