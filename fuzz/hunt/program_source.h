// Where the programs and policies come from that something under test is given. Owns the sources:
// what a user gave, then changed copies of it; or generated ones without end.
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
  // How many of the first ones are as a user gave them.
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
// Not empty. First each as it is, then changed ones.
std::unique_ptr<ProgramSource> given_programs(std::vector<NamedProgram> programs);
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies);

}  // namespace secequiv::hunt
