// Helpers for tests that handle programs: they assemble text that must be valid and show programs
// in failures. Owns these helpers, which need GoogleTest. It must not know syscalls or actions.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/text.h"

namespace secequiv {

// The development build runs all random cases. Under sanitizers and with other compilers, one in
// kShare cases runs, because more would run the same code again.
#ifdef SECEQUIV_FULL_TESTS
constexpr int kShare = 1;
#else
constexpr int kShare = 20;
#endif

// Returns how many of `n` random cases a test runs.
constexpr int of_cases(int n) { return n / kShare; }

// Returns all of `values` in the development build, otherwise every fifth.
template <class T>
std::vector<T> some_of(const std::vector<T>& values) {
  std::vector<T> out;
  for (std::size_t i = 0; i < values.size(); i += kShare == 1 ? 1 : 5) out.push_back(values[i]);
  return out;
}

// Assembles `text` (bpf_asm). Malformed text fails the test and gives an empty program.
inline Program assemble(std::string_view text) {
  auto program = read_program(text, "test", Form::kAsm);
  if (program) return std::move(*program);
  ADD_FAILURE() << program.error().text() << "\n" << text;
  return {};
}

// Returns bpf_asm text, for messages and for comparisons with readable failures.
inline std::string asm_text(ProgramView program) { return write_program(program, Form::kAsm); }

// Returns instructions with arbitrary fields: known and unknown codes, targets outside the program,
// values in unused fields. With `small_codes` all codes are below 256 and the last is not 0,
// because detecting the byte order needs that.
inline Program random_garbage(Random& random, std::size_t length, bool small_codes) {
  Program program;
  for (std::size_t pc = 0; pc < length; ++pc) {
    Insn in{0, static_cast<std::uint8_t>(random.word()), static_cast<std::uint8_t>(random.word()),
            random.word()};
    const std::size_t kind = random.below(small_codes ? 3 : 4);
    in.code = random.pick(insn_table()).code;
    if (kind == 2) in.code = static_cast<std::uint16_t>(random.below(256));
    if (kind == 3) in.code = static_cast<std::uint16_t>(random.word());
    // Half of the instructions have zeros in the fields they do not use.
    if (random.one_in(2)) in.jt = in.jf = 0;
    if (random.one_in(2)) in.k = static_cast<std::uint32_t>(random.below(2 * length));
    if (random.one_in(4)) in.k = 0;
    program.push_back(in);
  }
  if (small_codes && program.back().code == 0) program.back().code = kRetK;
  return program;
}

}  // namespace secequiv
