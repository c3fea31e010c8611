// What the tests share when they handle programs: assembling text that must be right, showing
// programs in failures. Test support, for GoogleTest only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "harness/bpf/text.h"

namespace secequiv {

// How many of `n` random cases a test does: all in the development build, a fifth under sanitizers
// and with other compilers.
#ifdef SECEQUIV_FULL_TESTS
constexpr int of_cases(int n) { return n; }
#else
constexpr int of_cases(int n) { return n / 5; }
#endif

// The program `text` (bpf_asm) stands for; a test failure and an empty program if it is malformed.
inline Program assemble(std::string_view text) {
  auto program = read_program(text, "test", Form::kAsm);
  if (program) return std::move(*program);
  ADD_FAILURE() << program.error().text() << "\n" << text;
  return {};
}

// bpf_asm text, for messages and for comparisons whose failures should be readable.
inline std::string asm_text(ProgramView program) { return write_program(program, Form::kAsm); }

}  // namespace secequiv
