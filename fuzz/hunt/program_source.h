// Supplies programs and policies for what is under test. Owns the sources: a user's own, then
// changed copies of them; or generated ones without end. It must not know who is under test.
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

  // The next one. Its program is accepted by check(), the length rule aside.
  virtual HuntSubject next(Random& random) = 0;
  // How many of the first ones are a user's own, unchanged.
  [[nodiscard]] virtual std::size_t originals() const { return 0; }
  [[nodiscard]] virtual std::string describe() const = 0;
};

std::unique_ptr<ProgramSource> generated_programs();
std::unique_ptr<ProgramSource> generated_policies();

// A policy's unoptimized program, with the policy's text.
HuntSubject subject_of(std::string name, const Policy& policy);

struct NamedProgram {
  std::string name;
  Program program;
};
struct NamedPolicy {
  std::string name;
  Policy policy;
};
// First each one unchanged, then changed copies. Precondition: not empty.
std::unique_ptr<ProgramSource> given_programs(std::vector<NamedProgram> programs);
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies);

}  // namespace secequiv::hunt
