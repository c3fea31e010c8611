// Answers requests on standard input, one frame after the other, until the input ends. C++ programs
// use it to put a C library under test. Owns the frames, kinds and statuses of
// harness/adapter/PROTOCOL.md; harness/adapter/secequiv_coverage.h owns edges. It must not know how
// requests are answered, nor use any other part of the harness.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "harness/adapter/secequiv_coverage.h"

namespace adapter {

struct Insn {  // struct sock_filter
  std::uint16_t code;
  std::uint8_t jt;
  std::uint8_t jf;
  std::uint32_t k;
};
static_assert(sizeof(Insn) == 8);
constexpr std::size_t kInputBytes = 64;  // struct seccomp_data

enum class Status : std::uint8_t { kAnswered, kUnsupported, kRefused };

struct Answer {
  Status status = Status::kAnswered;
  std::string body;
};
inline Answer unsupported(std::string why) { return {Status::kUnsupported, std::move(why)}; }
inline Answer refused(std::string why) { return {Status::kRefused, std::move(why)}; }

// Returns `raw` as numbers or structures. Only on little-endian machines.
template <class T>
std::vector<T> items(std::string_view raw) {
  std::vector<T> out(raw.size() / sizeof(T));
  std::copy_n(raw.begin(), out.size() * sizeof(T), reinterpret_cast<char*>(out.data()));
  return out;
}

// Answers with the edges that were reached since the last such request.
inline Answer answer_reached() {
  const std::uint32_t count = secequiv_edge_count();
  if (count == 0)
    return unsupported("this adapter is built without -fsanitize-coverage=inline-8bit-counters");
  std::vector<std::uint32_t> edges(count);
  edges.resize(secequiv_take_edges(edges.data(), edges.size()));
  return {Status::kAnswered, std::string(reinterpret_cast<const char*>(edges.data()),
                                         edges.size() * sizeof(std::uint32_t))};
}

template <class Handlers>
Answer answer_evaluate(Handlers& handlers, std::string_view body) {
  std::uint32_t count = 0;
  if (body.size() < sizeof count) return refused("expected a number of instructions, found none");
  std::memcpy(&count, body.data(), sizeof count);
  body.remove_prefix(sizeof count);
  const std::size_t bytes = std::size_t{count} * sizeof(Insn);
  if (count == 0 || bytes > body.size())
    return refused("the request has fewer instructions than its count states, or none");
  const std::string_view inputs = body.substr(bytes);
  if (inputs.size() % kInputBytes != 0) return refused("expected inputs of 64 bytes each");
  return handlers.answer_evaluate(items<Insn>(body.substr(0, bytes)), inputs);
}

// Answers one request. `handlers` has answer_compile(policy) and answer_evaluate(program, inputs),
// or answer_optimize(program); `inputs` has 64 bytes for each input.
template <class Handlers>
Answer answer(Handlers& handlers, std::string_view request) {
  if (request.empty()) return refused("expected a request, found an empty frame");
  std::string_view body = request.substr(1);
  switch (request.front()) {
    case 'R':
      return answer_reached();
    case 'O':
      if constexpr (requires { handlers.answer_optimize(items<Insn>(body)); })
        return handlers.answer_optimize(items<Insn>(body));
      return unsupported("this adapter does not optimize");
    case 'C':
      if constexpr (requires { handlers.answer_compile(body); })
        return handlers.answer_compile(body);
      return unsupported("this adapter does not compile");
    case 'E':
      if constexpr (requires { handlers.answer_evaluate(std::vector<Insn>(), body); })
        return answer_evaluate(handlers, body);
      return unsupported("this adapter does not evaluate");
    default:
      return unsupported("expected a request of kind O, C, E or R");
  }
}

// Converts a length to or from the byte order of frames, which is little-endian on every machine.
constexpr std::uint32_t in_frame_order(std::uint32_t number) {
  return std::endian::native == std::endian::little ? number : __builtin_bswap32(number);
}

enum class Read : std::uint8_t { kFrame, kEnd, kBroken };

inline Read read_frame(std::string& frame) {
  std::uint32_t length = 0;
  const std::size_t head = std::fread(&length, 1, sizeof length, stdin);
  if (head == 0 && std::feof(stdin) != 0) return Read::kEnd;
  if (head != sizeof length) return Read::kBroken;
  length = in_frame_order(length);
  frame.clear();
  // Reads in pieces, so that a wrong length costs no memory before the bytes arrive.
  while (frame.size() < length) {
    char piece[4096];
    const std::size_t wanted = std::min(sizeof piece, length - frame.size());
    if (std::fread(piece, 1, wanted, stdin) != wanted) return Read::kBroken;
    frame.append(piece, wanted);
  }
  return Read::kFrame;
}

// Answers requests until the end of standard input. Returns the exit status: 0 if the input ends
// between two frames, else 2.
template <class Handlers>
int serve(const char* name, Handlers handlers) {
  std::string frame;
  for (;;) {
    const Read read = read_frame(frame);
    if (read == Read::kEnd) return 0;
    if (read == Read::kBroken) {
      std::fprintf(stderr, "%s: standard input ended within a frame\n", name);
      return 2;
    }
    const Answer done = answer(handlers, frame);
    const std::uint32_t length = in_frame_order(static_cast<std::uint32_t>(done.body.size() + 1));
    const auto status = static_cast<unsigned char>(done.status);
    if (std::fwrite(&length, sizeof length, 1, stdout) != 1 ||
        std::fwrite(&status, 1, 1, stdout) != 1 ||
        std::fwrite(done.body.data(), 1, done.body.size(), stdout) != done.body.size() ||
        std::fflush(stdout) != 0) {
      std::fprintf(stderr, "%s: cannot write to standard output\n", name);
      return 2;
    }
  }
}

}  // namespace adapter
