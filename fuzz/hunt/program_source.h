// Owns the sources of programs and policies: those that the user named, followed by changed copies
// of them, or an endless series of generated ones. It must not know what is under test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/base/random.h"
#include "harness/compare/hunt_report.h"
#include "harness/policy/policy.h"

namespace secequiv::hunt {

class ProgramSource {
 public:
  ProgramSource() = default;
  ProgramSource(const ProgramSource&) = delete;
  ProgramSource& operator=(const ProgramSource&) = delete;
  virtual ~ProgramSource() = default;

  // Returns the next subject. The kernel accepts its program, except that it may be too long.
  virtual HuntSubject next(Random& random) = 0;
  // Returns how many subjects the user named. They come first and unchanged.
  [[nodiscard]] virtual std::size_t originals() const { return 0; }
  [[nodiscard]] virtual std::string describe() const = 0;
};

std::unique_ptr<ProgramSource> generated_programs();
std::unique_ptr<ProgramSource> generated_policies();

// Returns a policy's unoptimized program, together with the policy's text.
HuntSubject subject_of(std::string name, const Policy& policy);

struct NamedProgram {
  std::string name;
  Program program;
};
struct NamedPolicy {
  std::string name;
  Policy policy;
};
// Supplies each program or policy unchanged, then changed copies. Precondition: the list is not
// empty.
std::unique_ptr<ProgramSource> given_programs(std::vector<NamedProgram> programs);
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies);

}  // namespace secequiv::hunt
