// Test vectors: reader and runner of corpus/FORMAT.md. Owns that grammar, stricter than bpf_asm
// where the format is, and what it means for a vector to pass. Test support: the same files go
// through an independent implementation (scripts/naive), and both must report the same count.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/check.h"
#include "harness/seccomp/action.h"

namespace secequiv {

struct VectorRun {
  std::size_t line = 0;
  SeccompData input{};
  std::uint32_t expected = 0;
};

struct VectorSame {
  std::size_t line = 0;
  Sameness sameness = Sameness::kRaw;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  bool expected = false;
};

struct Vector {
  std::string file;
  std::size_t line = 0;
  std::string name;
  std::vector<Program> programs;  // newest first
  std::vector<VectorRun> runs;
  std::vector<VectorSame> sames;
  bool has_accept = false;
  std::optional<Refusal> refusal;  // what `accept` expects
};

// The vectors of one file's text. Errors: kParse with file:line.
Result<std::vector<Vector>> parse_vectors(std::string_view text, const std::string& file);

// All vectors of every *.vec directly inside `directories`, files in order of name; a directory
// that does not exist holds none. Errors: kParse, kIo.
Result<std::vector<Vector>> load_vectors(std::span<const std::string> directories);

// What is wrong with this project's answers to `vector`, one "file:line: name: ..." each; empty if
// it passes.
std::vector<std::string> check_vector(const Vector& vector);

}  // namespace secequiv
