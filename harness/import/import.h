// Policies in any format that is read here, told apart by content. Owns which formats there are and
// what they share: options, what a policy was made of, notes for people. Each format's meaning is
// its importer's (import_*.h).
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
  OciOptions oci;      // the host's architecture is every format's
  std::string filter;  // which of a file's filters, by name; empty where there is one
  // What a policy includes, by path; without it, nothing can be included.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct Import {
  Policy policy;
  std::vector<std::string> notes;  // what has no effect, or another one than it seems; for people
  PolicyFormat format = PolicyFormat::kOwn;
};

// Is it a policy's text, in any format, rather than a program?
bool is_policy(std::string_view text);

// "policy", "oci", "seccompiler", "minijail", "minijail-compiler", "pfc".
std::string_view policy_format_name(PolicyFormat format);
std::optional<PolicyFormat> policy_format_from_name(std::string_view name);
std::vector<std::string> policy_format_names();

// Reads a policy of `format`, told by content when absent; of what is none, our own is expected.
// Errors: kParse, kPolicy with file and line or JSON pointer, kUsage for options that do not fit.
Result<Import> import_policy(std::string_view text, const std::string& name,
                             std::optional<PolicyFormat> format, const ImportOptions& options);

// May a filter be chosen by name (empty: none is) in `name`, a policy of `format` or, when that is
// absent, a program? Errors: kUsage.
Status filter_fits(const std::string& filter, std::optional<PolicyFormat> format,
                   const std::string& name);

}  // namespace secequiv
