// Reads a system call as people write it. Owns how numbers and names become a seccomp_data. It must
// not know filters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct CallText {
  std::string arch;      // a name or an AUDIT_ARCH value; empty: the host's
  std::string nr = "0";  // a number or a name, also with its architecture: "x32:openat"
  std::string ip = "0";
  std::vector<std::string> args;   // "0=3"
  std::vector<std::string> words;  // all sixteen, instead of the fields
};

// Splits "x32:openat" into the architecture and the call. Without a known architecture, returns
// nothing and the whole text.
std::pair<std::optional<Arch>, std::string_view> split_arch(std::string_view call);

// Moves the architecture in `nr`, if there is one, to `arch`, unless `arch` names another one.
CallText with_arch(CallText call);

// Errors: kUsage. Its subject (Subject::kCall...) names the wrong part.
Result<SeccompData> read_call(const CallText& call, const std::string& host);

}  // namespace secequiv
