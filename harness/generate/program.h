// Random programs made of the shapes that compilers of filters emit and that their optimizers got
// wrong. Owns the shapes, their mixture and families of programs that grow. It must not know
// policies or optimizers.
#pragma once

#include <string_view>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv {

// What programs are made of; each shape may stand behind, before and within (as a block that is
// jumped to) any other.
enum class Shape : std::uint8_t {
  kNoise,            // any instruction behind any other
  kLinearSearch,     // a word, or two in turn, compared with one constant after the other
  kTreeSearch,       // a balanced tree of comparisons, its numbers dense or far apart
  kWideComparison,   // of both halves of a 64-bit argument, every order
  kMasks,            // tests of several masks of one word, with and without loading it again
  kDecidedTests,     // tests that earlier tests of the same word decide, or nearly do
  kRepeatedLoads,    // of one word, with something between that matters or does not
  kSimilarBlocks,    // blocks that differ in one field
  kSimilarReturns,   // returns whose values differ in data bits only, and equal ones
  kComputedReturns,  // RET A
  kDeadCode,         // behind jumps and returns
  kJumpChains,       // jumps to jumps, over nothing, and with equal targets
  kDispatch,         // on arch, and on the x32 bit
  kScratch,          // values kept in M[] and X across jumps
  kNestedJoins,      // paths that leave different registers behind where they meet
  kFarJumps,         // over more than 255 instructions
};
inline constexpr std::size_t kShapes = 16;

// "linear-search", ...
std::string_view shape_name(Shape shape);

struct ProgramShape {
  // About how many instructions; 0: mostly 5 to 60, now and then several hundred, rarely 4096.
  std::size_t length = 0;
  // Bit i: shape i may be used. At least one is set.
  std::uint32_t shapes = (1u << kShapes) - 1;
};

// A program that the kernel accepts.
Program generate_program(Random& random, const ProgramShape& shape = {});

// Programs of 64, 128, ..., 4096 instructions that are alike but for their size: for measuring how
// the time that an optimizer takes grows. The kernel accepts them.
enum class Family : std::uint8_t {
  kLinearSearch,
  kTreeSearch,
  kArgumentTests,  // many calls, each with tests of its arguments
  kJumpChains,     // one chain through all of the program
  kDeadCode,       // almost all of it
  kEqualReturns,   // one behind each test
  kEqualBlocks,    // few different ones, many times
  kRepeatedLoads,  // of few words
  kDeadWrites,     // registers written again before anybody reads them
  kNestedJoins,    // a row of diamonds
  kDecidedTests,   // of one word, all but a few decided
  kScratch,        // every M[] word written and read again
};
inline constexpr std::size_t kFamilies = 12;

// "linear-search", ...
std::string_view family_name(Family family);

std::vector<Program> scaled_programs(Random& random, Family family);

}  // namespace secequiv
