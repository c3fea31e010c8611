// System calls, grouped by their action, as text and JSON. Owns the report value and both shapes.
// It must not know how the actions are found (verify/dd/actions.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/report/describe.h"
#include "harness/report/pair_notes.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

struct ActionsReport {
  struct Calls {
    std::uint32_t value;  // the return value of the filters for all arguments
    std::vector<std::string> names;
  };
  struct Choice {
    ReturnValue value;
    std::string condition;   // "arg0 != 0x28"
    std::string named = {};  // `condition` with named constants; empty: show `condition`

    friend bool operator==(const Choice&, const Choice&) = default;
  };
  // A call whose action depends on more than its number.
  struct Conditional {
    std::string name;
    std::vector<Choice> choices;  // the most permissive first; empty if a limit was reached

    friend bool operator==(const Conditional&, const Conditional&) = default;
  };
  struct OneArch {
    Arch arch;
    std::vector<Calls> constant;  // by value
    std::vector<Conditional> others;
    // The action for numbers that belong to no call, if it does not depend on arguments.
    std::optional<std::uint32_t> otherwise = {};
  };
  std::vector<OneArch> arches;
  bool others_by_number = false;  // the actions of other architectures depend on the call
  ReadNotes notes = {};
};

// Returns the text. It lists architectures with the same names and actions together, and only
// counts the calls whose action is `otherwise`. With `allowed` it lists only calls that the filters
// allow, at least for some arguments. The last line states what `arches` does not list.
std::string actions_text(const ActionsReport& report, bool allowed = false);
void describe(Fields<ActionsReport::Calls>& calls);
void describe(Fields<ActionsReport::Choice>& choice);
void describe(Fields<ActionsReport::Conditional>& call);
void describe(Fields<ActionsReport::OneArch>& arch);
void describe(Fields<ActionsReport>& report);

}  // namespace secequiv
