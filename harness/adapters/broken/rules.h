// Planted bugs, rule passes: for each pass one or more that follow the same law and get it subtly
// wrong, in a way in which a real filter generator or optimizer once did. Whatever checks the
// passes must find every one. Shares with the passes only how a tree is walked.
#pragma once

#include <span>
#include <string_view>

#include "harness/policy/policy.h"

namespace secequiv::broken {

struct Twin {
  std::string_view pass;  // as in the table of passes
  std::string_view bug;   // which class of bug, in words
  Rule (*run)(const Rule&);
};

std::span<const Twin> broken_rule_passes();

}  // namespace secequiv::broken
