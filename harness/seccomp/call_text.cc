#include "harness/seccomp/call_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "harness/base/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

Result<std::uint64_t> parse_u64(const std::string& text, Subject subject) {
  if (const auto value = parse_number(text)) return *value;
  return usage_error(subject,
                     fmt::format("expected a number from -2^63 to 2^64-1, found '{}'", text));
}

// Returns the name of the first architecture with a system call, or "".
std::string other_arch_with(std::string_view name) {
  for (const ArchInfo& info : all_arches())
    if (syscall_nr(info.arch, name)) return std::string(info.name);
  return {};
}

// Lists calls of `arch` whose names contain `name`: "; it has fchmod, fchmodat, fchmodat2".
std::string variants(Arch arch, std::string_view name) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> found;
  for (const SyscallEntry& entry : arch_info(arch).syscalls)
    if (std::string_view(entry.name).find(name) != std::string_view::npos)
      found.emplace_back(entry.name);
  if (found.empty() || found.size() > kMost) return {};
  std::ranges::sort(found);
  return fmt::format("; it has {}", fmt::join(found, ", "));
}

// Reads a number, or the name of a system call if `arch` is known.
Result<std::uint32_t> parse_nr(const std::string& text, std::optional<Arch> arch) {
  if (arch)
    if (const auto nr = syscall_nr(*arch, text)) return *nr;
  const auto number = parse_u64(text, Subject::kCallNumber);
  if (number && (*number <= 0xffffffff || *number >= 0xffffffff80000000))
    return static_cast<std::uint32_t>(*number);
  if (!arch)
    return usage_error(Subject::kCallNumber,
                       fmt::format("expected a 32-bit number, found '{}'", text));
  if (const std::string other = other_arch_with(text); !other.empty())
    return usage_error(Subject::kCallNumber,
                       fmt::format("{} has no system call '{}', which {} has{}",
                                   arch_info(*arch).name, text, other, variants(*arch, text)));
  return usage_error(
      Subject::kCallNumber,
      fmt::format("expected a number or a system call of {1}, found '{0}'{2}", text,
                  arch_info(*arch).name, did_you_mean(similar_syscalls(*arch, text))));
}

Result<SeccompData> read_words(const std::vector<std::string>& words) {
  SeccompData data;
  if (words.size() != data.words.size())
    return usage_error(Subject::kCallWords,
                       fmt::format("expected 16 words, found {}", words.size()));
  for (std::size_t i = 0; i < data.words.size(); ++i) {
    ASSIGN_OR_RETURN(const auto value, parse_u64(words[i], Subject::kCallWords));
    if (value > 0xffffffff)
      return usage_error(Subject::kCallWords,
                         fmt::format("expected a number of at most 32 bits, found {}", words[i]));
    data.words[i] = static_cast<std::uint32_t>(value);
  }
  return data;
}

}  // namespace

std::pair<std::optional<Arch>, std::string_view> split_arch(std::string_view call) {
  const std::size_t colon = call.find(':');
  if (colon == call.npos) return {std::nullopt, call};
  const auto arch = arch_from_name(call.substr(0, colon));
  return {arch, arch ? call.substr(colon + 1) : call};
}

CallText with_arch(CallText call) {
  const auto [named, rest] = split_arch(call.nr);
  const bool other = !call.arch.empty() && arch_from_name(call.arch) != named;
  if (!named || other) return call;
  call.arch = arch_info(*named).name;
  call.nr = std::string(rest);
  return call;
}

Result<SeccompData> read_call(const CallText& text, const std::string& host) {
  const CallText call = with_arch(text);
  if (!call.words.empty()) return read_words(call.words);
  SeccompData data;
  const std::string& arch = call.arch.empty() ? host : call.arch;
  auto known = arch_from_name(arch);
  std::uint32_t audit = known ? arch_info(*known).audit : 0;
  if (!known) {
    auto number = parse_u64(arch, Subject::kCallArch);
    if (!number || *number > 0xffffffff)
      return usage_error(
          Subject::kCallArch,
          fmt::format("expected an architecture's name or a 32-bit AUDIT_ARCH value, found '{}'{}",
                      arch, did_you_mean(similar_arches(arch))));
    audit = static_cast<std::uint32_t>(*number);
    known = arch_from_data(audit, 0);
  }
  ASSIGN_OR_RETURN(auto number, parse_nr(call.nr, known));
  data.set_nr(number);
  data.set_arch(audit);
  const Endian endian = endian_of(data.arch());
  ASSIGN_OR_RETURN(auto pointer, parse_u64(call.ip, Subject::kCallPointer));
  data.set_field(kIpField, pointer, endian);
  std::set<char> seen;
  for (const std::string& arg : call.args) {
    if (arg.size() < 3 || arg[1] != '=' || arg[0] < '0' || arg[0] > '5')
      return usage_error(Subject::kCallArgument,
                         fmt::format("expected INDEX=VALUE with INDEX 0 to 5, found '{}'", arg));
    if (!seen.insert(arg[0]).second)
      return usage_error(
          Subject::kCallArgument,
          fmt::format("argument {} is given twice, the second time as '{}'", arg[0], arg));
    const auto value = parse_value(arg.substr(2), known.value_or(Arch::kX86_64));
    if (!value) return usage_error(Subject::kCallArgument, value.error().detail);
    data.set_field(arg[0] - '0', *value, endian);
  }
  return data;
}

}  // namespace secequiv
