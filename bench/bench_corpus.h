// Owns loading the corpus's programs for the benchmarks; no other code includes it. It must not
// know what they measure.
#pragma once

#include <filesystem>
#include <string>

#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"

namespace secequiv {

inline const std::filesystem::path kCorpus = std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus";

// Returns the program `name` of corpus/programs; it may be too long for the kernel.
inline Result<Program> load_program(const std::string& name) {
  const auto bytes = read_file(kCorpus / "programs" / name);
  if (!bytes) return bytes.error();
  auto program = read_program(*bytes, name);
  if (!program) return program;
  if (const auto refusal = refusal_of(*program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, name, describe(*refusal, *program));
  return program;
}

}  // namespace secequiv
