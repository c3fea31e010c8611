// The other side of `plugin:FILE`: a plugin in this process. Owns loading it, calling its functions
// and answering frames with it. It must not know who sends requests. A crash of the plugin ends
// this process.
#pragma once

#include <memory>
#include <string>

#include "harness/adapter/interfaces.h"
#include "harness/adapter/plugin.h"
#include "harness/base/result.h"

namespace secequiv {

// A plugin's functions; null if it does not define one.
struct PluginFunctions {
  decltype(&secequiv_optimize) optimize = nullptr;
  decltype(&secequiv_compile) compile = nullptr;
  decltype(&secequiv_evaluate) evaluate = nullptr;
};

// A plugin behind all three interfaces. A missing function answers kUnsupported. kGarbage: the
// plugin returned an unknown status, or more instructions than there was room for.
class Plugin final : public Optimizer, public Compiler, public Evaluator {
 public:
  // A plugin that is part of this program.
  explicit Plugin(const PluginFunctions& functions);
  ~Plugin() override;

  // The letters of "OCE" (optimize, compile, evaluate) for which it has functions.
  [[nodiscard]] const std::string& functions() const { return functions_; }

  Answer<Program> optimize(ProgramView program) override;
  Answer<Program> compile(std::string_view policy) override;
  Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                              std::span<const SeccompData> inputs) override;

 private:
  friend Result<std::unique_ptr<Plugin>> load_plugin(const std::string& file);

  void* library_ = nullptr;  // of dlopen
  PluginFunctions loaded_;
  std::string functions_;
};

// Errors: kIo with dlopen's message, or with the function or version that was expected. Loading
// runs the plugin's constructors.
Result<std::unique_ptr<Plugin>> load_plugin(const std::string& file);

// Answers requests from standard input on standard output with the plugin in `file`, until the
// input ends. Meanwhile the plugin's standard input is empty and its standard output is standard
// error. Errors: those of load_plugin, which also become the first answer; kIo for a truncated
// request or an answer that cannot be written; kParse for a malformed request.
Status host_plugin(const std::string& file);

}  // namespace secequiv
