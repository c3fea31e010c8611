#include "harness/kernel/booted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/adapter/server.h"
#include "harness/base/bytes.h"
#include "harness/base/interrupt.h"
#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/kernel/instrument.h"
#include "harness/kernel/traced.h"
#include "harness/policy/json.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv::kernel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kBootSeconds = 900;
constexpr double kAnswerSeconds = 300;
constexpr std::size_t kAcceptBytes = std::size_t{1} << 20;  // of programs in one request
constexpr std::size_t kCallsInRequest = 2048;
constexpr std::size_t kLongestProgram = 0xffff;  // sock_fprog holds no greater length
constexpr std::uint32_t kKilled = 0xffffffff;
constexpr std::uint32_t kOldGetpid = 20;  // of the architectures that are older than x86_64

std::string message(char kind) { return {kind}; }

void append_program(std::string& out, ProgramView program) {
  append_bytes(out, static_cast<std::uint32_t>(program.size()));
  out += write_program(program, Form::kRaw);
}

// `model` is the byte order that our table has for the entry, and `guest` the one that the guest
// reports. If they differ, the guest passes other arguments than those of `call`.
void append_call(std::string& out, const SeccompData& call, Endian model, Endian guest) {
  SeccompData sent;
  sent.set_nr(call.nr());
  for (int i = 0; i < kArgCount; ++i) sent.set_field(i, call.field(i, model), guest);
  out += input_bytes({&sent, 1});
}

// One request of ask(): some of the calls of one program.
struct Part {
  std::size_t program;
  std::size_t first;  // call
  std::size_t count;
};

std::vector<Part> parts_of(std::span<const Asked> programs) {
  std::vector<Part> out;
  for (std::size_t p = 0; p < programs.size(); ++p)
    for (std::size_t first = 0; first < programs[p].calls.size(); first += kCallsInRequest)
      out.push_back({p, first, std::min(kCallsInRequest, programs[p].calls.size() - first)});
  return out;
}

// Returns what is wrong with the answer to a part, or "".
std::string read_replies(std::string_view body, std::span<Reply> out) {
  if (body.size() != 4 * out.size())
    return fmt::format("expected {} replies of 4 bytes, found {} bytes", out.size(), body.size());
  for (Reply& reply : out) {
    const std::uint32_t value = take_bytes(body);
    if (value != kKilled && value > 0xfff)
      return fmt::format("expected an error number of 0 to 4095, found {:#x}", value);
    reply = {static_cast<std::uint16_t>(value == kKilled ? 0 : value), value == kKilled};
  }
  return {};
}

// Returns scripts/kernels of the source tree that this program was built in, or "".
std::string kernels_script() {
  if (const char* given = std::getenv("SECEQUIV_KERNELS"); given != nullptr) return given;
  std::error_code error;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
       folder.has_relative_path(); folder = folder.parent_path())
    if (fs::is_regular_file(folder / "scripts/kernels", error)) return folder / "scripts/kernels";
  return {};
}

Error bad_info(const std::string& what) {
  return make_error(ErrorCode::kAdapter, "kernel", "in the description of the kernel: " + what);
}

std::optional<std::string> text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return printable(found->get<std::string>(), false);
}

