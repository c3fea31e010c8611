// Owns the sources of programs and policies: those that the user named, followed by changed copies
// of them, or an endless series of generated ones. It must not know what is under test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/hunt/survey.h"
#include "harness/base/random.h"
#include "harness/base/result.h"
#include "harness/compare/hunt_report.h"
#include "harness/generate/policy.h"
#include "harness/policy/policy.h"

namespace secequiv::hunt {

class ProgramSource {
 public:
  ProgramSource(const ProgramSource&) = delete;
  ProgramSource& operator=(const ProgramSource&) = delete;
  virtual ~ProgramSource() = default;

  // Returns the next subject. The kernel accepts its program, except that it may be too long.
  virtual HuntSubject next(Random& random) = 0;
  // Notes that the last subject was changed before it was sent.
  void changed(const HuntSubject& sent);
  // Notes that this subject reached new edges of the code under test. Later subjects may resemble
  // it.
  virtual void reached(const HuntSubject& /*subject*/) {}
  // Notes that the code under test did not support the subject with this number, counted from 1.
  void unsupported(std::uint64_t number) { survey_.unsupported(number); }
  // Returns how many subjects had each shape.
  [[nodiscard]] std::vector<ShapeRow> shapes() const { return survey_.rows(); }
  // Leaves the subjects that the user named to another process, but still supplies changed copies
  // of them.
  virtual void skip_originals() {}
  // Returns how many subjects the user named. They come first and unchanged.
  [[nodiscard]] virtual std::size_t originals() const { return 0; }
  [[nodiscard]] virtual std::string describe() const = 0;
  // Returns the files of the user's folders that could not be read.
  [[nodiscard]] virtual std::vector<UnreadFile> unread() const { return {}; }

 protected:
  explicit ProgramSource(bool policies);

  Survey survey_;

 private:
  bool policies_;
};

// What generated programs and policies may contain.
struct Generation {
  bool dead_code = true;
  PolicyLimits policies;
};
std::unique_ptr<ProgramSource> generated_programs(const Generation& generation = {});
std::unique_ptr<ProgramSource> generated_policies(const Generation& generation = {});

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
std::unique_ptr<ProgramSource> given_programs(std::vector<NamedProgram> programs,
                                              std::vector<UnreadFile> unread = {});
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies,
                                              std::vector<UnreadFile> unread = {});
// Supplies the subject of a finding, then changed copies. Errors: those of reading its policy.
Result<std::unique_ptr<ProgramSource>> given_subject(const HuntSubject& subject);

}  // namespace secequiv::hunt
