#include "harness/adapter/open.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "harness/adapter/frames.h"
#include "harness/adapter/server.h"
#include "harness/adapter/transports.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;

// AddressSanitizer reserves more memory than any limit, so a host built with it gets no limit.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kHostTakesLimit = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kHostTakesLimit = false;
#else
constexpr bool kHostTakesLimit = true;
#endif
#else
constexpr bool kHostTakesLimit = true;
#endif

struct Served {
  std::vector<std::string> argv;
  AdapterLimits limits;
};

Error cannot_load(const std::string& file, std::string what) {
  return make_error(ErrorCode::kIo, file, std::move(what));
}

// Starts a process to check whether `file` can be loaded and has `function`.
Result<Served> host_plugin(const std::string& file, const AdapterOptions& options,
                           RequestKind function, std::string_view function_name) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  if (error || !fs::is_regular_file(path, error))
    return cannot_load(file, "expected a plugin (a shared object), found no such file");
  Served served{{options.plugin_host, "plugin-host", path.string()}, options.limits};
  if (!kHostTakesLimit) served.limits.memory_bytes = 0;
  const std::string request(1, static_cast<char>(RequestKind::kFunctions));
  const Answer<std::string> answer = Server(served.argv, served.limits).ask(request);
  if (!answer.ok())
    return cannot_load(file, fmt::format("cannot load this plugin: {}", answer.detail));
  if (answer.value.find(static_cast<char>(function)) == std::string::npos)
    return cannot_load(file, fmt::format("expected a plugin with {}, found none", function_name));
  return served;
}

// Describes one of the three kinds of adapters: its request, and the functions that open it.
template <class T>
struct Kind {
  RequestKind request;
  std::string_view function;  // the function that a plugin must define
  std::unique_ptr<T> (*served)(std::vector<std::string>, const AdapterLimits&);
  Result<std::unique_ptr<T>> (*command)(const std::string&, const AdapterOptions&);
};

template <class T>
Result<std::unique_ptr<T>> open(const Kind<T>& kind, const std::string& spec,
                                const AdapterOptions& options) {
  constexpr std::string_view kServe = "serve:";
  constexpr std::string_view kPlugin = "plugin:";
  const bool serve = spec.starts_with(kServe);
  const bool plugin = spec.starts_with(kPlugin);
  const std::string rest = spec.substr(serve ? kServe.size() : plugin ? kPlugin.size() : 0);
  if (rest.find_first_not_of(" \t\n") == std::string::npos)
    return make_error(ErrorCode::kUsage, spec,
                      fmt::format("expected a {}, found none", plugin ? "file" : "command"));
  if (serve) return kind.served({"/bin/sh", "-c", rest}, options.limits);
  if (!plugin) return kind.command(rest, options);
  auto host = host_plugin(rest, options, kind.request, kind.function);
  if (!host) return host.error();
  return kind.served(std::move(host->argv), host->limits);
}

}  // namespace

Result<std::unique_ptr<Optimizer>> open_optimizer(const std::string& spec,
                                                  const AdapterOptions& options) {
  return open<Optimizer>({RequestKind::kOptimize, "secequiv_optimize", detail::served_optimizer,
                          detail::command_optimizer},
                         spec, options);
}

Result<std::unique_ptr<Compiler>> open_compiler(const std::string& spec,
                                                const AdapterOptions& options) {
  return open<Compiler>({RequestKind::kCompile, "secequiv_compile", detail::served_compiler,
                         detail::command_compiler},
                        spec, options);
}

Result<std::unique_ptr<Evaluator>> open_evaluator(const std::string& spec,
                                                  const AdapterOptions& options) {
  return open<Evaluator>({RequestKind::kEvaluate, "secequiv_evaluate", detail::served_evaluator,
                          detail::command_evaluator},
                         spec, options);
}

}  // namespace secequiv
