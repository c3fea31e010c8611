#include "fuzz/hunt/program_source.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/generate/program.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostMutated = 2 * kMaxInsns;  // limits the growth of changed copies

class GeneratedPrograms : public ProgramSource {
 public:
  HuntSubject next(Random& random) override {
    return HuntSubject{"generated", {}, generate_program(random)};
  }
  [[nodiscard]] std::string describe() const override { return "generated programs"; }
};

class GeneratedPolicies : public ProgramSource {
 public:
  HuntSubject next(Random& random) override {
    // Most compilers can express only a few policies of the other shapes.
    return subject_of("generated", random.one_in(2) ? generate_policy(random, PolicyShape::kCommon)
                                                    : generate_policy(random));
  }
  [[nodiscard]] std::string describe() const override { return "generated policies"; }
};

HuntSubject subject(const NamedProgram& one) { return HuntSubject{one.name, {}, one.program}; }
HuntSubject subject(const NamedPolicy& one) { return subject_of(one.name, one.policy); }

void change(Random& random, std::span<const NamedProgram> given, NamedProgram& one) {
  Program next = mutate_program(random, one.program, random.pick(given).program);
  if (next.size() <= kMostMutated) one.program = std::move(next);
}
void change(Random& random, std::span<const NamedPolicy>, NamedPolicy& one) {
  one.policy = mutate_policy(random, one.policy);
}

// Programs or policies that the user named, then changed copies. Most copies are changed once or
// twice, and some many times.
template <class Named>
class Given : public ProgramSource {
 public:
  Given(std::vector<Named> given, std::string description)
      : given_(std::move(given)), description_(std::move(description)) {}

  HuntSubject next(Random& random) override {
    if (at_ < given_.size()) return subject(given_[at_++]);
    Named one = random.pick(given_);
    std::size_t changes = random.one_in(8) ? random.between(4, 16) : random.between(1, 2);
    for (; changes > 0; --changes) change(random, given_, one);
    one.name += ", changed";
    return subject(one);
  }
  [[nodiscard]] std::size_t originals() const override { return given_.size(); }
  [[nodiscard]] std::string describe() const override {
    return description_ + ", then changed copies";
  }

 private:
  std::vector<Named> given_;
  std::string description_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ProgramSource> generated_programs() {
  return std::make_unique<GeneratedPrograms>();
}
std::unique_ptr<ProgramSource> generated_policies() {
  return std::make_unique<GeneratedPolicies>();
}

HuntSubject subject_of(std::string name, const Policy& policy) {
  return HuntSubject{std::move(name), write_policy(policy), compile(policy)};
}

std::unique_ptr<ProgramSource> given_programs(std::vector<NamedProgram> programs) {
  std::string description = counted(programs.size(), "given program");
  return std::make_unique<Given<NamedProgram>>(std::move(programs), std::move(description));
}
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies) {
  std::string description =
      policies.size() == 1 ? "a given policy" : fmt::format("{} given policies", policies.size());
  return std::make_unique<Given<NamedPolicy>>(std::move(policies), std::move(description));
}

}  // namespace secequiv::hunt
