#include "fuzz/mutation/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "harness/inputs/mutate_input.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

constexpr std::size_t kPool = 4096;  // limit for the inputs that fuzzing keeps for further changes
constexpr std::size_t kRunsBetweenLooks = 512;  // runs between two readings of the clock

struct Candidate {
  Mutant mutant;
  bool killed = false;  // killed by derived inputs
  std::optional<Proof> proof;
};

struct ReachRecorder {
  const Insn* base;
  std::vector<std::vector<std::uint32_t>>& reached;
  const std::vector<std::uint8_t>& wanted;
  std::uint32_t input;
  std::size_t entries = 0;

  void at(const Insn* pc, const Machine<Concrete>&) {
    const auto here = static_cast<std::size_t>(pc - base);
    if (wanted[here] == 0) return;
    reached[here].push_back(input);
    ++entries;
  }
  void outcome(const Insn*, bool) {}
};

class Job {
 public:
  Job(ProgramView program, const MutationOptions& options)
      : program_(program.begin(), program.end()), options_(options) {}

  Result<MutationReport> run(std::span<const InputSet> inputs) {
    report_.sameness = options_.sameness;
    const Mutants mutants = mutants_of(program_);
    report_.listed = mutants.complete;
    report_.interrupted = !mutants.complete;
    if (report_.interrupted)
      report_.stopped_by = stop_wanted() ? stop_reason() : "memory limit reached";
    if (!report_.listed) {
      for (const InputSet& set : inputs) report_.inputs.push_back({set.name, set.inputs.size(), 0});
      return std::move(report_);
    }
    for (std::size_t op = 0; op < kMutationOperators; ++op)
      report_.operators[op].refused = mutants.refused[op];
    for (const Mutant& mutant : mutants.accepted) {
      ++counts(mutant).mutants;
      candidates_.push_back({mutant, false, std::nullopt});
    }
    run_inputs(inputs);
    RETURN_IF_ERROR(prove());
    fuzz(inputs);
    report_.interrupted = stop_wanted();
    if (report_.interrupted) report_.stopped_by = stop_reason();
    count();
    return std::move(report_);
  }

 private:
  MutationCounts& counts(const Mutant& mutant) {
    return report_.operators[static_cast<std::size_t>(mutant.op)];
  }

  template <class Number>
  void told(std::string_view step, Number done, std::size_t total) const {
    if (options_.progress) options_.progress(step, static_cast<std::size_t>(done), total);
  }

  void run_inputs(std::span<const InputSet> inputs) {
    const auto start = Clock::now();
    for (const InputSet& set : inputs) {
      const std::size_t before = killed_;
      for (std::size_t from = 0; from < set.inputs.size() && !stop_wanted();)
        from += run_portion(std::span(set.inputs).subspan(from));
      report_.inputs.push_back({set.name, set.inputs.size(), killed_ - before});
    }
    report_.input_seconds = seconds_since(start);
  }

  // Runs as many of `inputs` as fit into the list. Returns how many it ran.
  std::size_t run_portion(std::span<const SeccompData> inputs) {
    std::vector<std::uint8_t> wanted(program_.size(), 0);
    std::array<std::size_t, 2> storage;
    for (const Candidate& candidate : candidates_)
      if (!candidate.killed)
        for (const std::size_t pc : sites(candidate.mutant, storage)) wanted[pc] = 1;
    std::vector<std::vector<std::uint32_t>> reached(program_.size());
    std::vector<std::uint32_t> results;
    ReachRecorder recorder{program_.data(), reached, wanted, 0};
    while (results.size() < inputs.size() && recorder.entries < options_.list_entries &&
           !stop_wanted()) {
      recorder.input = static_cast<std::uint32_t>(results.size());
      results.push_back(run_observed(program_, inputs[results.size()], recorder));
    }
    for (Candidate& candidate : candidates_) {
      if (stop_wanted()) break;
      told("running inputs", &candidate - candidates_.data(), candidates_.size());
      if (candidate.killed) continue;
      const Program mutant = mutated(program_, candidate.mutant);
      const auto differs = [&](std::uint32_t input) {
        const std::uint32_t value = secequiv::run(mutant, inputs[input]);
        return !same_decision(results[input], value, options_.sameness);
      };
      for (const std::size_t pc : sites(candidate.mutant, storage))
        candidate.killed = candidate.killed || std::ranges::any_of(reached[pc], differs);
      killed_ += candidate.killed ? 1 : 0;
    }
    return results.size();
  }

