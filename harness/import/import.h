// Reads policies in every known format, and recognizes the format by its content. Owns the list of
// formats and their common parts: options and notes for people. It must not know the meaning of a
// format (import_*.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/import/import_oci.h"
#include "harness/policy/policy.h"

namespace secequiv {

enum class PolicyFormat : std::uint8_t {
  kOwn,               // json.h
  kOci,               // import_oci.h
  kSeccompiler,       // import_seccompiler.h
  kMinijail,          // import_minijail.h, as minijail0 reads it
  kMinijailCompiler,  // import_minijail.h, as compile_seccomp_policy.py reads it
  kPfc,               // import_pfc.h
};

struct ImportOptions {
  OciOptions oci;      // its `arch`, the host's architecture, applies to every format
  std::string filter;  // the name of the filter to read; empty if the file has only one
  // Reads a file that a policy includes. Without this function, includes are errors.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

struct Import {
  Policy policy;
  std::vector<std::string> notes;  // for people: parts without effect, or with an unexpected effect
  PolicyFormat format = PolicyFormat::kOwn;
  // Unknown names in an OCI profile; the importers of other formats refuse such names.
  std::vector<UnknownName> unknown = {};
  std::vector<std::string> capabilities = {};  // in an OCI profile, in order of appearance
  std::vector<std::pair<unsigned, unsigned>> kernels = {};  // kernel versions in an OCI profile
  std::vector<ProfilePart> parts = {};                      // parts of an OCI profile
  std::vector<RuleSet> idle = {};              // entries of an OCI profile without effect
  std::vector<MixedCall> mixed = {};           // calls whose entries have different actions
  std::optional<LibraryRequest> request = {};  // what a runtime asks of libseccomp
  // Why some of the chosen runtimes do not load an OCI profile.
  std::vector<LoadFailure> failures = {};
  // Reads an OCI profile again, without these names.
  std::function<Result<Import>(std::vector<OciName>)> without = {};
};

// Returns whether `text` is a policy in any format; otherwise it is a program.
bool is_policy(std::string_view text);

// The names are "policy", "oci", "seccompiler", "minijail", "minijail-compiler" and "pfc".
std::string_view policy_format_name(PolicyFormat format);
std::optional<PolicyFormat> policy_format_from_name(std::string_view name);
std::vector<std::string> policy_format_names();

// Reads a policy in `format`. Without `format` the content decides; unrecognized text is read as
// our own format. Errors: kParse and kPolicy with file and line or JSON pointer, kUsage for options
// that do not fit the format.
Result<Import> import_policy(std::string_view text, const std::string& name,
                             std::optional<PolicyFormat> format, const ImportOptions& options);

// Checks whether a filter may be chosen by name: `filter` is empty, or the file `name` is a policy
// in a format with named filters. Without `format`, the file is a program. Errors: kUsage.
Status filter_fits(const std::string& filter, std::optional<PolicyFormat> format,
                   const std::string& name);

}  // namespace secequiv
