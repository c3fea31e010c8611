#include "harness/adapter/frames.h"

#include <fmt/format.h>

#include "harness/base/bytes.h"
#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kLongestName = 200;  // bytes

Error wrong(std::string what) { return make_error(ErrorCode::kParse, {}, std::move(what)); }

std::vector<std::uint32_t> words(std::string_view body) {
  std::vector<std::uint32_t> out;
  out.reserve(body.size() / kWordBytes);
  while (!body.empty()) out.push_back(take_bytes(body));
  return out;
}

// Removes the name of stage number `stage`, with its length, from the front of `body`.
Result<std::string> take_name(std::string_view& body, std::size_t stage) {
  if (body.size() < kWordBytes)
    return wrong(
        fmt::format("expected the length of the name of stage {} (4 bytes), found {} bytes", stage,
                    body.size()));
  const std::size_t size = take_bytes(body);
  if (size == 0 || size > kLongestName || size > body.size())
    return wrong(fmt::format(
        "expected a name of 1 to {} bytes for stage {}, found the length {} with {} left",
        kLongestName, stage, size, counted(body.size(), "byte")));
  std::string name(body.substr(0, size));
  body.remove_prefix(size);
  if (std::string shown = printable(name, false); shown != name)
    return wrong(
        fmt::format("expected printable UTF-8 as the name of stage {}, found '{}'", stage, shown));
  return name;
}

// Removes the program of stage number `stage`, with its length, from the front of `body`.
Result<Program> take_program(std::string_view& body, std::size_t stage) {
  if (body.size() < kWordBytes)
    return wrong(
        fmt::format("expected the number of instructions of stage {} (4 bytes), found {} bytes",
                    stage, body.size()));
  const std::size_t count = take_bytes(body);
  if (count == 0 || count > body.size() / sizeof(Insn))
    return wrong(
        fmt::format("expected at least one instruction of 8 bytes for stage {}, found the count {} "
                    "with {} left",
                    stage, count, counted(body.size(), "byte")));
  auto program = decode_program(body.substr(0, count * sizeof(Insn)));
  body.remove_prefix(count * sizeof(Insn));
  return program;
}

}  // namespace

std::uint32_t frame_length(std::string_view bytes) { return take_bytes(bytes); }

void append_frame(std::string& out, std::string_view body) {
  append_bytes(out, static_cast<std::uint32_t>(body.size()));
  out += body;
}

std::string optimize_request(ProgramView program) {
  return static_cast<char>(RequestKind::kOptimize) + write_program(program, Form::kRaw);
}

std::string stages_request(ProgramView program) {
  return static_cast<char>(RequestKind::kStages) + write_program(program, Form::kRaw);
}

std::string compile_request(std::string_view policy) {
  return static_cast<char>(RequestKind::kCompile) + std::string(policy);
}

std::string evaluate_request(ProgramView program, std::span<const SeccompData> inputs) {
  std::string out(1, static_cast<char>(RequestKind::kEvaluate));
  append_bytes(out, static_cast<std::uint32_t>(program.size()));
  out += write_program(program, Form::kRaw);
  return out + input_bytes(inputs);
}

Result<Program> decode_program(std::string_view body) {
  if (body.empty() || body.size() % sizeof(Insn) != 0)
    return wrong(fmt::format(
        "expected a program (8 bytes for each instruction, at least one), found {} bytes",
        body.size()));
  return read_program(body, "answer", Form::kRaw);
}

Result<std::vector<std::uint32_t>> decode_values(std::string_view body, std::size_t count) {
  if (body.size() != count * kWordBytes)
    return wrong(fmt::format("expected {} values of 4 bytes, one for each input, found {} bytes",
                             count, body.size()));
  return words(body);
}

Result<std::vector<std::uint32_t>> decode_edges(std::string_view body) {
  if (body.size() % kWordBytes != 0)
    return wrong(
        fmt::format("expected the numbers of edges, 4 bytes each, found {} bytes", body.size()));
  return words(body);
}

Result<std::vector<OptimizerStage>> decode_stages(std::string_view body) {
  std::vector<OptimizerStage> out;
  while (!body.empty()) {
    ASSIGN_OR_RETURN(auto name, take_name(body, out.size() + 1));
    ASSIGN_OR_RETURN(auto program, take_program(body, out.size() + 1));
    out.push_back({std::move(name), std::move(program)});
  }
  return out;
}

Result<Request> decode_request(std::string_view body) {
  if (body.empty()) return wrong("expected a request, found an empty frame");
  Request request;
  request.kind = static_cast<RequestKind>(body[0]);
  body.remove_prefix(1);
  switch (request.kind) {
    case RequestKind::kFunctions:
    case RequestKind::kReached:
      return request;
    case RequestKind::kCompile:
      request.policy = body;
      return request;
    case RequestKind::kOptimize:
    case RequestKind::kStages: {
      ASSIGN_OR_RETURN(auto program, decode_program(body));
      request.program = std::move(program);
      return request;
    }
    case RequestKind::kEvaluate: {
      if (body.size() < kWordBytes) return wrong("expected a number of instructions, found none");
      const std::size_t bytes = std::size_t{take_bytes(body)} * sizeof(Insn);
      if (body.size() < bytes || (body.size() - bytes) % sizeof(SeccompData) != 0)
        return wrong(
            fmt::format("expected {} bytes of program and 64 for each input, found {} bytes", bytes,
                        body.size()));
      ASSIGN_OR_RETURN(request.program, decode_program(body.substr(0, bytes)));
      request.inputs = inputs_from(body.substr(bytes));
      return request;
    }
  }
  return make_error(ErrorCode::kUsage, {},
                    fmt::format("expected a request of kind O, S, R, C or E, found kind {:#04x}",
                                static_cast<unsigned char>(request.kind)));
}

std::string values_body(std::span<const std::uint32_t> values) {
  std::string out;
  out.reserve(values.size() * kWordBytes);
  for (const std::uint32_t value : values) append_bytes(out, value);
  return out;
}

std::string stages_body(std::span<const OptimizerStage> stages) {
  std::string out;
  for (const OptimizerStage& stage : stages) {
    append_bytes(out, static_cast<std::uint32_t>(stage.pass.size()));
    out += stage.pass;
    append_bytes(out, static_cast<std::uint32_t>(stage.program.size()));
    out += write_program(stage.program, Form::kRaw);
  }
  return out;
}

}  // namespace secequiv
