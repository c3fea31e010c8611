#include "harness/seccomp/audit_record.h"

#include <fmt/format.h>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

// Returns the value of a field such as "arch", or std::nullopt if the record lacks it. Records
// write values with blanks in hexadecimal. auditd puts a separator before the names that it adds.
std::optional<std::string_view> field(std::string_view line, std::string_view key) {
  constexpr std::string_view kBetween = " \t\x1d\r";
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(kBetween), line.size());
    const std::string_view word = line.substr(0, end);
    if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
      return word.substr(key.size() + 1);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> hexadecimal(std::string_view digits) {
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  return parse_unsigned("0x" + std::string(digits));
}

bool is_record(std::string_view line) {
  return line.find("type=SECCOMP ") != std::string_view::npos ||
         line.find("type=1326 ") != std::string_view::npos;
}

Result<AuditRecord> read_line(std::string_view line, const std::string& where) {
  const auto wrong = [&](std::string_view key, std::string_view what) {
    const auto found = field(line, key);
    return make_error(ErrorCode::kParse, where,
                      fmt::format("expected {}={}, found {}", key, what,
                                  found ? fmt::format("'{}'", *found) : "no such field"));
  };
  AuditRecord out;
  const std::string_view arch_text = field(line, "arch").value_or("");
  const auto named = arch_from_name(arch_text);
  const auto audit =
      named ? std::optional<std::uint64_t>(arch_info(*named).audit) : hexadecimal(arch_text);
  if (!audit || *audit > 0xffffffff) return wrong("arch", "HEXADECIMAL");
  out.data.set_arch(static_cast<std::uint32_t>(*audit));
  const std::string_view call = field(line, "syscall").value_or("");
  const auto arch = named ? named : arch_from_data(out.data.arch(), 0);
  const auto by_name = arch ? syscall_nr(*arch, call) : std::nullopt;
  const auto nr = by_name ? std::optional<std::uint64_t>(*by_name) : parse_unsigned(call);
  if (!nr || *nr > 0xffffffff) return wrong("syscall", "NUMBER");
  out.data.set_nr(static_cast<std::uint32_t>(*nr));
  if (const auto ip = field(line, "ip")) {
    const auto value = hexadecimal(*ip);
    if (!value) return wrong("ip", "0x...");
    out.data.set_field(kIpField, *value, endian_of(out.data.arch()));
  }
  // ausearch -i writes the action's name instead of the number. The name adds no information.
  const auto code = hexadecimal(field(line, "code").value_or(""));
  if (code && *code <= 0xffffffff) out.action = action_of(static_cast<std::uint32_t>(*code));
  return out;
}

}  // namespace

Result<AuditRecord> read_audit_record(std::string_view text, const std::string& name) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_part(text);
    if (is_record(line)) return read_line(line, fmt::format("{}:{}", name, number));
  }
  return make_error(ErrorCode::kParse, name,
                    "expected a line of the audit log with type=SECCOMP, found none");
}

}  // namespace secequiv
