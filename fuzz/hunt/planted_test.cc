// Tests that every planted optimizer, compiler and interpreter is found by derived inputs alone, by
// fuzzing, and by proof. Prints tables that show how quickly.
#include "adapters/broken/planted.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ranges>
#include <set>
#include <variant>

#include "adapters/broken/evaluators.h"
#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/import/import_oci.h"
#include "harness/inputs/cases.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "verify/dd/engine.h"

namespace secequiv::hunt_planted_test {
namespace {

using broken::Planted;
using broken::PlantedEvaluator;
using broken::PlantedOptimizer;

constexpr std::size_t kSeeds = 1 + of_cases(1);
constexpr std::size_t kTrials = 10000;    // a planted bug must be found within this many
constexpr std::size_t kInputs = 200;      // for each policy or program
constexpr std::size_t kGenerated = 2000;  // random subjects from which inputs are derived
constexpr CaseLimits kCases{.per_syscall = 200, .total = 100000};

using Inputs = std::vector<SeccompData>;

// A program, the answer to it, and inputs for both.
struct Subject {
  Program before;
  Program after;
  Inputs inputs;
};

// All random policies and programs come from these two functions.
Policy some_policy(Random& random) { return generate_policy(random); }
Program some_program(Random& random) { return generate_program(random); }
Inputs some_inputs(Random& random, const Policy& policy) {
  Inputs out;
  for (std::size_t i = 0; i < kInputs; ++i) out.push_back(random_call(random, policy));
  return out;
}
Inputs some_inputs(Random& random, ProgramView program) {
  return random_inputs(random, program, kInputs);
}

// Returns a subject as a fuzzer would choose it: a policy or, if the target is an optimizer,
// alternately a policy and a program.
Subject some_subject(const Planted& planted, Random& random, std::size_t trial) {
  Subject out;
  const auto* optimizer = std::get_if<PlantedOptimizer>(&planted.run);
  if (optimizer != nullptr && trial % 2 == 0) {
    out.before = some_program(random);
    out.after = (*optimizer)(out.before);
    if (out.after != out.before) out.inputs = some_inputs(random, out.before);
    return out;
  }
  const Policy policy = some_policy(random);
  out.before = compile(policy);
  out.after = compile_with(planted, policy);
  out.inputs = some_inputs(random, policy);
  return out;
}

bool differs(const Subject& subject) {
  return std::ranges::any_of(subject.inputs, [&](const SeccompData& input) {
    return run(subject.before, input) != run(subject.after, input);
  });
}

std::vector<Policy> corpus() {
  const std::filesystem::path folder =
      std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus/policies";
  std::vector<std::filesystem::path> paths;
  for (const char* part : {"seed", "oci", "gvisor"}) {
    std::vector<std::filesystem::path> here;
    for (const auto& entry : std::filesystem::directory_iterator(folder / part))
      if (entry.path().extension() == ".json") here.push_back(entry.path());
    std::ranges::sort(here);
    paths.insert(paths.end(), here.begin(), here.end());
  }
  std::vector<Policy> out;
  for (const auto& path : paths) {
    const auto text = read_file(path);
    if (!text) {
      ADD_FAILURE() << path;
      continue;
    }
    if (path.parent_path().filename() == "oci") {
      auto import = import_oci(*text, path.filename(), {});
      EXPECT_TRUE(import) << path;
      if (import) out.push_back(std::move(import->policy));
      continue;
    }
    auto policy = read_policy(*text, path.filename());
    EXPECT_TRUE(policy) << path;
    if (policy) out.push_back(std::move(*policy));
  }
  return out;
}

// A policy or program, with the inputs derived from it and the values that they must give.
struct Known {
  std::variant<Policy, Program> from;
  std::vector<SeccompData> inputs;
  std::vector<std::uint32_t> expected;
};

Known known(std::variant<Policy, Program> from) {
  Known out{std::move(from), {}, {}};
  const auto* policy = std::get_if<Policy>(&out.from);
  const Program program = policy != nullptr ? compile(*policy) : std::get<Program>(out.from);
  out.inputs =
      (policy != nullptr ? derive_cases(*policy, kCases) : derive_cases(program, kCases)).inputs;
  for (const SeccompData& data : out.inputs) out.expected.push_back(run(program, data));
  return out;
}

// Supplies, on demand, the policies of the corpus and then random policies and programs
// alternately.
class KnownCases {
 public:
  KnownCases() {
    for (const Policy& policy : corpus()) known_.push_back(known(policy));
    corpus_ = known_.size();
  }
  const Known* at(std::size_t i) {
    if (i >= corpus_ + kGenerated) return nullptr;
    while (known_.size() <= i) {
      if (known_.size() % 2 == 0)
        known_.push_back(known(some_policy(random_)));
      else
        known_.push_back(known(some_program(random_)));
    }
    return &known_[i];
  }

