#include "fuzz/hunt/program_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/generate/policy_frame.h"
#include "harness/generate/steered.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostMutated = 2 * kMaxInsns;  // limits the growth of changed copies

class GeneratedPrograms : public ProgramSource {
 public:
  explicit GeneratedPrograms(const Generation& generation)
      : ProgramSource(false), programs_({.dead_code = generation.dead_code}) {}
  HuntSubject next(Random& random) override {
    HuntSubject out{"generated", {}, programs_.next(random)};
    survey_.add(programs_.last());
    return out;
  }
  void reached(const HuntSubject& subject) override { programs_.keep(subject.before); }
  [[nodiscard]] std::string describe() const override { return "generated programs"; }

 private:
  SteeredPrograms programs_;
};

class GeneratedPolicies : public ProgramSource {
 public:
  explicit GeneratedPolicies(const Generation& generation)
      : ProgramSource(true), limits_(generation.policies) {
    for (const std::string_view name : policy_frames())
      survey_.add_class("frames", std::string(name));
  }
  HuntSubject next(Random& random) override {
    Described policy = any(random);
    // A policy with a feature that the compiler never supported is seldom tried.
    for (int tries = 0; tries < kTries && hopeless(policy) && !random.one_in(kTries); ++tries)
      policy = any(random);
    survey_.add(std::move(policy.classes));
    return subject_of("generated", policy.policy);
  }
  [[nodiscard]] std::string describe() const override { return "generated policies"; }

 private:
  static constexpr int kTries = 16;
  static constexpr std::uint64_t kSeldom = 250;  // of 1000
  static constexpr std::size_t kFewRules = 2;

  struct Described {
    Policy policy;
    std::vector<std::uint16_t> classes;
  };

  // Most compilers support only a few policies of shapes other than kCommon. Long policies take
  // long, so they are rare.
  [[nodiscard]] Described any(Random& random) const {
    auto shape = static_cast<PolicyShape>(random.below(kPolicyShapes - 1));
    if (random.one_in(2)) shape = PolicyShape::kCommon;
    if (random.one_in(64)) shape = PolicyShape::kLong;
    PolicyLimits limits = limits_;
    // One rule that the compiler does not support makes the policy useless.
    if (survey_.supported_of_1000() < kSeldom) limits.rules = kFewRules;
    Described out{generate_policy(random, shape, limits), {}};
    std::optional<std::size_t> frame;
    if (!random.one_in(4)) frame = any_frame(random);
    if (frame) set_frame(out.policy, *frame);
    out.classes = describe_policy(out.policy);
    if (frame) out.classes.push_back(class_of(*frame));
    return out;
  }
  // Prefers frames that the compiler often supports.
  [[nodiscard]] std::size_t any_frame(Random& random) const {
    std::vector<std::uint64_t> up_to;  // sums of the shares of the frames so far
    for (std::size_t i = 0; i < policy_frames().size(); ++i)
      up_to.push_back((i == 0 ? 0 : up_to.back()) + survey_.supported_of_1000(class_of(i)));
    if (up_to.back() == 0 || random.one_in(kTries)) return random.below(policy_frames().size());
    const auto chosen = std::ranges::upper_bound(up_to, random.below(up_to.back()));
    return static_cast<std::size_t>(chosen - up_to.begin());
  }
  [[nodiscard]] static std::uint16_t class_of(std::size_t frame) {
    return static_cast<std::uint16_t>(policy_features().size() + frame);
  }
  [[nodiscard]] bool hopeless(const Described& policy) const {
    return std::ranges::any_of(policy.classes, [&](std::uint16_t index) {
      return index < policy_features().size() && survey_.never_supported(index);
    });
  }

  PolicyLimits limits_;
};

HuntSubject subject(const NamedProgram& one) { return HuntSubject{one.name, {}, one.program}; }
HuntSubject subject(const NamedPolicy& one) { return subject_of(one.name, one.policy); }

