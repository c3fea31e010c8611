// Our description of programs: which classes of shape a program has, such as "STX directly before
// LD M[k]" or "a jump over more than 255 instructions". Owns the classes and their names. It must
// not know how programs are made.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

struct ShapeClass {
  std::string group;  // "pairs"
  std::string name;   // "stx, ld M"
};

// Returns all classes. Each occurs in some program that the kernel accepts.
const std::vector<ShapeClass>& shape_classes();

// Returns the indices of the program's classes, each once. It considers only instructions that some
// path reaches. Precondition: the kernel accepts the program, except for its length.
std::vector<std::uint16_t> describe_shape(ProgramView program);

}  // namespace secequiv
