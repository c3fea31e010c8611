#include <utility>

#include "harness/adapter/frames.h"
#include "harness/adapter/server.h"
#include "harness/adapter/transports.h"
#include "harness/policy/normal_form.h"

namespace secequiv::detail {
namespace {

// Stores the reply. Returns what Server::Take returns. `decode(body)` returns a Result<T>.
template <class T, class Decode>
std::string take(Answer<T>& answer, Reply reply, const Decode& decode) {
  answer.outcome = reply.outcome;
  answer.detail = std::move(reply.detail);
  answer.seconds = reply.seconds;
  answer.cause = std::move(reply.cause);
  if (!answer.ok()) return {};
  Result<T> value = decode(reply.body);
  if (!value) return std::move(value.error().detail);
  answer.value = std::move(*value);
  return {};
}

template <class T, class Decode>
std::vector<Answer<T>> ask_all(Server& server, std::size_t count, const Server::Encode& encode,
                               const Decode& decode) {
  std::vector<Answer<T>> answers(count);
  server.ask_all(count, encode, [&](std::size_t i, Reply reply) {
    return take(answers[i], std::move(reply), decode);
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
    if (reports_edges_) return optimize_and_count(programs);
    return ask_all<Program>(
        server_, programs.size(), [&](std::size_t i) { return optimize_request(programs[i]); },
        decode_program);
  }
  bool report_edges() override {
    const Answer<std::string> answer = server_.ask(reached_request());
    const auto edges = decode_edges(answer.value);
    reports_edges_ = answer.ok() && edges;
    if (reports_edges_) add(*edges);
    return reports_edges_;
  }
  [[nodiscard]] std::vector<std::size_t> new_edges() const override { return new_edges_; }
  Answer<std::vector<OptimizerStage>> stages(ProgramView program) override {
    return ask<std::vector<OptimizerStage>>(
        server_, [&](std::size_t) { return stages_request(program); }, decode_stages);
  }

 private:
  static std::string reached_request() { return {static_cast<char>(RequestKind::kReached)}; }

  static constexpr std::size_t kMostEdges = std::size_t{1} << 22;

  // Asks for the reached edges before the first program and after each program, without waiting for
  // answers. Edges reported before the first program belong to other requests and do not count.
  std::vector<Answer<Program>> optimize_and_count(std::span<const Program> programs) {
    new_edges_.assign(programs.size(), 0);
    std::vector<Answer<Program>> answers(programs.size());
    server_.ask_all(
        2 * programs.size() + 1,
        [&](std::size_t i) {
          return i % 2 == 0 ? reached_request() : optimize_request(programs[i / 2]);
        },
        [&](std::size_t i, Reply reply) {
          return i % 2 == 1 ? take(answers[i / 2], std::move(reply), decode_program)
                            : take_edges(i / 2, reply);
        });
    return answers;
  }

  // Receives the edges after the program with this number, counted from 1.
  std::string take_edges(std::size_t number, const Reply& reply) {
    if (reply.outcome != Outcome::kAnswered) return {};
    const auto edges = decode_edges(reply.body);
    if (!edges) return edges.error().detail;
    if (number > 0) new_edges_[number - 1] = add(*edges);
    return {};
  }

  // Returns how many of the edges are new.
  std::size_t add(std::span<const std::uint32_t> edges) {
    std::size_t out = 0;
    for (const std::uint32_t edge : edges) {
      out += edges_[edge % kMostEdges] ? 0 : 1;
      edges_[edge % kMostEdges] = true;
    }
    return out;
  }

  Server server_;
  bool reports_edges_ = false;
  std::vector<bool> edges_ = std::vector<bool>(kMostEdges);
  std::vector<std::size_t> new_edges_;
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