void describe(Survey& survey, const NamedProgram& one) { survey.add(describe_shape(one.program)); }
void describe(Survey& survey, const NamedPolicy& one) { survey.add(describe_policy(one.policy)); }

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
  Given(std::vector<Named> given, std::string description, std::vector<UnreadFile> unread)
      : ProgramSource(std::is_same_v<Named, NamedPolicy>),
        given_(std::move(given)),
        originals_(given_.size()),
        description_(std::move(description)),
        unread_(std::move(unread)) {}

  HuntSubject next(Random& random) override {
    const Named one = any(random);
    hunt::describe(survey_, one);
    return subject(one);
  }
  void reached(const HuntSubject& subject) override {
    if constexpr (std::is_same_v<Named, NamedProgram>) kept_.push_back({"kept", subject.before});
  }
  void skip_originals() override { at_ = given_.size(), originals_ = 0; }
  [[nodiscard]] std::size_t originals() const override { return originals_; }
  [[nodiscard]] std::string describe() const override {
    return description_ + ", then changed copies";
  }
  [[nodiscard]] std::vector<UnreadFile> unread() const override { return unread_; }

 private:
  Named any(Random& random) {
    if (at_ < given_.size()) return given_[at_++];
    Named one = !kept_.empty() && random.one_in(2) ? random.pick(kept_) : random.pick(given_);
    std::size_t changes = random.one_in(8) ? random.between(4, 16) : random.between(1, 2);
    for (; changes > 0; --changes) change(random, given_, one);
    one.name += ", changed";
    return one;
  }

  std::vector<Named> given_;
  std::size_t originals_;
  std::vector<Named> kept_;  // reached new edges
  std::string description_;
  std::vector<UnreadFile> unread_;
  std::size_t at_ = 0;
};

}  // namespace

ProgramSource::ProgramSource(bool policies) : policies_(policies) {
  if (policies)
    for (const std::string_view name : policy_features())
      survey_.add_class("features", std::string(name));
  else
    for (const ShapeClass& one : shape_classes()) survey_.add_class(one.group, one.name);
}

void ProgramSource::changed(const HuntSubject& sent) {
  if (!policies_) return survey_.change(describe_shape(sent.before));
  // An optimizer gets the program of a policy. Features are those of the policy.
  if (sent.policy.empty()) return;
  if (const auto policy = read_policy(sent.policy, sent.name))
    survey_.change(describe_policy(*policy));
}

std::unique_ptr<ProgramSource> generated_programs(const Generation& generation) {
  return std::make_unique<GeneratedPrograms>(generation);
}
std::unique_ptr<ProgramSource> generated_policies(const Generation& generation) {
  return std::make_unique<GeneratedPolicies>(generation);
}

HuntSubject subject_of(std::string name, const Policy& policy) {
  return HuntSubject{std::move(name), write_policy(policy), compile(policy)};
}

std::unique_ptr<ProgramSource> given_programs(std::vector<NamedProgram> programs,
                                              std::vector<UnreadFile> unread) {
  std::string description = counted(programs.size(), "given program");
  return std::make_unique<Given<NamedProgram>>(std::move(programs), std::move(description),
                                               std::move(unread));
}
std::unique_ptr<ProgramSource> given_policies(std::vector<NamedPolicy> policies,
                                              std::vector<UnreadFile> unread) {
  std::string description =
      policies.size() == 1 ? "a given policy" : fmt::format("{} given policies", policies.size());
  return std::make_unique<Given<NamedPolicy>>(std::move(policies), std::move(description),
                                              std::move(unread));
}

Result<std::unique_ptr<ProgramSource>> given_subject(const HuntSubject& subject) {
  if (subject.policy.empty()) return given_programs({{subject.name, subject.before}});
  ASSIGN_OR_RETURN(auto policy, read_policy(subject.policy, subject.name));
  return given_policies({{subject.name, std::move(policy)}});
}

}  // namespace secequiv::hunt
