// System calls by the action they always get, as text and JSON. Owns the report value and both
// shapes. It must not know how the actions were found (verify/dd/actions.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv {

struct ActionsReport {
  struct Calls {
    std::uint32_t value;  // what the filters return for them, whatever the arguments
    std::vector<std::string> names;
  };
  struct OneArch {
    Arch arch;
    std::vector<Calls> constant;      // by value
    std::vector<std::string> others;  // whose action depends on more than the number
  };
  std::vector<OneArch> arches;
};

std::string actions_text(const ActionsReport& report);
nlohmann::ordered_json to_json(const ActionsReport& report);  // schema "secequiv.actions/1"

}  // namespace secequiv
