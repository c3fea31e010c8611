// Reads a system call from options. Owns --nr, --call-arch, --ip, --arg, --words and --audit. It
// must not know what runs the call.
#pragma once

#include "cli/options.h"
#include "harness/seccomp/call_text.h"

namespace secequiv::cli {

struct CallOptions {
  CallText fields;
  std::string record;  // a line of the audit log, instead of the fields

  // Also declares the options about the host, whose values go to `options`.
  void add(Command& command, Options& options);

  // Returns the call. Without --arch the host gets the call's architecture.
  Result<SeccompData> read(Options& options);

  // Returns whether the command line describes a call.
  [[nodiscard]] bool given() const;

  // Returns the action in the audit record. Call it after read().
  [[nodiscard]] std::optional<std::uint32_t> recorded() const { return recorded_; }

 private:
  Result<SeccompData> from_record(const Options& options);

  const Option* host_ = nullptr;    // --arch
  const Option* number_ = nullptr;  // --nr
  std::optional<std::uint32_t> recorded_;
};

}  // namespace secequiv::cli
