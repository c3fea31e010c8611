#include "harness/generate/edit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "harness/seccomp/data.h"

namespace secequiv::generate_edit_test {
namespace {

using detail::Code;
using detail::Line;

// Returns code that compares the number with 0, 1, ... `tests` - 1. One target of each comparison
// comes far after all comparisons.
Code ladder(std::uint32_t tests, bool yes_is_far) {
  const std::size_t far = tests + 2;
  Code code{Line{Insn{kLdWAbs, 0, 0, 0}}};
  for (std::uint32_t i = 0; i < tests; ++i) {
    const std::size_t next = code.size() + 1;
    code.push_back(yes_is_far ? Line{Insn{kJeqK, 0, 0, i}, far, next}
                              : Line{Insn{kJgtK, 0, 0, i}, next, far});
  }
  code.push_back(Line{Insn{kRetK, 0, 0, 1}});
  code.push_back(Line{Insn{kRetK, 0, 0, 7}});
  return code;
}

TEST(WriteLinesFar, JumpsGoThroughJaOnlyWhereTheyDoNotReach) {
  for (const bool yes_is_far : {true, false})
    for (const std::uint32_t tests : {1u, 255u, 256u, 257u, 300u, 2000u}) {
      Program program;
      ASSERT_TRUE(detail::write_lines_far(ladder(tests, yes_is_far), program));
      ASSERT_FALSE(refusal_of(program));
      // From the last tests, the far target is at most 256 instructions away.
      EXPECT_EQ(std::ranges::count(program, kJa, &Insn::code), tests - std::min(tests, 255u));
      for (std::uint32_t nr = 0; nr <= tests + 1; ++nr) {
        SeccompData data;
        data.set_nr(nr);
        EXPECT_EQ(run(program, data), nr < tests ? 7u : 1u) << nr;
      }
    }
}

TEST(WriteLinesFar, BothTargetsCanBeFar) {
  // The first target is exactly in reach until the second one needs a JA.
  Code code{Line{Insn{kLdWAbs, 0, 0, 0}}, Line{Insn{kJeqK, 0, 0, 5}, 257, 258}};
  while (code.size() < 257) code.push_back(Line{Insn{kTax, 0, 0, 0}});
  code.push_back(Line{Insn{kRetK, 0, 0, 7}});
  code.push_back(Line{Insn{kRetK, 0, 0, 1}});
  Program program;
  ASSERT_TRUE(detail::write_lines_far(code, program));
  ASSERT_FALSE(refusal_of(program));
  SeccompData data;
  data.set_nr(5);
  EXPECT_EQ(run(program, data), 7u);
  data.set_nr(6);
  EXPECT_EQ(run(program, data), 1u);
  EXPECT_EQ(program.size(), code.size() + 2);
}

TEST(WriteLinesFar, RefusesTargetsThatAreNotLater) {
  Program program;
  for (const std::size_t target : {std::size_t{1}, std::size_t{0}, std::size_t{2002}}) {
    Code code = ladder(2000, true);
    code.resize(2002);
    code[1].yes = target;
    code[2001] = Line{Insn{kRetK, 0, 0, 1}};
    for (std::size_t pc = 2; pc < 2001; ++pc) code[pc].yes = 2001;
    EXPECT_FALSE(detail::write_lines_far(code, program)) << target;
  }
}

}  // namespace
}  // namespace secequiv::generate_edit_test
