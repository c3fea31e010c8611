// How container runtimes read the names in an OCI profile: architectures, kernel versions, errnos.
// It must not know what an entry does with them (import_oci.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "harness/seccomp/arch.h"

namespace secequiv {

// The name that Docker and Podman look for in includes.arches and excludes.arches on a host of
// `arch`: "amd64", "x86", "arm64".
std::string_view runtime_arch(Arch arch);

// Every such name, including those of architectures without a table here.
std::span<const std::string_view> runtime_arches();

// "6.1.2" → {6, 1}; nothing if malformed.
std::optional<std::pair<unsigned, unsigned>> kernel_version(std::string_view text);

// The number that Podman reads in "errno" and "defaultErrno", a name or a decimal number; nothing
// if it refuses the text.
std::optional<std::uint32_t> podman_errno(Arch arch, std::string_view text);

}  // namespace secequiv
