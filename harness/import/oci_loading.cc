#include "harness/import/oci_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/base/text.h"
#include "harness/import/oci_entries.h"
#include "harness/import/oci_runtime.h"
#include "harness/policy/json_util.h"
#include "harness/seccomp/action.h"

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

constexpr std::array<std::string_view, 4> kFlags = {
    "SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"};

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

// Returns the runtimes that do not know this name in "architectures".
RuntimeSet without_arch(std::string_view name) {
  RuntimeSet out;
  if (!runc_knows(name)) out |= set_of(Runtime::kRunc);
  if (!crun_knows(name)) out |= kWithCrun;
  if (!youki_knows(name)) out |= set_of(Runtime::kYouki);
  return out;
}

// Returns the runtimes that do not know this name in "flags".
RuntimeSet without_flag(std::string_view name) {
  if (std::ranges::find(kFlags, name) == kFlags.end()) return kAllRuntimes;
  return name == kFlags.back() ? kRuncAndYouki : RuntimeSet();
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

void LoadChecks::refuse(RuntimeSet runtimes, std::string reason, const JsonCursor& at) {
  if (runtimes.any())
    failures_.push_back({runtimes, std::move(reason), *at.position(at.path()).at});
}

// libseccomp: _db_tree_add()
void LoadChecks::refuse_repeated(const std::string& call, const std::string& earlier,
                                 const RulePosition& position) {
  failures_.push_back({kAllRuntimes,
                       fmt::format("libseccomp refuses to repeat conditions with another action "
                                   "(EEXIST), found for {} after the entry at {}",
                                   call, earlier),
                       position});
}

void LoadChecks::check_default(const JsonCursor& profile, std::uint32_t action) {
  const JsonCursor at = profile.at("defaultAction");
  check_errno(profile, "defaultErrno", at, action, true);
  // runc: InitSeccomp(), youki: check_seccomp()
  if (action == SECCOMP_RET_USER_NOTIF)
    refuse(kRuncAndYouki, "the default action is SCMP_ACT_NOTIFY", at);
}

void LoadChecks::check_flag(const JsonCursor& at, const std::string& name) {
  const bool known = std::ranges::find(kFlags, name) != kFlags.end();
  refuse(without_flag(name),
         fmt::format("unknown flag '{}'{}", name,
                     known ? "" : did_you_mean(similar_names(name, kFlags))),
         at);
}

void LoadChecks::check_arch(const JsonCursor& at, const std::string& name) {
  const bool known = arch_from_name(name) || name == "SCMP_ARCH_NATIVE";
  refuse(without_arch(name),
         fmt::format("unknown architecture '{}'{}", name,
                     known ? "" : did_you_mean(similar_names(name, libseccomp_arches()))),
         at);
  // libseccomp: db_col_db_add()
  const ArchInfo& host = arch_info(host_);
  if (endian_of_arch(name).value_or(host.endian) != host.endian)
    refuse(
        kAllRuntimes,
        fmt::format("libseccomp refuses architectures of both byte orders (EDOM), found {} and {}",
                    host.name, name),
        at);
}

void LoadChecks::check_entry(const JsonCursor& entry, const std::vector<std::string>& names,
                             std::uint32_t action) {
  if (names.empty()) return;
  const JsonCursor at = entry.at("action");
  // Runtimes skip calls that libseccomp does not know.
  check_errno(entry, "errno", at, action, std::ranges::any_of(names, any_arch_has));
  // runc: InitSeccomp(), youki: check_seccomp()
  if (action == SECCOMP_RET_USER_NOTIF && std::ranges::find(names, "write") != names.end())
    refuse(kRuncAndYouki, "the action for write is SCMP_ACT_NOTIFY", at);
  // runc: matchCall()
  if (std::ranges::find(names, "") != names.end())
    refuse(set_of(Runtime::kRunc), "the name of a system call is empty", entry.at("names"));
}

// libseccomp sees only an action that is used.
void LoadChecks::check_errno(const JsonCursor& holder, const std::string& key,
                             const JsonCursor& action_at, std::uint32_t action, bool is_used) {
  const std::string number = key + "Ret";
  const bool is_errno = action_of(action) == SECCOMP_RET_ERRNO;
  // crun: libcrun_generate_seccomp()
  if (holder.given(number) && !is_errno && action_of(action) != SECCOMP_RET_TRACE)
    refuse(kWithCrun, "an errno is given for the action " + action_at.value().get<std::string>(),
           holder.at(number));
  // libseccomp: sys_chk_seccomp_action(), which seccomp_init() and seccomp_rule_add() call
  if (is_used && is_errno && data_of(action) >= kMaxErrno)
    refuse(kAllRuntimes,
           fmt::format("libseccomp refuses errnos above 4094 (EINVAL), found {}",
                       holder.at(number).value().dump()),
           holder.at(number));
  check_errno_name(holder, key, action);
}

// An entry may have both a number, "errnoRet", and a name, "errno". Podman prefers the name, and
// other runtimes ignore it.
void LoadChecks::check_errno_name(const JsonCursor& holder, const std::string& key,
                                  std::uint32_t action) {
  if (!holder.has(key)) return;
  const JsonCursor at = holder.at(key);
  const auto* const name = at.value().get_ptr<const std::string*>();
  if (at.value().is_null() || (name != nullptr && name->empty())) return;
  const auto podman = name != nullptr ? podman_errno(host_, *name) : std::nullopt;
  // Podman: getErrno()
  if (!podman)
    return refuse(set_of(Runtime::kPodman), "no errno is called " + at.value().dump(), at);
  // Podman passes the errno to crun.
  if (action_of(action) != SECCOMP_RET_ERRNO && action_of(action) != SECCOMP_RET_TRACE)
    return refuse(set_of(Runtime::kPodman),
                  "an action without an errno has the errno " + at.value().dump(), at);
  if (podman == data_of(action)) return;
  unclear_.push_back(fmt::format(
      "the errno at {}: Podman returns {}, but Docker and runc return {}, which this import uses",
      at.place(), *podman, data_of(action)));
}

Result<std::vector<LoadFailure>> LoadChecks::failures(RuntimeSet runtimes) && {
  RuntimeSet left = runtimes;  // those that load the profile, as far as known
  std::string problems;
  for (LoadFailure& failure : failures_) {
    failure.runtimes &= runtimes;
    LoadFailure here = failure;
    here.runtimes &= left;
    left &= ~failure.runtimes;
    if (here.runtimes.none()) continue;
    problems += problems.empty()
                    ? here.problem()
                    : fmt::format("; {} ({})", here.problem(), place_in_file(failure.position));
  }
  std::erase_if(failures_, [](const LoadFailure& one) { return one.runtimes.none(); });
  if (left.any() || failures_.empty()) return std::move(failures_);
  const RulePosition& first = failures_.front().position;
  return make_error(ErrorCode::kRejected, fmt::format("{}:{}", first.file, first.line), problems);
}

}  // namespace secequiv