std::optional<std::uint32_t> number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  if (value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

// Reads what `row` says about an entry. The order of the halves is the model's wherever it has one,
// so that asking also tests it.
Result<Entry> read_entry(const json& row, Endian guest) {
  const auto name = text_of(row, "name");
  const auto audit = number_of(row, "audit");
  if (!name || !audit) return bad_info("expected a name and an audit value for each entry");
  Entry out{*name, *audit, Endian::kLittle, number_of(row, "long_bits").value_or(64), kOldGetpid};
  if (out.argument_bits != 32 && out.argument_bits != 64)
    return bad_info(fmt::format("expected long_bits of 32 or 64, found {}", out.argument_bits));
  const auto named = arch_from_name(out.name);
  if (named && arch_info(*named).audit != out.audit)
    return make_error(ErrorCode::kInternal, "kernel",
                      fmt::format("our table has arch {:#x} for {}, but the kernel has {:#x}",
                                  arch_info(*named).audit, out.name, out.audit));
  const auto known = arch_from_data(out.audit, 0);
  out.endian = known ? arch_info(*known).endian : guest;
  if (known) out.harmless = syscall_nr(*known, "getpid").value_or(kOldGetpid);
  out.harmless = number_of(row, "getpid").value_or(out.harmless);
  return out;
}

class BootedKernel final : public Kernel {
 public:
  explicit BootedKernel(std::vector<std::string> argv)
      : server_(std::move(argv), limits(), Server::Restart::kNever) {}

  Status read_info();

  [[nodiscard]] std::string release() const override { return release_; }
  [[nodiscard]] std::string booted_as() const override { return entries_.front().name; }
  [[nodiscard]] std::span<const Entry> entries() const override { return entries_; }
  Result<std::vector<bool>> accepts(std::span<const Program> programs) override;
  Result<std::vector<std::vector<Reply>>> ask(std::span<const Asked> programs,
                                              const Entry& entry) override;
  Result<std::uint64_t> instruction_pointer(const Entry& entry) override;
  Status unfiltered() override { return Ok{}; }

 private:
  AdapterLimits limits() {
    AdapterLimits out;
    out.seconds = kBootSeconds;
    out.memory_bytes = 0;  // an emulator reserves more than it uses
    out.shorter = seconds_;
    return out;
  }
  // The error of a request without an answer.
  static Error failure(Outcome outcome, const std::string& detail, std::optional<int> status);
  Status add_accepted(std::span<const Program> programs, std::vector<bool>& out);
  Result<bool> accepts_one(ProgramView program);

  std::shared_ptr<double> seconds_ = std::make_shared<double>(0);
  Server server_;
  std::string release_;
  Endian guest_ = Endian::kLittle;
  std::vector<Entry> entries_;
};

Error BootedKernel::failure(Outcome outcome, const std::string& detail, std::optional<int> status) {
  if (stop_wanted()) return interrupted();
  const std::string text = "the booted kernel gave no answer: " + detail;
  if (status == 2) return make_error(ErrorCode::kUsage, "kernel", text);
  if (outcome == Outcome::kGarbage || outcome == Outcome::kRefused)
    return make_error(ErrorCode::kAdapter, "kernel", text);
  return make_error(ErrorCode::kUnavailable, "kernel", text);
}

Status BootedKernel::read_info() {
  Error failed;
  bool answered = false;
  std::string body;
  server_.ask_all(
      1, [](std::size_t) { return message('I'); },
      [&](std::size_t, secequiv::Reply reply) {
        answered = reply.outcome == Outcome::kAnswered;
        body = reply.body;
        if (!answered) failed = failure(reply.outcome, reply.detail, reply.exit_status);
        return std::string();
      });
  if (!answered) return failed;
  *seconds_ = kAnswerSeconds;
  const auto info = parse_json(body, "description of the kernel");
  if (!info) return bad_info(info.error().text());
  const auto release = text_of(*info, "release");
  const auto entries = info->find("entries");
  if (!release || entries == info->end() || !entries->is_array() || entries->empty())
    return bad_info("expected a release and at least one entry");
  release_ = *release;
  const auto big_endian = info->find("big_endian");
  if (big_endian != info->end() && *big_endian == true) guest_ = Endian::kBig;
  for (const json& row : *entries) {
    ASSIGN_OR_RETURN(auto entry, read_entry(row, guest_));
    entries_.push_back(std::move(entry));
  }
  return Ok{};
}

// Adds the answer for each of `programs`, which fit into one request.
Status BootedKernel::add_accepted(std::span<const Program> programs, std::vector<bool>& out) {
  std::string request = message('A');
  append_bytes(request, static_cast<std::uint32_t>(programs.size()));
  for (const Program& program : programs) append_program(request, program);
  const auto answer = server_.ask(request);
  if (!answer.ok()) return failure(answer.outcome, answer.detail, std::nullopt);
  if (answer.value.size() != programs.size() ||
      std::ranges::any_of(answer.value, [](char c) { return c != 0 && c != 1; }))
    return make_error(ErrorCode::kAdapter, "kernel",
                      fmt::format("expected {} bytes 0 or 1, found '{}'", programs.size(),
                                  printable(answer.value.substr(0, 200), false)));
  for (const char accepted : answer.value) out.push_back(accepted == 1);
  return Ok{};
}

Result<std::vector<bool>> BootedKernel::accepts(std::span<const Program> programs) {
  std::vector<bool> out;
  while (out.size() < programs.size()) {
    if (!out.empty() && stop_wanted()) return interrupted();
    const auto rest = programs.subspan(out.size());
    if (rest.front().size() > kLongestProgram) {
      out.push_back(false);
      continue;
    }
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < rest.size() && rest[count].size() <= kLongestProgram;
         ++count) {
      bytes += rest[count].size() * sizeof(Insn);
      if (count > 0 && bytes > kAcceptBytes) break;
    }
    RETURN_IF_ERROR(add_accepted(rest.first(count), out));
  }
  return out;
}

