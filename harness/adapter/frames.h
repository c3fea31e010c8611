// Requests and answers as bytes (PROTOCOL.md). Owns both directions, so that the client and the
// host of plugins cannot disagree. It must not know how frames travel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/adapter/interfaces.h"
#include "harness/base/result.h"

namespace secequiv {

enum class RequestKind : char {
  kOptimize = 'O',
  kStages = 'S',
  kCompile = 'C',
  kEvaluate = 'E',
  kReached = 'R',    // asks for the edges reached since the last such request
  kFunctions = 'F',  // asks which functions a plugin has; only the plugin host answers this
};

// The first byte of an answer.
enum AnswerStatus : std::uint8_t {
  kStatusAnswered = 0,
  kStatusUnsupported = 1,
  kStatusRefused = 2,
  kStatusGarbage = 255,  // the plugin gave an invalid answer; only the plugin host sends this
};

inline constexpr std::size_t kLengthBytes = 4;

// Returns the length in the first 4 bytes of `bytes`. Precondition: `bytes` has at least 4.
std::uint32_t frame_length(std::string_view bytes);
// Appends a frame of `body`.
void append_frame(std::string& out, std::string_view body);

// These functions return the bodies of requests.
std::string optimize_request(ProgramView program);
std::string stages_request(ProgramView program);
std::string compile_request(std::string_view policy);
std::string evaluate_request(ProgramView program, std::span<const SeccompData> inputs);

// Read the bytes after the status byte of an answer. Errors: kParse.
Result<Program> decode_program(std::string_view body);
Result<std::vector<std::uint32_t>> decode_values(std::string_view body, std::size_t count);
Result<std::vector<OptimizerStage>> decode_stages(std::string_view body);
Result<std::vector<std::uint32_t>> decode_edges(std::string_view body);

struct Request {
  RequestKind kind = RequestKind::kFunctions;
  Program program;
  std::string_view policy;  // points into the request
  std::vector<SeccompData> inputs;
};
// Reads a request. Errors: kParse; kUsage for an unknown kind. The answer to an unknown kind is
// "unsupported", not "refused".
Result<Request> decode_request(std::string_view body);

std::string values_body(std::span<const std::uint32_t> values);
std::string stages_body(std::span<const OptimizerStage> stages);

}  // namespace secequiv
