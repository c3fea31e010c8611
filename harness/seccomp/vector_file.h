// Reads and runs test vectors (corpus/FORMAT.md). Owns that grammar, which is stricter than
// bpf_asm, and the rules for when a vector passes. It must not know how an evaluator works. The
// independent implementation in scripts/naive runs the same files, and both must report the same
// count.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/refusal.h"
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
  std::optional<Refusal> refusal;  // the result that `accept` expects
};

// Reads the part of a line after `run`: "nr=1 args=2 -> 0x7fff0000". Errors: kParse.
Result<VectorRun> parse_run(std::string_view value);

// Returns the vectors in the text of one file. Errors: kParse with file:line.
Result<std::vector<Vector>> parse_vectors(std::string_view text, const std::string& file);

// Returns all vectors of every *.vec directly inside `directories`, with the files in order of
// name. A missing directory counts as empty. Errors: kParse, kIo.
Result<std::vector<Vector>> load_vectors(std::span<const std::string> directories);

// Returns one "file:line: name: ..." for each wrong result of this project; empty if `vector`
// passes.
std::vector<std::string> check_vector(const Vector& vector);

}  // namespace secequiv
