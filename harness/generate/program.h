// Random programs made of shapes that filter compilers emit and that optimizers got wrong. Owns the
// shapes, their mixture, and families of growing programs. It must not know policies or optimizers.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv {

// The building blocks of programs. They follow each other in any order, and a jump in one block may
// lead to the start of a later block.
enum class BlockShape : std::uint8_t {
  kNoise,            // any instruction after any other
  kLinearSearch,     // one word, or two alternating words, compared with several constants
  kTreeSearch,       // a balanced tree of comparisons, its numbers dense or far apart
  kWideComparison,   // tests both halves of a 64-bit argument, in every order
  kMasks,            // tests of several masks of one word, with and without loading it again
  kDecidedTests,     // tests that earlier tests of the same word decide, or almost decide
  kRepeatedLoads,    // loads one word again, with relevant or irrelevant code between
  kSimilarBlocks,    // blocks that differ in one field
  kSimilarReturns,   // returns whose values differ in data bits only, and equal ones
  kComputedReturns,  // RET A
  kDeadCode,         // code after jumps and returns that no path reaches
  kJumpChains,       // jumps to jumps, to the next instruction, or with equal targets
  kDispatch,         // tests of arch and of the x32 bit
  kScratch,          // stores to and loads from the same and other words of M[], across joins
  kRegisters,        // chains of TAX, TXA and arithmetic
  kArithmetic,       // every operation with operands at its limits
  kNestedJoins,      // paths that meet with different values in registers
  kFarJumps,         // jumps over more than 255 instructions
  kLongLists,        // 100 to 600 equal-shaped entries, as a list or a search tree
  kCompiled,         // blocks of compiled_programs(), with other operands
};
inline constexpr std::size_t kShapes = 20;

// Returns "linear-search", ...
std::string_view shape_name(BlockShape shape);

struct ProgramShape {
  // Approximate number of instructions. 0: mostly 5 to 60, sometimes hundreds, rarely 4096.
  std::size_t length = 0;
  // Bit i: shape i may be used. At least one is set. Short programs have neither far jumps nor long
  // lists, unless no other shape may be used.
  std::uint32_t shapes = (1u << kShapes) - 1;
  bool dead_code = true;  // false: some path reaches every instruction
};

// Generates a program that the kernel accepts.
Program generate_program(Random& random, const ProgramShape& shape = {});

// Returns the program without the instructions that no path reaches. The kernel may refuse the
// result, because it assumes that words of M[] are set after jumps. Precondition: the kernel
// accepts the program, except for its length.
Program without_dead_code(ProgramView program);

// Returns filters that gVisor and libseccomp compiled (corpus/programs).
std::span<const Program> compiled_programs();

// Similar programs of 64, 128, ..., 4096 instructions, to measure how an optimizer's time grows
// with the size of its input. The kernel accepts them.
enum class Family : std::uint8_t {
  kLinearSearch,
  kTreeSearch,
  kArgumentTests,  // many calls, each with tests of its arguments
  kJumpChains,     // one chain through the whole program
  kDeadCode,       // almost the whole program
  kEqualReturns,   // one return after each test
  kEqualBlocks,    // a few different blocks, many times
  kRepeatedLoads,  // a few words, many times
  kDeadWrites,     // registers overwritten before they are read
  kNestedJoins,    // a row of diamonds
  kDecidedTests,   // tests of one word; earlier tests decide almost all
  kScratch,        // every M[] word written and read again
};
inline constexpr std::size_t kFamilies = 12;

// Returns "linear-search", ...
std::string_view family_name(Family family);

std::vector<Program> scaled_programs(Random& random, Family family);

}  // namespace secequiv
