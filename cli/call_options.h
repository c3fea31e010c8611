// One system call, given by options. Owns --nr --call-arch --ip --arg --words.
#pragma once

#include "cli/common.h"
#include "harness/seccomp/data.h"

namespace secequiv::cli {

struct CallOptions {
  std::string call_arch;  // empty: the host's
  std::string nr = "0";
  std::string ip = "0";
  std::vector<std::string> args;   // "0=3"
  std::vector<std::string> words;  // all sixteen, instead of the fields

  // Also declares the options about the host, which go to `options`.
  void add(CLI::App& app, Options& options);

  // The call. Without --arch the host gets the call's architecture.
  Result<SeccompData> read(Options& options) const;

 private:
  [[nodiscard]] Result<SeccompData> fields(const std::string& host) const;

  const CLI::Option* host_ = nullptr;  // --arch
};

}  // namespace secequiv::cli
