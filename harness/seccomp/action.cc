#include "harness/seccomp/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/base/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

struct ActionName {
  std::string_view name;
  std::uint32_t action;
  bool takes_data;
};
constexpr std::array kActions = {
    ActionName{"KILL_PROCESS", SECCOMP_RET_KILL_PROCESS, false},
    ActionName{"KILL_THREAD", SECCOMP_RET_KILL_THREAD, false},
    ActionName{"TRAP", SECCOMP_RET_TRAP, true},
    ActionName{"ERRNO", SECCOMP_RET_ERRNO, true},
    ActionName{"USER_NOTIF", SECCOMP_RET_USER_NOTIF, false},
    ActionName{"TRACE", SECCOMP_RET_TRACE, true},
    ActionName{"LOG", SECCOMP_RET_LOG, false},
    ActionName{"ALLOW", SECCOMP_RET_ALLOW, false},
    ActionName{"KILL", SECCOMP_RET_KILL_THREAD, false},
};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::optional<std::uint32_t> number(std::string_view text) {
  const auto value = parse_unsigned(text);
  return value && *value <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*value))
                                       : std::nullopt;
}

}  // namespace

std::uint32_t run_stack(std::span<const ProgramView> filters, const SeccompData& input) {
  if (filters.size() == 1) return run(filters.front(), input);
  std::uint32_t result = SECCOMP_RET_ALLOW;
  for (const ProgramView filter : filters) {
    const std::uint32_t value = run(filter, input);
    if (precedence(value) < precedence(result)) result = value;
  }
  return result;
}

std::string action_name(std::uint32_t value) {
  const auto known = std::ranges::find(kActions, action_of(value), &ActionName::action);
  return known == kActions.end() ? fmt::format("{:#010x}", action_of(value))
                                 : std::string(known->name);
}

std::string describe_action(std::uint32_t value) {
  const auto known = std::ranges::find(kActions, action_of(value), &ActionName::action);
  if (known == kActions.end()) return fmt::format("{:#010x} (unknown action: KILL_PROCESS)", value);
  const std::uint32_t data = data_of(value);
  const std::string_view error =
      known->action == SECCOMP_RET_ERRNO ? errno_name(data) : std::string_view();
  if (!error.empty()) return fmt::format("{}({} {})", known->name, data, error);
  if (known->takes_data || data != 0) return fmt::format("{}({})", known->name, data);
  return std::string(known->name);
}

std::optional<std::uint32_t> parse_action(std::string_view text) {
  if (const auto raw = number(text)) return raw;
  const std::size_t open = text.find('(');
  const std::string name = upper(text.substr(0, open));
  for (const ActionName& known : kActions) {
    if (known.name != name) continue;
    if (open == std::string_view::npos)
      return known.action == SECCOMP_RET_ERRNO ? std::nullopt : std::optional(known.action);
    if (text.back() != ')') return std::nullopt;
    const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
    auto data = number(inner);
    if (!data && known.action == SECCOMP_RET_ERRNO) {
      const auto value = constant_value(Arch::kX86_64, upper(inner));
      if (value && upper(inner).starts_with('E') &&
          !errno_name(static_cast<std::uint32_t>(*value)).empty())
        data = static_cast<std::uint32_t>(*value);
    }
    if (!data || *data > SECCOMP_RET_DATA) return std::nullopt;
    return known.action | *data;
  }
  return std::nullopt;
}

}  // namespace secequiv
