#include <utility>

#include "harness/adapter/frames.h"
#include "harness/adapter/server.h"
#include "harness/adapter/transports.h"
#include "harness/policy/normal_form.h"

namespace secequiv::detail {
namespace {

// `decode(i, body)` returns a Result<T>.
template <class T, class Decode>
std::vector<Answer<T>> ask_all(Server& server, std::size_t count, const Server::Encode& encode,
                               const Decode& decode) {
  std::vector<Answer<T>> answers(count);
  server.ask_all(count, encode, [&](std::size_t i, Reply reply) -> std::string {
    Answer<T>& answer = answers[i];
    answer.outcome = reply.outcome;
    answer.detail = std::move(reply.detail);
    answer.seconds = reply.seconds;
    answer.cause = std::move(reply.cause);
    if (!answer.ok()) return {};
    Result<T> value = decode(reply.body);
    if (!value) return std::move(value.error().detail);
    answer.value = std::move(*value);
    return {};
  });
  return answers;
}

template <class T, class Decode>
Answer<T> ask(Server& server, const Server::Encode& encode, const Decode& decode) {
  return std::move(ask_all<T>(server, 1, encode, decode)[0]);
}

class ServedOptimizer final : public Optimizer {
 public:
  ServedOptimizer(std::vector<std::string> argv, const AdapterLimits& limits)
      : server_(std::move(argv), limits) {}
  Answer<Program> optimize(ProgramView program) override {
    return ask<Program>(
        server_, [&](std::size_t) { return optimize_request(program); }, decode_program);
  }
  std::vector<Answer<Program>> optimize_all(std::span<const Program> programs) override {
    return ask_all<Program>(
        server_, programs.size(), [&](std::size_t i) { return optimize_request(programs[i]); },
        decode_program);
  }
  Answer<std::vector<OptimizerStage>> stages(ProgramView program) override {
    return ask<std::vector<OptimizerStage>>(
        server_, [&](std::size_t) { return stages_request(program); }, decode_stages);
  }

 private:
  Server server_;
};

class ServedCompiler final : public TextCompiler {
 public:
  ServedCompiler(std::vector<std::string> argv, const AdapterLimits& limits)
      : server_(std::move(argv), limits) {}

 private:
  Answer<Program> compile_text(std::string_view policy) override {
    return ask<Program>(
        server_, [&](std::size_t) { return compile_request(policy); }, decode_program);
  }

  Server server_;
};

class ServedEvaluator final : public Evaluator {
 public:
  ServedEvaluator(std::vector<std::string> argv, const AdapterLimits& limits)
      : server_(std::move(argv), limits) {}
  Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                              std::span<const SeccompData> inputs) override {
    return ask<std::vector<std::uint32_t>>(
        server_, [&](std::size_t) { return evaluate_request(program, inputs); },
        [&](std::string_view body) { return decode_values(body, inputs.size()); });
  }

 private:
  Server server_;
};

}  // namespace

Answer<Program> TextCompiler::compile(const Policy& policy) {
  const auto text = write_normal_form(policy);
  if (!text) return {Outcome::kUnsupported, {}, text.error().detail, 0};
  return compile_text(*text);
}

std::unique_ptr<Optimizer> served_optimizer(std::vector<std::string> argv,
                                            const AdapterLimits& limits) {
  return std::make_unique<ServedOptimizer>(std::move(argv), limits);
}

std::unique_ptr<Compiler> served_compiler(std::vector<std::string> argv,
                                          const AdapterLimits& limits) {
  return std::make_unique<ServedCompiler>(std::move(argv), limits);
}

std::unique_ptr<Evaluator> served_evaluator(std::vector<std::string> argv,
                                            const AdapterLimits& limits) {
  return std::make_unique<ServedEvaluator>(std::move(argv), limits);
}

}  // namespace secequiv::detail
