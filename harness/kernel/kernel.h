// A Linux kernel that runs filters: the one that runs this process (running.h), or one that an
// emulator booted (booted.h). Owns the requests that a kernel answers. It must not know the model
// nor what the answers are compared with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "harness/bpf/seccomp_data.h"

namespace secequiv::kernel {

// The kernel's answer to one call.
struct Reply {
  std::uint16_t number = 0;  // the error number
  bool killed = false;       // instead of an error number, SIGSYS ended the process

  friend bool operator==(const Reply&, const Reply&) = default;
};

// A way for calls into a kernel.
struct Entry {
  std::string name;         // "x86_64"
  std::uint32_t audit = 0;  // the value of seccomp_data.arch
  Endian endian = Endian::kLittle;
  unsigned argument_bits = 64;  // a caller chooses this many low bits of each argument
  std::uint32_t harmless = 0;   // a number that filters see and whose call changes nothing

  friend bool operator==(const Entry&, const Entry&) = default;
};

// One program and the calls that it decides. Both must outlive the request.
struct Asked {
  ProgramView program;
  std::span<const SeccompData> calls;
};

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // Returns the release: "6.18.5".
  [[nodiscard]] virtual std::string release() const = 0;
  // Returns where a booted kernel comes from: "s390x". Empty for the running kernel.
  [[nodiscard]] virtual std::string booted_as() const { return {}; }
  // Returns the ways into this kernel, that of its own architecture first. There is at least one.
  [[nodiscard]] virtual std::span<const Entry> entries() const = 0;

  // Returns for each program whether the kernel accepts it. Errors: kUnavailable.
  virtual Result<std::vector<bool>> accepts(std::span<const Program> programs) = 0;

  // Installs each program alone and makes its calls: word 0 is the number, and words 4 to 15 are
  // the arguments. No call runs. If a call kills the process, a new one continues with the next
  // call. Precondition: every return of the programs is an error number. Errors: kRejected (the
  // kernel refuses a program); kUnavailable; kInternal (a call ran); kBudget if the user
  // interrupts it.
  virtual Result<std::vector<std::vector<Reply>>> ask(std::span<const Asked> programs,
                                                      const Entry& entry) = 0;

  // Returns the instruction pointer that filters see for the calls of ask(). Errors: as ask().
  virtual Result<std::uint64_t> instruction_pointer(const Entry& entry) = 0;

  // Checks that no other filter can decide before the one of ask(). Errors: kUnavailable.
  virtual Status unfiltered() = 0;
};

}  // namespace secequiv::kernel
