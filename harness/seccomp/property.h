// Properties of a filter, such as "ptrace is always refused". Owns the language, and the inputs
// that each clause covers. It must not know filters or proofs.
//
//   # a comment, up to the end of the line
//   when nr == socket && arg0.lo == AF_ALG: refused
//   when nr == personality: arg0.lo == 0 or refused
//   always: arch in {x86_64, i386} or killed
//   refused: ptrace, process_vm_readv, process_vm_writev
//
//   property := clause+          each begins a line; a line that begins with a blank continues it
//   clause   := 'when' expr ':' result | 'always' ':' result | outcome ':' item (',' item)*
//   result   := [expr 'or'] outcome
//   outcome  := 'killed' | 'refused' | 'not allowed' | 'allowed'
//
// assumption.h defines expr, and item, a name or number of a call. `EXPR or OUTCOME` has the
// outcome where EXPR is false. A blank or a line's end must follow the ':' of `when`.
//
// A process can enter the kernel by another architecture's numbers. Therefore a clause covers all
// architectures, known ones and others, and each name means the number of each architecture. An
// architecture without this call is not affected. A clause with the outcome 'allowed' covers only
// the host's architecture, unless it tests `arch`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/assumption.h"

namespace secequiv {

struct Property {
  enum class Outcome : std::uint8_t { kKilled, kRefused, kNotAllowed, kAllowed };

  struct Clause {
    std::string text;      // as written, but in one line and without comments
    std::size_t line = 1;  // where it begins
    Outcome outcome = Outcome::kRefused;
    Assumption condition;  // the inputs that it covers, with their architectures

    // The action that is the boundary of the outcome: the highest one that it accepts, in the
    // kernel's order of actions, or for kAllowed the lowest one.
    [[nodiscard]] std::uint32_t bound() const;
  };

  std::string name;  // of the file or in the library, for reports; may be empty
  std::string file;  // empty: no file
  std::vector<Clause> clauses;
};

// Returns "killed", ...
std::string_view outcome_name(Property::Outcome outcome);

// Returns "at most ERRNO", ...
std::string expected_text(const Property::Clause& clause);

// Reads a property. Errors: kParse with "NAME:LINE:COLUMN", what was expected and what was found.
Result<Property> parse_property(std::string_view text, const std::string& name, Arch host);

}  // namespace secequiv
