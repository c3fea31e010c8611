// One system call, as options. Owns --nr --arch --ip --arg --words --host-arch.
#pragma once

#include "cli/common.h"
#include "harness/seccomp/data.h"

namespace secequiv::cli {

struct CallOptions {
  std::string arch = "x86_64";  // of the call
  std::string nr = "0";
  std::string ip = "0";
  std::vector<std::string> args;   // "0=3"
  std::vector<std::string> words;  // all sixteen, instead of the fields

  // The host's options too, which go to `options`.
  void add(CLI::App& app, Options& options);

  // The call. Where no host was given it is the call's.
  Result<SeccompData> read(Options& options) const;

 private:
  [[nodiscard]] Result<SeccompData> fields() const;
};

}  // namespace secequiv::cli
