#include "harness/import/oci_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/base/text.h"
#include "harness/import/oci_runtime.h"
#include "harness/policy/json_util.h"

namespace secequiv {
namespace {

template <class... Each>
constexpr RuntimeSet set_of(Each... runtimes) {
  return {((1ULL << static_cast<unsigned>(runtimes)) | ...)};
}

constexpr RuntimeSet kAllRuntimes =
    set_of(Runtime::kRunc, Runtime::kCrun, Runtime::kYouki, Runtime::kPodman);
// Podman passes a profile to crun, its default runtime.
constexpr RuntimeSet kWithCrun = set_of(Runtime::kCrun, Runtime::kPodman);
constexpr RuntimeSet kRuncAndYouki = set_of(Runtime::kRunc, Runtime::kYouki);

struct Row {
  LoadCondition condition;
  RuntimeSet runtimes;
  std::string_view reason;
};
// In the order of LoadCondition.
constexpr std::array kRows = {
    // libseccomp: sys_chk_seccomp_action(), which seccomp_init() and seccomp_rule_add() call
    Row{LoadCondition::kLargeErrno, kAllRuntimes,
        "libseccomp refuses errnos above 4094 (EINVAL), found "},
    // crun: libcrun_generate_seccomp()
    Row{LoadCondition::kUnusedErrno, kWithCrun, "an errno is given for the action "},
    // libseccomp: db_col_db_add()
    Row{LoadCondition::kByteOrders, kAllRuntimes,
        "libseccomp refuses architectures of both byte orders (EDOM), found "},
    // runc: InitSeccomp(), youki: check_seccomp()
    Row{LoadCondition::kNotifyDefault, kRuncAndYouki, "the default action is "},
    Row{LoadCondition::kNotifyWrite, kRuncAndYouki, "the action for write is "},
    // runc: matchCall()
    Row{LoadCondition::kEmptyName, set_of(Runtime::kRunc), "the name of a system call is "},
    // Podman: getErrno()
    Row{LoadCondition::kErrnoName, set_of(Runtime::kPodman), "no errno is called "},
    // Podman passes the errno to crun
    Row{LoadCondition::kUnusedErrnoName, set_of(Runtime::kPodman),
        "an action without an errno has the errno "},
    // libseccomp: _db_tree_add()
    Row{LoadCondition::kRepeatedTests, kAllRuntimes,
        "libseccomp refuses to repeat conditions with another action (EEXIST), found for "},
};
static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].condition != static_cast<LoadCondition>(i)) return false;
  return true;
}());

constexpr std::string_view kArchPrefix = "SCMP_ARCH_";

// runc: ConvertStringToArch().
constexpr std::array<std::string_view, 18> kRuncArches = {
    "X86",  "X86_64", "X32",       "ARM",     "AARCH64",  "LOONGARCH64",
    "MIPS", "MIPS64", "MIPS64N32", "MIPSEL",  "MIPSEL64", "MIPSEL64N32",
    "PPC",  "PPC64",  "PPC64LE",   "RISCV64", "S390",     "S390X"};

// crun resolves names with libseccomp, which has none for SCMP_ARCH_NATIVE. They may lack the
// prefix, and then have small letters in the profiles that secequiv knows.
bool crun_knows(std::string_view name) {
  const bool has_prefix = name.starts_with(kArchPrefix);
  std::string whole(kArchPrefix);
  for (const char c : has_prefix ? name.substr(kArchPrefix.size()) : name)
    whole += c >= 'a' && c <= 'z' && !has_prefix ? static_cast<char>(c - 'a' + 'A') : c;
  const auto known = libseccomp_arches();
  return whole != "SCMP_ARCH_NATIVE" && std::ranges::find(known, whole) != known.end();
}

bool runc_knows(std::string_view name) {
  return name.starts_with(kArchPrefix) &&
         std::ranges::find(kRuncArches, name.substr(kArchPrefix.size())) != kRuncArches.end();
}

// oci-spec-rs: the enumeration Arch.
bool youki_knows(std::string_view name) {
  return name == "SCMP_ARCH_NATIVE" || (runc_knows(name) && name != "SCMP_ARCH_LOONGARCH64");
}

}  // namespace

RuntimeSet runtimes_named(std::span<const std::string> names) {
  if (names.empty()) return every_runtime();
  RuntimeSet out;
  for (std::size_t i = 0; i < kRuntimeNames.size(); ++i)
    out[i] = std::ranges::find(names, kRuntimeNames[i]) != names.end();
  return out;
}

std::string runtimes_text(RuntimeSet runtimes) {
  std::string out;
  for (std::size_t i = 0; i < kRuntimeNames.size(); ++i) {
    if (!runtimes[i]) continue;
    runtimes.reset(i);
    if (!out.empty()) out += runtimes.none() ? " and " : ", ";
    out += kRuntimeNames[i];
  }
  return out;
}

std::string LoadFailure::problem() const {
  return fmt::format("{} {} not load this profile: {}", runtimes_text(runtimes),
                     runtimes.count() == 1 ? "does" : "do", reason);
}

std::string LoadFailure::text() const { return fmt::format("{}: {}", position.text(), problem()); }

LoadFailure load_failure(LoadCondition condition, std::string_view found, RulePosition position) {
  const Row& row = kRows[static_cast<std::size_t>(condition)];
  return {row.runtimes, fmt::format("{}{}", row.reason, found), std::move(position)};
}

RuntimeSet without_arch(std::string_view name) {
  RuntimeSet out;
  if (!runc_knows(name)) out |= set_of(Runtime::kRunc);
  if (!crun_knows(name)) out |= kWithCrun;
  if (!youki_knows(name)) out |= set_of(Runtime::kYouki);
  return out;
}

RuntimeSet without_flag(std::string_view name) {
  constexpr std::array<std::string_view, 3> kEverywhere = {"TSYNC", "LOG", "SPEC_ALLOW"};
  constexpr std::string_view kPrefix = "SECCOMP_FILTER_FLAG_";
  if (!name.starts_with(kPrefix)) return kAllRuntimes;
  name.remove_prefix(kPrefix.size());
  if (std::ranges::find(kEverywhere, name) != kEverywhere.end()) return {};
  return name == "WAIT_KILLABLE_RECV" ? kRuncAndYouki : kAllRuntimes;
}

Status check_loads(std::span<const LoadFailure> failures, RuntimeSet runtimes) {
  RuntimeSet left = runtimes;
  std::string problems;
  for (const LoadFailure& failure : failures) {
    LoadFailure here = failure;
    here.runtimes &= left;
    left &= ~failure.runtimes;
    if (here.runtimes.none()) continue;
    problems += problems.empty()
                    ? here.problem()
                    : fmt::format("; {} ({})", here.problem(), place_in_file(failure.position));
  }
  if (left.any() || failures.empty()) return Ok{};
  return make_error(
      ErrorCode::kRejected,
      fmt::format("{}:{}", failures.front().position.file, failures.front().position.line),
      problems);
}

}  // namespace secequiv
