#include "harness/import/oci_runtime.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "harness/base/text.h"

namespace secequiv {
namespace {

// The architecture names of libseccomp's Go binding, and two names that only Docker has.
constexpr std::array<std::string_view, 22> kRuntimeArches = {
    "amd64",       "x86",         "x32",    "arm",       "arm64",  "loong64",
    "loongarch64", "mips",        "mips64", "mips64n32", "mipsel", "mipsel64",
    "mipsel64n32", "mips3l64n32", "parisc", "parisc64",  "ppc",    "ppc64",
    "ppc64le",     "riscv64",     "s390",   "s390x"};

constexpr std::array<std::string_view, 23> kLibseccompArches = {
    "SCMP_ARCH_NATIVE",   "SCMP_ARCH_X86",         "SCMP_ARCH_X86_64",      "SCMP_ARCH_X32",
    "SCMP_ARCH_ARM",      "SCMP_ARCH_AARCH64",     "SCMP_ARCH_LOONGARCH64", "SCMP_ARCH_M68K",
    "SCMP_ARCH_MIPS",     "SCMP_ARCH_MIPS64",      "SCMP_ARCH_MIPS64N32",   "SCMP_ARCH_MIPSEL",
    "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PARISC",      "SCMP_ARCH_PARISC64",
    "SCMP_ARCH_PPC",      "SCMP_ARCH_PPC64",       "SCMP_ARCH_PPC64LE",     "SCMP_ARCH_RISCV64",
    "SCMP_ARCH_S390",     "SCMP_ARCH_S390X",       "SCMP_ARCH_SH"};

}  // namespace

std::string_view runtime_arch(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return "amd64";
    case Arch::kI386:
      return "x86";
    case Arch::kAarch64:
      return "arm64";
    default:
      return arch_info(arch).name;
  }
}

std::span<const std::string_view> runtime_arches() { return kRuntimeArches; }

std::span<const std::string_view> libseccomp_arches() { return kLibseccompArches; }

std::optional<Endian> endian_of_arch(std::string_view name) {
  constexpr std::array<std::string_view, 9> kBig = {
      "SCMP_ARCH_M68K",      "SCMP_ARCH_MIPS",   "SCMP_ARCH_MIPS64",
      "SCMP_ARCH_MIPS64N32", "SCMP_ARCH_PARISC", "SCMP_ARCH_PARISC64",
      "SCMP_ARCH_PPC",       "SCMP_ARCH_PPC64",  "SCMP_ARCH_S390"};
  if (const auto known = arch_from_name(name)) return arch_info(*known).endian;
  if (name == "SCMP_ARCH_NATIVE" ||
      std::ranges::find(kLibseccompArches, name) == kLibseccompArches.end())
    return std::nullopt;
  return std::ranges::find(kBig, name) == kBig.end() ? Endian::kLittle : Endian::kBig;
}

std::optional<std::pair<unsigned, unsigned>> kernel_version(std::string_view text) {
  std::array<unsigned, 2> parts{};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto digits = text.substr(0, 6);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), parts[i]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - digits.data()));
    if (i == 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return std::pair(parts[0], parts[1]);
}

std::optional<std::uint32_t> podman_errno(Arch arch, std::string_view text) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto in_name = [&](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c); };
  std::optional<std::uint64_t> value;
  if (std::ranges::all_of(text, is_digit)) {
    value = parse_unsigned(text);
  } else if (text.starts_with('E') && !text.starts_with("EPOLL") &&
             std::ranges::all_of(text, in_name)) {
    value = constant_value(arch, text);
  }
  if (!value || *value > kMost) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

}  // namespace secequiv
