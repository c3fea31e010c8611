// Reads policies in any known format and recognizes the format by content. Owns the list of formats
// and what they share: options and notes for people. It must not know what a format means
// (import_*.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/import/import_oci.h"
#include "harness/policy/policy.h"

namespace secequiv {

enum class PolicyFormat : std::uint8_t {
  kOwn,               // json.h
  kOci,               // import_oci.h
  kSeccompiler,       // import_seccompiler.h
  kMinijail,          // import_minijail.h, of minijail0
  kMinijailCompiler,  // ... of compile_seccomp_policy.py
  kPfc,               // import_pfc.h
};

struct ImportOptions {
  OciOptions oci;      // its `arch`, the host's, applies to every format
  std::string filter;  // the name of the filter to read; empty if the file has one
  // Reads a file that a policy includes. Without it, includes are errors.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct Import {
  Policy policy;
  std::vector<std::string> notes;  // for people: what has no effect, or another one than it seems
  PolicyFormat format = PolicyFormat::kOwn;
};

// Is `text` a policy in any format, rather than a program?
bool is_policy(std::string_view text);

// "policy", "oci", "seccompiler", "minijail", "minijail-compiler", "pfc".
std::string_view policy_format_name(PolicyFormat format);
std::optional<PolicyFormat> policy_format_from_name(std::string_view name);
std::vector<std::string> policy_format_names();

// Reads a policy of `format`, which the content decides when absent; unrecognized text is read as
// our own format. Errors: kParse, kPolicy with file and line or JSON pointer, kUsage for options
// that do not fit.
Result<Import> import_policy(std::string_view text, const std::string& name,
                             std::optional<PolicyFormat> format, const ImportOptions& options);

// Checks that a filter may be chosen by name: `filter` is empty, or `name` is a policy whose format
// has named filters. Without `format`, `name` is a program. Errors: kUsage.
Status filter_fits(const std::string& filter, std::optional<PolicyFormat> format,
                   const std::string& name);

}  // namespace secequiv
