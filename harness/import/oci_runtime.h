// Reads names in OCI profiles as container runtimes do: architectures, kernel versions and errnos.
// Owns how such names are read. It must not know what an entry does with them (import_oci.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "harness/seccomp/arch.h"

namespace secequiv {

// Returns the name that Docker and Podman look for in includes.arches and excludes.arches on a host
// of `arch`: "amd64", "x86", "arm64".
std::string_view runtime_arch(Arch arch);

// Returns all these names, including those of architectures that our tables lack.
std::span<const std::string_view> runtime_arches();

// Returns libseccomp's names of architectures, such as SCMP_ARCH_X86, including those that our
// tables lack.
std::span<const std::string_view> libseccomp_arches();

// Returns the byte order of one of these architectures, or of one that our tables have. Returns
// nothing for other names, and for SCMP_ARCH_NATIVE.
std::optional<Endian> endian_of_arch(std::string_view name);

// Maps "6.1.2" to {6, 1}. Returns nothing if the text is malformed.
std::optional<std::pair<unsigned, unsigned>> kernel_version(std::string_view text);

// Returns the number that Podman reads from the text of "errno" or "defaultErrno": a name or a
// decimal number. Returns nothing if Podman refuses the text.
std::optional<std::uint32_t> podman_errno(Arch arch, std::string_view text);

}  // namespace secequiv
