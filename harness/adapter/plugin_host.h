// The process behind `plugin:FILE`, which runs the plugin. Owns loading a plugin, calling its
// functions, and answering the requests in frames. It must not know who sends requests. A crash of
// the plugin ends this process.
#pragma once

#include <memory>
#include <string>

#include "harness/adapter/interfaces.h"
#include "harness/adapter/plugin.h"
#include "harness/base/result.h"

namespace secequiv {

// A plugin's functions; null for each one that it does not define.
struct PluginFunctions {
  decltype(&secequiv_optimize) optimize = nullptr;
  decltype(&secequiv_compile) compile = nullptr;
  decltype(&secequiv_evaluate) evaluate = nullptr;
};

// Gives a plugin the interfaces of an optimizer and an evaluator, and passes policies to it as
// text. The outcome is kUnsupported if the function is missing, and kGarbage if the plugin returned
// an unknown status or more instructions than there was room for.
class Plugin final : public Optimizer, public Evaluator {
 public:
  // Wraps functions that are part of this program.
  explicit Plugin(const PluginFunctions& functions);
  ~Plugin() override;

  // Returns the letters of "OCE" (optimize, compile, evaluate) for which the plugin has functions.
  [[nodiscard]] const std::string& functions() const { return functions_; }

  Answer<Program> optimize(ProgramView program) override;
  Answer<Program> compile(std::string_view policy);
  Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                              std::span<const SeccompData> inputs) override;

 private:
  friend Result<std::unique_ptr<Plugin>> load_plugin(const std::string& file);

  void* library_ = nullptr;  // the handle from dlopen
  PluginFunctions loaded_;
  std::string functions_;
};

// Loads a plugin, which runs its constructors. Errors: kIo with dlopen's message, or with the
// expected function or version.
Result<std::unique_ptr<Plugin>> load_plugin(const std::string& file);

// Answers requests from standard input on standard output with the plugin in `file`, until the
// input ends. Meanwhile the plugin's standard input is empty and its standard output is standard
// error. Errors: those of load_plugin, which the first answer reports too; kIo for a truncated
// request or an answer that cannot be written; kParse for a malformed request.
Status host_plugin(const std::string& file);

}  // namespace secequiv
