// The adapters that open.h opens. Owns what goes into files, pipes and frames and what is made of
// the answers. It must not know how a command line is told apart (open.cc) nor how processes are
// handled (command.h, server.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/adapter/open.h"

namespace secequiv::detail {

// Where `{name}` stands for a file, in a command. `${name}` is the shell's.
bool has_placeholder(const std::string& command, const std::string& name);
std::string replace_placeholder(const std::string& command, const std::string& name,
                                const std::string& path);

// A command, once for each request. Errors: kUsage.
Result<std::unique_ptr<Optimizer>> command_optimizer(const std::string& command,
                                                     const AdapterOptions& options);
Result<std::unique_ptr<Compiler>> command_compiler(const std::string& command,
                                                   const AdapterOptions& options);
Result<std::unique_ptr<Evaluator>> command_evaluator(const std::string& command,
                                                     const AdapterOptions& options);

// A process that answers frames.
std::unique_ptr<Optimizer> served_optimizer(std::vector<std::string> argv,
                                            const AdapterLimits& limits);
std::unique_ptr<Compiler> served_compiler(std::vector<std::string> argv,
                                          const AdapterLimits& limits);
std::unique_ptr<Evaluator> served_evaluator(std::vector<std::string> argv,
                                            const AdapterLimits& limits);

}  // namespace secequiv::detail
