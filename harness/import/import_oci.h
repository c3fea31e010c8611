// Imports seccomp profiles of containers: the OCI runtime-spec "seccomp" object, and the richer
// file format of Docker, Podman and containerd (archMap, includes and excludes). Owns that format's
// meaning, as runc reads it (README.md). It must not know other formats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "harness/import/guard.h"
#include "harness/import/library_request.h"
#include "harness/import/oci_loading.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A name of a call in an entry: "syscalls[3]", "read".
struct OciName {
  std::string entry;
  std::string name;
};

struct OciOptions {
  Arch arch = Arch::kX86_64;  // the host's architecture; sub-architectures come from the profile
  // Capabilities of the container, for includes and excludes: "CAP_SYS_ADMIN", ...
  std::vector<std::string> capabilities;
  std::string kernel = "6.1";             // the host's kernel version, for includes.minKernel
  RuntimeSet runtimes = every_runtime();  // the runtimes that have to load the profile
  // Names to read the profile without, the last ones first if an entry repeats a name.
  std::vector<OciName> without = {};
};

// An unknown name in a profile, probably a typing error. It has no effect, which leaves a hole in a
// list of denied calls.
struct UnknownName {
  enum class Kind : std::uint8_t { kCall, kKey, kArchitecture, kCapability };
  Kind kind;
  std::string name;
  RulePosition position;
  std::string suggestion;  // such as "; did you mean keyctl?", or empty

  // Returns "docker.json:7 (syscalls[0]): no architecture has a system call 'keyctll'; did you mean
  // ...?"
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string problem() const;  // the same text without the position
};

// All entries for one call on one architecture, of which some have different actions. libseccomp
// does not keep their order, so a rule set for each of them states only what the entry says.
struct MixedCall {
  std::vector<RuleSet> entries;  // each with one rule; in the order of the profile
  // An input that entries with different actions match. Set by open_choices() (analyze).
  std::optional<SeccompData> input = {};
  // What libseccomp answers on this machine, if that is not what secequiv reads; then `entries` are
  // those of a call that the two filters decide differently, whatever their actions. Set by
  // contradictions() (analyze).
  struct Contradiction {
    std::string text;  // "libseccomp 2.5.4 makes another filter of this profile"
    Program read;      // secequiv's filter; empty if libseccomp makes none
    Program made;      // libseccomp's filter, likewise
  };
  std::shared_ptr<const Contradiction> contradiction = {};

  // Returns the positions of the entries that match the input; of all entries if there is no input.
  [[nodiscard]] std::vector<RulePosition> matching() const;
  // Returns "read on x86_64: libseccomp chooses one of the entries at ... for inputs such as ..."
  [[nodiscard]] std::string text() const;
};

struct OciImport {
  Policy policy;
  // For people: parts without effect or unknown parts, with the reason
  std::vector<std::string> skipped;
  std::vector<std::string> unclear;  // for people: parts whose meaning depends on the runtime
  std::vector<UnknownName> unknown = {};
  // Capabilities that entries include or exclude, in order of appearance.
  std::vector<std::string> capabilities = {};
  // Kernel versions that entries include or exclude.
  std::vector<std::pair<unsigned, unsigned>> kernels = {};
  // Every entry, and the architectures that are not for this host.
  std::vector<ProfilePart> parts = {};
  // The entries without effect, one in each set. If these sets followed the policy's rule sets, no
  // decision would change: either an entry that always holds decides, or the entry's action is the
  // default action.
  std::vector<RuleSet> idle = {};
  std::vector<MixedCall> mixed = {};
  LibraryRequest request = {};
  // Why some of OciOptions::runtimes do not load the profile, in the order of the profile.
  std::vector<LoadFailure> failures = {};
};

// Returns whether OciOptions::kernel accepts `text`, like "6.1" or "6.1.2-rc1".
bool is_kernel_version(std::string_view text);
// Returns the problem with a version, or "" if there is none.
std::string kernel_version_problem(std::string_view text);

// Imports a profile. Errors: kParse, kPolicy with a JSON pointer; kRejected if none of the runtimes
// loads it.
Result<OciImport> import_oci(std::string_view text, const std::string& name,
                             const OciOptions& options);

}  // namespace secequiv