Result<bool> BootedKernel::accepts_one(ProgramView program) {
  const Program copy(program.begin(), program.end());
  std::vector<bool> out;
  RETURN_IF_ERROR(add_accepted({&copy, 1}, out));
  return bool{out.front()};
}

Result<std::vector<std::vector<Reply>>> BootedKernel::ask(std::span<const Asked> programs,
                                                          const Entry& entry) {
  const auto found = std::ranges::find(entries_, entry);
  if (found == entries_.end())
    return make_error(ErrorCode::kInternal, "kernel", "this kernel has no entry " + entry.name);
  std::vector<std::vector<Reply>> out(programs.size());
  for (std::size_t p = 0; p < programs.size(); ++p) out[p].resize(programs[p].calls.size());
  const std::vector<Part> parts = parts_of(programs);
  std::optional<Error> failed;
  std::optional<std::size_t> refused;  // a program
  server_.ask_all(
      parts.size(),
      [&](std::size_t i) {
        const Part& part = parts[i];
        std::string request = message('Q');
        request.push_back(static_cast<char>(found - entries_.begin()));
        append_program(request, programs[part.program].program);
        for (std::size_t call = 0; call < part.count; ++call)
          append_call(request, programs[part.program].calls[part.first + call], entry.endian,
                      guest_);
        return request;
      },
      [&](std::size_t i, const secequiv::Reply& reply) -> std::string {
        const Part& part = parts[i];
        if (reply.outcome == Outcome::kAnswered)
          return read_replies(reply.body,
                              std::span(out[part.program]).subspan(part.first, part.count));
        if (failed) return {};
        if (reply.outcome == Outcome::kRefused) refused = part.program;
        failed = failure(reply.outcome, reply.detail, reply.exit_status);
        return {};
      });
  if (!failed) return out;
  if (!refused) return *failed;
  const ProgramView program = programs[*refused].program;
  ASSIGN_OR_RETURN(const auto accepted, accepts_one(program));
  if (accepted) return *failed;
  return make_error(
      ErrorCode::kRejected, "kernel",
      fmt::format("the booted kernel refuses this program of {} instructions", program.size()));
}

// Returns the two words that every filter loads. All calls are made by one instruction of one
// program, which was linked to a fixed address or moved only once.
Result<std::uint64_t> BootedKernel::instruction_pointer(const Entry& entry) {
  SeccompData seen;
  seen.set_arch(entry.audit);
  SeccompData call;
  call.set_nr(entry.harmless);
  for (std::uint32_t word = kIpWord; word < kArgsWord; ++word) {
    const Program loads = {{kLdWAbs, 0, 0, word * 4}, {kRetA, 0, 0, 0}};
    ASSIGN_OR_RETURN(const auto instrumented, instrument(loads, direct_loads(), {}));
    for (const Pass& pass : instrumented.passes) {
      const Asked asked{pass.program, {&call, 1}};
      ASSIGN_OR_RETURN(const auto replies, ask({&asked, 1}, entry));
      seen.words[word] |= std::uint32_t{replies[0][0].number} << pass.shift;
    }
  }
  return seen.field(kIpField, entry.endian);
}

}  // namespace

Result<std::vector<std::string>> boot_command(const std::string& name, const std::string& script) {
  constexpr std::string_view kServe = "serve:";
  if (name.starts_with(kServe)) {
    const std::string command = name.substr(kServe.size());
    if (command.find_first_not_of(" \t\n") == std::string::npos)
      return make_error(ErrorCode::kUsage, name, "expected a command, found none");
    return std::vector<std::string>{"/bin/sh", "-c", command};
  }
  const std::size_t at = name.find('@');
  const std::string arch = name.substr(0, at);
  const bool plain = !arch.empty() && std::ranges::all_of(arch, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!plain || at + 1 == name.size())
    return make_error(ErrorCode::kUsage, name,
                      "expected ARCH, ARCH@VERSION or serve:COMMAND as the kernel to boot");
  if (script.empty())
    return make_error(ErrorCode::kUnavailable, name,
                      "found no scripts/kernels, which boots kernels, in a folder above this "
                      "program; SECEQUIV_KERNELS can name it");
  std::vector<std::string> out = {script, "serve", arch};
  if (at != std::string::npos) out.insert(out.end(), {"--version", name.substr(at + 1)});
  return out;
}

Result<std::unique_ptr<Kernel>> boot(const std::string& name) {
  ASSIGN_OR_RETURN(auto argv, boot_command(name, kernels_script()));
  auto out = std::make_unique<BootedKernel>(std::move(argv));
  if (auto s = out->read_info(); !s) {
    s.error().where = name;
    return s.error();
  }
  return std::unique_ptr<Kernel>(std::move(out));
}

}  // namespace secequiv::kernel
