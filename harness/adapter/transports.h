// Adapters that reach code under test through a command or a served process. Owns the contents of
// files, pipes and frames and the meaning of answers. It must not know how users name adapters
// (open.cc) nor how processes run (command.h, server.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/adapter/open.h"

namespace secequiv::detail {

// Returns whether the command has the placeholder `{name}`, which stands for a file. `${name}`
// belongs to the shell.
bool has_placeholder(const std::string& command, const std::string& name);
std::string replace_placeholder(const std::string& command, const std::string& name,
                                const std::string& path);

// A compiler that gets the policy's normal form. If a policy is too large for this form, the
// outcome is kUnsupported.
class TextCompiler : public Compiler {
 public:
  Answer<Program> compile(const Policy& policy) final;

 private:
  virtual Answer<Program> compile_text(std::string_view policy) = 0;
};

// Runs a command once for each request. Errors: kUsage.
Result<std::unique_ptr<Optimizer>> command_optimizer(const std::string& command,
                                                     const AdapterOptions& options);
Result<std::unique_ptr<Compiler>> command_compiler(const std::string& command,
                                                   const AdapterOptions& options);
Result<std::unique_ptr<Evaluator>> command_evaluator(const std::string& command,
                                                     const AdapterOptions& options);

// Starts one process that answers frames.
std::unique_ptr<Optimizer> served_optimizer(std::vector<std::string> argv,
                                            const AdapterLimits& limits);
std::unique_ptr<Compiler> served_compiler(std::vector<std::string> argv,
                                          const AdapterLimits& limits);
std::unique_ptr<Evaluator> served_evaluator(std::vector<std::string> argv,
                                            const AdapterLimits& limits);

}  // namespace secequiv::detail
