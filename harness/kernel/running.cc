#include "harness/kernel/running.h"

#include <sys/utsname.h>

#include <array>
#include <fstream>

#include "harness/kernel/acceptance.h"
#include "harness/kernel/traced.h"
#include "harness/seccomp/arch.h"

namespace secequiv::kernel {
namespace {

constexpr std::uint32_t kGetpid = 39;  // no container's filter forbids it

Instruction instruction_of(const Entry& entry) {
  return entry.audit == AUDIT_ARCH_I386 ? Instruction::kInt80 : Instruction::kSyscall;
}

class RunningKernel final : public Kernel {
 public:
  [[nodiscard]] std::string release() const override { return kernel::release(); }
  [[nodiscard]] std::span<const Entry> entries() const override { return entries_; }

  Result<std::vector<bool>> accepts(std::span<const Program> programs) override {
    return kernel::accepts(programs);
  }

  Result<std::vector<std::vector<Reply>>> ask(std::span<const Asked> programs,
                                              const Entry& entry) override {
    std::vector<std::vector<Reply>> out;
    for (const Asked& asked : programs) {
      ASSIGN_OR_RETURN(auto traced, Traced::start(asked.program));
      ASSIGN_OR_RETURN(auto replies, traced->ask(asked.calls, instruction_of(entry)));
      out.push_back(std::move(replies));
    }
    return out;
  }

  Result<std::uint64_t> instruction_pointer(const Entry& entry) override {
    return instruction_pointer_of(instruction_of(entry));
  }

  Status unfiltered() override {
    if (!is_filtered_already()) return Ok{};
    return make_error(ErrorCode::kUnavailable, "kernel",
                      "this process already has a seccomp filter, which may decide first");
  }

 private:
  // A 64-bit process makes the calls by both entries, so every argument has 64 bits.
  std::array<Entry, 2> entries_ = {Entry{"x86_64", AUDIT_ARCH_X86_64, Endian::kLittle, 64, kGetpid},
                                   Entry{"i386", AUDIT_ARCH_I386, Endian::kLittle, 64, kGetpid}};
};

}  // namespace

Kernel& running() {
  static RunningKernel kernel;
  return kernel;
}

std::string release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "";
}

bool is_filtered_already() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp:")) return line.find_first_of("12") != line.npos;
  return true;
}

}  // namespace secequiv::kernel
