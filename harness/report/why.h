// What decided about one system call, and what would decide otherwise, as text and JSON. Owns the
// report value and both shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/report/rule.h"
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
    bool decides = false;     // in a stack: its result is the result of the stack
    DecidingRule rule = {};   // the rule of the policy it was compiled from, if there is one
    std::string reason = {};  // the reason in that policy: reason() in rule.h
    std::vector<Test> tests = {};
  };
  // The decision under another condition.
  struct Other {
    enum class Kind : std::uint8_t { kCapability, kArgument, kArch };
    Kind kind;
    std::string condition;  // "with CAP_SYS_ADMIN", "if arg0 != 0x28", "on i386"
    ReturnValue result;
    PositionRef position = {};  // position of the rule that then decides
  };
  SeccompData data;
  std::uint32_t result = 0;
  std::string condition;  // every input that meets it gets this result for the same reason
  std::string count;      // number of those inputs, decimal
  std::vector<Filter> filters;
  std::vector<Other> others = {};  // capabilities first, then arguments, then architectures
  // The arguments are not known, and the decision depends on them: all that it may be. Then
  // `result` and all above is about arguments that are 0, and not shown.
  std::vector<Other> possible = {};
  std::optional<std::uint32_t> recorded = {};  // the action in the audit record

  // Whether these filters can have taken the recorded action.
  [[nodiscard]] bool explains_record() const;
};

inline constexpr std::string_view kDependsOnArguments =
    "depends on the arguments, which the record does not have";

// Decisions under other conditions: one in a line, and as an array.
std::string others_text(const std::vector<WhyReport::Other>& others);
nlohmann::ordered_json others_json(const std::vector<WhyReport::Other>& others);

// The first line: "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be ALLOW with
// CAP_SYS_ADMIN (docker.json:812)".
std::string headline(const WhyReport& report);
// With `trace`, also the tests that each filter executed; long lists of them are shortened.
std::string why_text(const WhyReport& report, bool trace);
nlohmann::ordered_json to_json(const WhyReport& report);  // schema "secequiv.why/1"

}  // namespace secequiv