  // Proves the mutants that no input kills, and the requested number of others.
  Status prove() {
    const auto start = Clock::now();
    std::vector<Candidate*> killed;
    for (Candidate& candidate : candidates_) {
      told("proving mutants that no input kills", &candidate - candidates_.data(),
           candidates_.size());
      if (candidate.killed) {
        killed.push_back(&candidate);
      } else if (auto s = prove(candidate); !s) {
        return s;
      }
    }
    const std::size_t wanted = options_.prove_all ? killed.size() : options_.sample;
    std::mt19937_64 random(options_.seed);
    const std::size_t most = std::min(wanted, killed.size());
    std::size_t tried = 0;
    for (; tried < most; ++tried) {
      told("proving mutants that inputs kill", tried, most);
      if (stop_wanted()) break;
      // Does one step of a shuffle, which stops once enough mutants are chosen.
      std::swap(killed[tried], killed[tried + random() % (killed.size() - tried)]);
      RETURN_IF_ERROR(prove(*killed[tried]));
    }
    report_.not_tried = most - tried;
    report_.all_proven = tried == killed.size();
    report_.proof_seconds = seconds_since(start);
    return Ok{};
  }

  Status prove(Candidate& candidate) {
    if (stop_wanted()) {
      candidate.proof = Proof();
      candidate.proof->verdict = Verdict::kUnknown;
      candidate.proof->detail = stop_reason();
      return Ok{};
    }
    const Program mutant = mutated(program_, candidate.mutant);
    Question question;
    question.before = {program_};
    question.after = {mutant};
    question.sameness = options_.sameness;
    ASSIGN_OR_RETURN(auto proof, ask_engine(question, options_.engine, options_.budget));
    if (candidate.killed && proof.verdict == Verdict::kEquivalent)
      return make_error(ErrorCode::kInternal, proof.engine,
                        fmt::format("the mutant of instruction {} ({}) was proven equivalent, but "
                                    "an input shows a difference; please report this",
                                    candidate.mutant.pc, describe(candidate.mutant, program_)));
    candidate.proof = std::move(proof);
    return Ok{};
  }

  void fuzz(std::span<const InputSet> inputs) {
    const auto start = Clock::now();
    for (const Candidate& candidate : candidates_) {
      told("fuzzing mutants that no input kills", &candidate - candidates_.data(),
           candidates_.size());
      if (candidate.killed || candidate.proof->verdict == Verdict::kEquivalent) continue;
      MissedMutant missed{candidate.mutant, candidate.proof->witness, std::nullopt,
                          candidate.proof->detail};
      if (!stop_wanted())
        missed.fuzzed = fuzz(Pair{program_, mutated(program_, candidate.mutant), options_.sameness},
                             inputs, report_.missed.size());
      // The user stopped before this mutant was fuzzed, so it does not count as surviving.
      if (!missed.fuzzed && stop_wanted()) missed.witness.reset();
      report_.missed.push_back(std::move(missed));
    }
    report_.fuzz_seconds = options_.fuzz_seconds;
    report_.fuzzing_seconds = seconds_since(start);
  }

  // Repeatedly changes derived inputs and the results of earlier changes.
  std::optional<Witness> fuzz(const Pair& pair, std::span<const InputSet> inputs,
                              std::size_t number) const {
    const InputMutator mutator({pair.before, pair.after});
    Random random(options_.seed * 0x9e3779b97f4a7c15 + number);
    SeccompData first;
    first.set_arch(AUDIT_ARCH_X86_64);
    std::vector<SeccompData> pool = {first};
    std::size_t derived = 0;
    for (const InputSet& set : inputs) derived += set.inputs.size();
    const auto seed = [&]() -> const SeccompData& {
      std::size_t at = random.below(derived + pool.size());
      for (const InputSet& set : inputs) {
        if (at < set.inputs.size()) return set.inputs[at];
        at -= set.inputs.size();
      }
      return pool[at];
    };
    const auto start = Clock::now();
    while (seconds_since(start) < options_.fuzz_seconds && !stop_wanted()) {
      for (std::size_t runs = 0; runs < kRunsBetweenLooks; ++runs) {
        SeccompData data = seed();
        mutator.mutate(data, random);
        if (const auto witness = replay(pair, data)) return witness;
        if (runs % 16 != 0) continue;
        if (pool.size() < kPool) {
          pool.push_back(data);
        } else {
          pool[random.below(kPool)] = data;
        }
      }
    }
    return std::nullopt;
  }

  void count() {
    for (const Candidate& candidate : candidates_) {
      MutationCounts& c = counts(candidate.mutant);
      c.by_inputs += candidate.killed ? 1 : 0;
      if (!candidate.proof) continue;
      ++c.proofs;
      const Verdict verdict = candidate.proof->verdict;
      c.equivalent += verdict == Verdict::kEquivalent ? 1 : 0;
      c.proven_different += verdict == Verdict::kDifferent ? 1 : 0;
      c.unproven += verdict == Verdict::kUnknown ? 1 : 0;
    }
    for (const MissedMutant& missed : report_.missed) {
      MutationCounts& c = counts(missed.mutant);
      ++(missed.fuzzed ? c.by_fuzzing : missed.witness ? c.survived : c.undecided);
    }
  }

  Program program_;
  const MutationOptions& options_;
  MutationReport report_;
  std::vector<Candidate> candidates_;
  std::size_t killed_ = 0;
};

}  // namespace

Result<MutationReport> score_mutants(ProgramView program, std::span<const InputSet> inputs,
                                     const MutationOptions& options) {
  return Job(program, options).run(inputs);
}

}  // namespace secequiv
