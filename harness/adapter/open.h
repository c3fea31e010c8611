// Opens the adapter that a user's specification names. Owns the syntax of specifications
// (PROTOCOL.md):
//   serve:COMMAND   runs for many requests and speaks frames
//   plugin:FILE     a shared object with the C interface of plugin.h, in a process of its own
//   COMMAND         runs once per request with /bin/sh -c: program on standard input, program on
//                   standard output; `{}` is a file that it changes in place; `{in}` and `{out}`
//                   are files that it reads and writes
// It must not know the built-in adapters (adapters/builtin).
#pragma once

#include <memory>
#include <string>

#include "harness/adapter/interfaces.h"
#include "harness/base/result.h"
#include "harness/bpf/text.h"

namespace secequiv {

struct AdapterOptions {
  AdapterLimits limits;
  Form form = Form::kRaw;  // the form of a command's input; the form of its output is detected
  // Path of the program that hosts plugins (`HOST plugin-host FILE`): this executable.
  std::string plugin_host;
  unsigned at_once = 1;  // runs of a COMMAND at the same time
};

// Errors: kUsage (a placeholder without its partner), kIo (a plugin that cannot be loaded).
// Commands start only with the first request.
Result<std::unique_ptr<Optimizer>> open_optimizer(const std::string& spec,
                                                  const AdapterOptions& options);
Result<std::unique_ptr<Compiler>> open_compiler(const std::string& spec,
                                                const AdapterOptions& options);
Result<std::unique_ptr<Evaluator>> open_evaluator(const std::string& spec,
                                                  const AdapterOptions& options);

}  // namespace secequiv
