// What decided about one system call, as text and JSON. Owns the report value and both shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/seccomp/data.h"

namespace secequiv {

struct WhyReport {
  // An executed instruction that tested something, or the last one.
  struct Test {
    std::size_t pc;
    std::string text;     // "jeq #0x27, 2, 3 -> true"
    std::string comment;  // may be empty
  };
  struct Filter {
    std::string name;
    std::uint32_t result = 0;
    bool decides = false;   // of a stack: its result is the stack's
    std::string rule = {};  // of the policy it was compiled from; empty: no policy
    std::vector<Test> tests = {};
  };
  SeccompData data;
  std::uint32_t result = 0;
  std::string condition;  // every input that meets it gets this result for the same reason
  std::string count;      // of those inputs, decimal
  std::vector<Filter> filters;
};

// Long lists of tests are shortened; JSON has all.
std::string why_text(const WhyReport& report);
nlohmann::ordered_json to_json(const WhyReport& report);  // schema "secequiv.why/1"

}  // namespace secequiv
