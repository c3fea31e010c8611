#include "fuzz/hunt/program_source.h"

#include <fmt/format.h>

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

// Returns a changed copy of one of `given`. Most copies are changed once or twice, and some many
// times.
template <class T, class Change>
T changed(Random& random, const std::vector<T>& given, const Change& change) {
  T out = random.pick(given);
  for (std::size_t n = random.one_in(8) ? random.between(4, 16) : random.between(1, 2); n > 0; --n)
    change(out);
  return out;
}

class GivenPrograms : public ProgramSource {
 public:
  explicit GivenPrograms(std::vector<NamedProgram> given) : given_(std::move(given)) {}

  HuntSubject next(Random& random) override {
    if (at_ < given_.size()) {
      const NamedProgram& one = given_[at_++];
      return HuntSubject{one.name, {}, one.program};
    }
    NamedProgram one = changed(random, given_, [&](NamedProgram& program) {
      Program next = mutate_program(random, program.program, random.pick(given_).program);
      if (next.size() <= kMostMutated) program.program = std::move(next);
    });
    return HuntSubject{one.name + ", changed", {}, std::move(one.program)};
  }
  [[nodiscard]] std::size_t originals() const override { return given_.size(); }
  [[nodiscard]] std::string describe() const override {
    return counted(given_.size(), "given program") + ", then changed copies";
  }

 private:
  std::vector<NamedProgram> given_;
  std::size_t at_ = 0;
};

class GivenPolicies : public ProgramSource {
 public:
  explicit GivenPolicies(std::vector<NamedPolicy> given) : given_(std::move(given)) {}

  HuntSubject next(Random& random) override {
    if (at_ < given_.size()) {
      const NamedPolicy& one = given_[at_++];
      return subject_of(one.name, one.policy);
    }
    const NamedPolicy one = changed(random, given_, [&](NamedPolicy& policy) {
      policy.policy = mutate_policy(random, policy.policy);
    });
    return subject_of(one.name + ", changed", one.policy);
  }
  [[nodiscard]] std::size_t originals() const override { return given_.size(); }
  [[nodiscard]] std::string describe() const override {
    return given_.size() == 1
               ? "a given policy, then changed copies"
               : fmt::format("{} given policies, then changed copies", given_.size());
  }

 private:
  std::vector<NamedPolicy> given_;
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
  return std::make_unique<GivenPrograms>(std::move(programs));
}
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies) {
  return std::make_unique<GivenPolicies>(std::move(policies));
}

}  // namespace secequiv::hunt