 private:
  std::vector<Known> known_;
  std::size_t corpus_ = 0;
  Random random_{7};
};

bool found_by_derived(const Planted& planted, const Known& here) {
  Program after;
  if (const auto* policy = std::get_if<Policy>(&here.from)) {
    after = compile_with(planted, *policy);
  } else if (const auto* optimizer = std::get_if<PlantedOptimizer>(&planted.run)) {
    after = (*optimizer)(std::get<Program>(here.from));
  } else {
    return false;
  }
  for (std::size_t i = 0; i < here.inputs.size(); ++i)
    if (run(after, here.inputs[i]) != here.expected[i]) return true;
  return false;
}

// The duration of one fuzzing run, and the pair that it found.
struct Found {
  std::size_t trials;
  double seconds;
  Subject subject;
};

std::optional<Found> fuzz(const Planted& planted, std::uint64_t seed) {
  Random random(seed);
  const auto start = Clock::now();
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    Subject subject = some_subject(planted, random, trial);
    if (const auto refusal = refusal_of(subject.after, LengthRule::kUnlimited)) {
      ADD_FAILURE() << planted.name << ": " << describe(*refusal, subject.after);
      return std::nullopt;
    }
    if (differs(subject)) return Found{trial + 1, seconds_since(start), std::move(subject)};
  }
  return std::nullopt;
}

template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Returns the seconds until the pair is proven different, or std::nullopt if a limit is reached.
std::optional<double> prove(const Subject& subject) {
  const auto start = Clock::now();
  const auto proof = dd::prove(Pair{subject.before, subject.after, Sameness::kRaw});
  const double seconds = seconds_since(start);
  if (!proof) {
    ADD_FAILURE() << proof.error().text();
    return std::nullopt;
  }
  if (proof->verdict == Verdict::kUnknown) return std::nullopt;
  EXPECT_EQ(proof->verdict, Verdict::kDifferent);
  return seconds;
}

struct Row {
  std::optional<std::size_t> derived;  // how many policies and programs were needed
  std::vector<std::size_t> trials;
  std::vector<double> fuzzed;  // seconds
  std::vector<double> proven;  // seconds
};

Row row(const Planted& planted, KnownCases& cases) {
  Row out;
  const Known* here = nullptr;
  for (std::size_t i = 0; !out.derived && (here = cases.at(i)) != nullptr; ++i)
    if (found_by_derived(planted, *here)) out.derived = i + 1;
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    const auto found = fuzz(planted, 1000 + seed);
    if (!found) continue;
    out.trials.push_back(found->trials);
    out.fuzzed.push_back(found->seconds);
    if (const auto seconds = prove(found->subject)) out.proven.push_back(*seconds);
  }
  // If the pair that fuzzing found exceeds the prover's limits, the prover gets other pairs.
  for (std::size_t more = kSeeds; out.proven.empty() && more < kSeeds + 6; ++more)
    if (const auto found = fuzz(planted, 1000 + more))
      if (const auto seconds = prove(found->subject)) out.proven.push_back(*seconds);
  return out;
}

std::string shown(const Row& row) {
  const std::string derived = row.derived ? fmt::format("{}", *row.derived) : "no";
  if (row.fuzzed.empty()) return fmt::format("{:>8}  not found", derived);
  const std::string proven =
      row.proven.empty() ? "no" : fmt::format("{:.2f}", 1e3 * median(row.proven));
  return fmt::format("{:>8} {:>8} {:>9.1f} {:>9}", derived, median(row.trials),
                     1e3 * median(row.fuzzed), proven);
}

void expect_all_found(bool planted_passes) {
  KnownCases cases;
  std::cout << fmt::format("{:<36} {:>8} {:>8} {:>9} {:>9}\n", "", "derived", "fuzzing", "ms",
                           "proof ms");
  auto wanted = broken::planted_optimizers() | std::views::filter([&](const Planted& planted) {
                  return planted.name.starts_with("twin-") == planted_passes;
                });
  for (const Planted& planted : some_of(std::vector<Planted>(wanted.begin(), wanted.end()))) {
    const Row found = row(planted, cases);
    std::cout << fmt::format("{:<36} {}\n", planted.name, shown(found)) << std::flush;
    EXPECT_TRUE(found.derived) << planted.name << ": not found by derived inputs";
    EXPECT_EQ(found.fuzzed.size(), kSeeds) << planted.name << ": not found by fuzzing";
    EXPECT_FALSE(found.proven.empty()) << planted.name << ": not proven";
  }
}

TEST(Planted, BugClassesAreFound) { expect_all_found(false); }
TEST(Planted, PassesAreFound) { expect_all_found(true); }

TEST(Planted, EveryBugClassIsPresent) {
  std::set<std::string_view> names;
  std::set<std::string_view> classes;
  for (const Planted& planted : broken::planted_optimizers()) {
    EXPECT_TRUE(names.insert(planted.name).second) << planted.name;
    EXPECT_FALSE(planted.bug_class.empty()) << planted.name;
    EXPECT_EQ(broken::find_planted(planted.name), &planted);
    if (!planted.name.starts_with("twin-")) classes.insert(planted.bug_class);
  }
  EXPECT_EQ(classes.size(), 29u);
  EXPECT_EQ(broken::find_planted("twin"), nullptr);
}

class EveryEvaluator : public testing::TestWithParam<PlantedEvaluator> {};

TEST_P(EveryEvaluator, IsFoundByRandomPrograms) {
  Random random(5);
  for (std::size_t trial = 1; trial <= kTrials; ++trial) {
    const Program program = some_program(random);
    const Inputs inputs = some_inputs(random, program);
    const auto values = broken::evaluate_with(GetParam(), program, inputs);
    ASSERT_EQ(values.size(), inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (values[i] != run(program, inputs[i])) {
        std::cout << GetParam().name << ": " << trial << " programs\n";
        return;
      }
  }
  FAIL() << GetParam().bug_class;
}

INSTANTIATE_TEST_SUITE_P(Planted, EveryEvaluator, testing::ValuesIn(broken::planted_evaluators()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace secequiv::hunt_planted_test
