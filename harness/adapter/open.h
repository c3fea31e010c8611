// From what a user writes behind --optimizer, --compiler or --evaluator to something that answers.
// Owns that little language (PROTOCOL.md):
//   serve:COMMAND   runs for many requests, speaks frames
//   plugin:FILE     a shared object with the C interface of plugin.h, in a process of its own
//   COMMAND         runs once a request with /bin/sh -c: program on standard input, program on
//                   standard output; `{}` is a file it changes in place; `{in}` and `{out}` files
//                   it reads and writes
// It must not know the built-in ones (adapters).
#pragma once

#include <memory>
#include <string>

#include "harness/adapter/interfaces.h"
#include "harness/base/result.h"
#include "harness/bpf/text.h"

namespace secequiv {

struct AdapterOptions {
  AdapterLimits limits;
  Form form = Form::kRaw;  // in which a command gets its program; its answer is read by content
  // Path of the program that hosts plugins (`HOST plugin-host FILE`): this one.
  std::string plugin_host;
};

// Errors: kUsage (a placeholder without its partner), kIo (no such plugin). Nothing is started
// before the first request, except that a plugin that cannot be loaded is an error at once.
Result<std::unique_ptr<Optimizer>> open_optimizer(const std::string& spec,
                                                  const AdapterOptions& options);
Result<std::unique_ptr<Compiler>> open_compiler(const std::string& spec,
                                                const AdapterOptions& options);
Result<std::unique_ptr<Evaluator>> open_evaluator(const std::string& spec,
                                                  const AdapterOptions& options);

}  // namespace secequiv
