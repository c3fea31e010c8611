#include "cli/call_options.h"

#include <fmt/format.h>

#include <set>

#include "cli/inputs.h"
#include "cli/output.h"
#include "harness/base/text.h"
#include "harness/seccomp/audit_record.h"

namespace secequiv::cli {
namespace {

Result<std::uint64_t> parse_u64(const std::string& text, std::string_view what) {
  if (const auto value = parse_number(text)) return *value;
  return make_error(ErrorCode::kUsage, std::string(what),
                    fmt::format("expected a number from -2^63 to 2^64-1, found '{}'", text));
}

// Reads a number, or the name of a system call if `arch` is known.
Result<std::uint32_t> parse_nr(const std::string& text, std::optional<Arch> arch) {
  if (arch)
    if (const auto nr = syscall_nr(*arch, text)) return *nr;
  const auto number = parse_u64(text, "--nr");
  if (number && (*number <= 0xffffffff || *number >= 0xffffffff80000000))
    return static_cast<std::uint32_t>(*number);
  if (!arch)
    return make_error(ErrorCode::kUsage, "--nr",
                      fmt::format("expected a 32-bit number, found '{}'", text));
  return make_error(
      ErrorCode::kUsage, "--nr",
      fmt::format("expected a number or a system call of {1}, found '{0}'{2}", text,
                  arch_info(*arch).name, did_you_mean(similar_syscalls(*arch, text))));
}

}  // namespace

Result<SeccompData> CallOptions::fields(const std::string& host) const {
  SeccompData data;
  if (!words.empty()) {
    if (words.size() != data.words.size())
      return make_error(ErrorCode::kUsage, "--words",
                        fmt::format("expected 16 words, found {}", words.size()));
    for (std::size_t i = 0; i < data.words.size(); ++i) {
      auto value = parse_u64(words[i], "--words");
      if (!value) return value.error();
      if (*value > 0xffffffff)
        return make_error(ErrorCode::kUsage, "--words",
                          fmt::format("expected a number of at most 32 bits, found {}", words[i]));
      data.words[i] = static_cast<std::uint32_t>(*value);
    }
    return data;
  }
  const std::string& arch = call_arch.empty() ? host : call_arch;
  auto known = arch_from_name(arch);
  std::uint32_t audit = known ? arch_info(*known).audit : 0;
  if (!known) {
    auto number = parse_u64(arch, "--arch");
    if (!number || *number > 0xffffffff)
      return make_error(
          ErrorCode::kUsage, "--call-arch",
          fmt::format("expected an architecture's name or a 32-bit AUDIT_ARCH value, found '{}'{}",
                      arch, did_you_mean(similar_arches(arch))));
    audit = static_cast<std::uint32_t>(*number);
    known = arch_from_data(audit, 0);
  }
  auto number = parse_nr(nr, known);
  if (!number) return number.error();
  data.set_nr(*number);
  data.set_arch(audit);
  const Endian endian = endian_of(data.arch());
  auto pointer = parse_u64(ip, "--ip");
  if (!pointer) return pointer.error();
  data.set_field(kIpField, *pointer, endian);
  std::set<char> seen;
  for (const std::string& arg : args) {
    if (arg.size() < 3 || arg[1] != '=' || arg[0] < '0' || arg[0] > '5')
      return make_error(ErrorCode::kUsage, "--arg",
                        fmt::format("expected INDEX=VALUE with INDEX 0 to 5, found '{}'", arg));
    if (!seen.insert(arg[0]).second)
      return make_error(
          ErrorCode::kUsage, "--arg",
          fmt::format("argument {} is given twice, the second time as '{}'", arg[0], arg));
    const auto value = parse_value(arg.substr(2), known.value_or(Arch::kX86_64));
    if (!value) return make_error(ErrorCode::kUsage, "--arg", value.error().detail);
    data.set_field(arg[0] - '0', *value, endian);
  }
  return data;
}

Result<SeccompData> CallOptions::from_record() {
  std::string text = record;
  if (record == "-") {
    auto input = read_input(record);
    if (!input) return input.error();
    text = std::move(*input);
  }
  auto found = read_audit_record(text, "--audit");
  if (!found) return found.error();
  constexpr std::string_view kRecord = "type=SECCOMP";
  if (text.find(kRecord) != text.rfind(kRecord))
    warn("note: --audit reads only the first SECCOMP record of its input");
  recorded_ = found->action;
  return found->data;
}

Result<SeccompData> CallOptions::read(Options& options) {
  auto data = record.empty() ? fields(options.arch) : from_record();
  const bool of_host = call_arch.empty() && words.empty() && record.empty();
  if (data && (host_->count() == 0 || of_host))
    options.arch = arch_info(arch_from_data(data->arch(), 0).value_or(Arch::kX86_64)).name;
  return data;
}

void CallOptions::add(CLI::App& app, Options& options) {
  auto* number =
      app.add_option("--nr", nr, "Set the system call, by name or number")->capture_default_str();
  auto* architecture_option = app.add_option("--call-arch", call_arch,
                                             "Set the architecture, as a name or AUDIT_ARCH value");
  auto* pointer = app.add_option("--ip", ip, "Set the instruction pointer")->capture_default_str();
  auto* argument = app.add_option(
      "--arg", args,
      "Set an argument, as INDEX=VALUE with numbers or names joined by |; repeatable");
  app.add_option("--words", words,
                 "Set all sixteen 32-bit words of struct seccomp_data, separated by commas")
      ->delimiter(',')
      ->excludes(number)
      ->excludes(architecture_option)
      ->excludes(pointer)
      ->excludes(argument);
  app.add_option("--audit", record,
                 "Read the call from this audit log line (type=SECCOMP), - for standard input")
      ->excludes(number)
      ->excludes(architecture_option)
      ->excludes(pointer)
      ->excludes(argument)
      ->excludes(app.get_option("--words"));
  options.add(app, {kImport});
  host_ = app.get_option("--arch");
}

}  // namespace secequiv::cli
