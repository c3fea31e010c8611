// Reports which rule decided one system call, and under which conditions the decision would
// change, as text and JSON. Owns the report value and both shapes. It must not know how rules and
// conditions are found (analyze/why.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/report/pair_notes.h"
#include "harness/report/rule.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct WhyReport {
  // An executed test, or the last executed instruction.
  struct Test {
    std::size_t pc;
    std::string text;     // "jeq #0x27, 2, 3 -> true"
    std::string comment;  // may be empty
  };
  struct Filter {
    std::string name;
    std::uint32_t result = 0;
    bool decides = false;  // in a stack: whether its result is the result of the stack
    DecidingRule rule = {};
    std::string reason = {};  // in a policy: reason() in rule.h
    std::vector<Test> tests = {};
  };
  // The decision under another condition.
  struct Other {
    enum class Kind : std::uint8_t { kCapability, kArgument, kArch, kKernel };
    Kind kind;
    // "with CAP_SYS_ADMIN", "on Linux 4.8 or later", "if arg0 != 0x28", "on i386"
    std::string condition;
    ReturnValue result;
    PositionRef position = {};  // position of the rule that then decides
    std::string named = {};     // `condition` with named constants; empty: show `condition`
    // What the container lacks: "without CAP_A and CAP_B", "below Linux 4.8".
    std::string missing = {};
    // How many other rules also lead to this decision, for other inputs that meet the condition.
    std::size_t more_rules = 0;
  };
  SeccompData data;
  std::uint32_t result = 0;
  std::string condition;  // every input that satisfies it gets this result for the same reason
  std::string count;      // number of those inputs, decimal
  std::vector<Filter> filters;
  // Capabilities first, then kernels, arguments and architectures.
  std::vector<Other> others = {};
  // All possible decisions, if the arguments are unknown and the decision depends on them;
  // otherwise empty. Reports then omit the members above, which hold for arguments of 0.
  std::vector<Other> possible = {};
  std::optional<std::uint32_t> recorded = {};  // the action in the audit record
  // `condition` with named constants, the call of `data` first; empty: show `condition`.
  std::string named = {};
  ReadNotes notes = {};

  // Returns whether these filters can have taken the recorded action.
  [[nodiscard]] bool explains_record() const;
};

inline constexpr std::string_view kDependsOnArguments =
    "depends on the arguments, which the record does not have";

// Return the decisions under other conditions, one in each line or as an array.
std::string others_text(const std::vector<WhyReport::Other>& others);
nlohmann::ordered_json others_json(const std::vector<WhyReport::Other>& others);

// Returns the first line: "ERRNO(1 EPERM): no rule for clone3 without CAP_SYS_ADMIN; it would be
// ALLOW with CAP_SYS_ADMIN (docker.json:812)".
std::string headline(const WhyReport& report);
// Returns the text. With `trace` it includes the tests that each filter executed; long lists are
// shortened.
std::string why_text(const WhyReport& report, bool trace);
nlohmann::ordered_json to_json(const WhyReport& report);  // schema "secequiv.why/1"

}  // namespace secequiv
