#include "harness/adapter/frames.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/bpf/text.h"

namespace secequiv {
namespace {

constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kLongestName = 200;  // bytes

void put(std::string& out, std::uint32_t value) {
  for (std::size_t shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>(value >> shift & 0xff));
}

std::uint32_t get(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = kWordBytes; i-- > 0;)
    value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

Error wrong(std::string what) { return make_error(ErrorCode::kParse, {}, std::move(what)); }

// Takes a name and its length off the front of `body`, which belong to stage number `stage`.
Result<std::string> take_name(std::string_view& body, std::size_t stage) {
  if (body.size() < kWordBytes)
    return wrong(
        fmt::format("expected the length of the name of stage {} (4 bytes), found {} bytes", stage,
                    body.size()));
  const std::size_t size = get(body);
  body.remove_prefix(kWordBytes);
  if (size == 0 || size > kLongestName || size > body.size())
    return wrong(fmt::format("expected a name of 1 to {} bytes for stage {}, found one of {} in {}",
                             kLongestName, stage, size, body.size()));
  std::string name(body.substr(0, size));
  body.remove_prefix(size);
  if (std::string shown = printable(name, false); shown != name)
    return wrong(
        fmt::format("expected printable UTF-8 as the name of stage {}, found '{}'", stage, shown));
  return name;
}

// Likewise a program.
Result<Program> take_program(std::string_view& body, std::size_t stage) {
  if (body.size() < kWordBytes)
    return wrong(
        fmt::format("expected the number of instructions of stage {} (4 bytes), found {} bytes",
                    stage, body.size()));
  const std::size_t count = get(body);
  body.remove_prefix(kWordBytes);
  if (count == 0 || count > body.size() / sizeof(Insn))
    return wrong(fmt::format(
        "expected at least one instruction of 8 bytes for stage {}, found {} in {} bytes", stage,
        count, body.size()));
  auto program = decode_program(body.substr(0, count * sizeof(Insn)));
  body.remove_prefix(count * sizeof(Insn));
  return program;
}

}  // namespace

std::uint32_t frame_length(std::string_view bytes) { return get(bytes); }

void append_frame(std::string& out, std::string_view body) {
  put(out, static_cast<std::uint32_t>(body.size()));
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
  put(out, static_cast<std::uint32_t>(program.size()));
  out += write_program(program, Form::kRaw);
  for (const SeccompData& input : inputs)
    for (const std::uint32_t word : input.words) put(out, word);
  return out;
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
  std::vector<std::uint32_t> out;
  out.reserve(count);
  for (; !body.empty(); body.remove_prefix(kWordBytes)) out.push_back(get(body));
  return out;
}

Result<std::vector<OptimizerStage>> decode_stages(std::string_view body) {
  std::vector<OptimizerStage> out;
  while (!body.empty()) {
    auto name = take_name(body, out.size() + 1);
    if (!name) return name.error();
    auto program = take_program(body, out.size() + 1);
    if (!program) return program.error();
    out.push_back({std::move(*name), std::move(*program)});
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
      return request;
    case RequestKind::kCompile:
      request.policy = body;
      return request;
    case RequestKind::kOptimize:
    case RequestKind::kStages: {
      auto program = decode_program(body);
      if (!program) return program.error();
      request.program = std::move(*program);
      return request;
    }
    case RequestKind::kEvaluate: {
      if (body.size() < kWordBytes) return wrong("expected a number of instructions, found none");
      const std::size_t bytes = std::size_t{get(body)} * sizeof(Insn);
      body.remove_prefix(kWordBytes);
      if (body.size() < bytes || (body.size() - bytes) % sizeof(SeccompData) != 0)
        return wrong(fmt::format("expected {} bytes of program and 64 for each input, found {}",
                                 bytes, body.size()));
      auto program = decode_program(body.substr(0, bytes));
      if (!program) return program.error();
      request.program = std::move(*program);
      for (body.remove_prefix(bytes); !body.empty();) {
        for (std::uint32_t& word : request.inputs.emplace_back().words) {
          word = get(body);
          body.remove_prefix(kWordBytes);
        }
      }
      return request;
    }
  }
  return make_error(ErrorCode::kUsage, {},
                    fmt::format("expected a request of kind O, S, C or E, found kind {:#04x}",
                                static_cast<unsigned char>(request.kind)));
}

std::string values_body(std::span<const std::uint32_t> values) {
  std::string out;
  out.reserve(values.size() * kWordBytes);
  for (const std::uint32_t value : values) put(out, value);
  return out;
}

std::string stages_body(std::span<const OptimizerStage> stages) {
  std::string out;
  for (const OptimizerStage& stage : stages) {
    put(out, static_cast<std::uint32_t>(stage.pass.size()));
    out += stage.pass;
    put(out, static_cast<std::uint32_t>(stage.program.size()));
    out += write_program(stage.program, Form::kRaw);
  }
  return out;
}

}  // namespace secequiv
