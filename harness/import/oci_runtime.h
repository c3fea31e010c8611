// What runtimes make of the words of an OCI profile: architectures, versions of kernels, names of
// errnos. Owns these words alone; what an entry means by them is import_oci's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "harness/seccomp/arch.h"

namespace secequiv {

// What Docker and Podman compare includes.arches and excludes.arches with, letter by letter, on a
// host of `arch`: "amd64", "x86", "arm64".
std::string_view runtime_arch(Arch arch);

// Every such name, also of architectures that we have no table for.
std::span<const std::string_view> runtime_arches();

// "6.1.2" → {6, 1}; nothing if malformed.
std::optional<std::pair<unsigned, unsigned>> kernel_version(std::string_view text);

// What Podman makes of "errno" and "defaultErrno", a name or a decimal number; nothing for what it
// refuses.
std::optional<std::uint32_t> podman_errno(Arch arch, std::string_view text);

}  // namespace secequiv
