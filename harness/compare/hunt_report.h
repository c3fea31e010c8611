// What fuzzing an optimizer, a compiler or an evaluator found out, as data. Owns the kinds of
// findings and the shape of the report; fuzz/hunt fills it, report/ renders it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"

namespace secequiv {

enum class FindingKind : std::uint8_t {
  kDifferent,  // another answer than the input's, shown by a replayed witness
  kRejected,   // the kernel would refuse the output, but not the input
  kCrashed,    // signal, panic, non-zero exit
  kHung,       // the time limit ran out
  kExhausted,  // the memory or output limit ran out
  kGarbage,    // what it answered is no answer
  kRefused,    // it refused a program that the kernel accepts, or a policy that means something
  kSlow,       // time grows far faster than its input
  kCacheLoss,  // a system call that the kernel allowed without running the filter needs it now
  kGrew,       // the output is longer than the input
  kNondeterministic,  // two answers to one question
  kNotIdempotent,     // the output can be optimized further
};
inline constexpr std::size_t kFindingKinds = 12;

// "different", "rejected", "crashed", ..., "cache-loss", ..., "not-idempotent".
std::string_view finding_name(FindingKind kind);

// Is it wrong, or only worth knowing (grew, nondeterministic, not idempotent)?
bool is_failure(FindingKind kind);

// What was asked of whatever is under test.
struct HuntSubject {
  std::string name;    // a file, or "generated"
  std::string policy;  // text of our JSON format, if a policy was at the beginning; else empty
  Program before;      // an optimizer's or evaluator's input; of a policy, its unoptimized program
};

struct Finding {
  FindingKind kind = FindingKind::kDifferent;
  bool failure = true;   // false: a note, or a failure that was allowed
  std::string detail;    // one sentence
  std::string found_by;  // "inputs", "proof", "answer", "scaling"
  HuntSubject subject;   // reduced, unless `reduced` is false
  bool reduced = false;
  std::optional<Program> after;  // the answer, if there was a program
  std::optional<Witness> witness;
  std::size_t original_size = 0;  // instructions of the subject before it was reduced
  std::uint64_t trial = 0;        // at which trial it was found, from 1
  double seconds = 0;             // from the start to finding it
  std::uint64_t count = 1;        // how many trials showed the same (by reduced shape)
  std::string pass;               // of the optimizer, which did it; empty if that is not known
  std::string group;              // equal for equal causes, as far as shape and pass tell
  std::string file;               // where it was stored, or empty
};

// How long one family of programs took, by size.
struct ScalingRow {
  std::string family;
  std::vector<std::size_t> sizes;  // instructions
  std::vector<double> seconds;     // the least of some tries
  double exponent = 0;             // of growth over the last sizes; 0 if too fast to tell
};

struct HuntReport {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;
  std::string target;    // what is under test, as it was given
  std::string kind;      // "optimizer", "compiler", "evaluator"
  std::string subjects;  // where programs came from
  std::uint64_t seed = 0;
  std::string replay_options;  // what a command that replays a finding needs, too: " --form ddd"

  std::uint64_t trials = 0;
  std::uint64_t answered = 0;
  std::uint64_t unsupported = 0;
  std::string unsupported_example;
  std::uint64_t proven = 0;  // answers proven equivalent to what they came from
  std::uint64_t undecided =
      0;  // compared on inputs only: the prover's limits ran out, or it was not asked
  std::uint64_t evaluations = 0;
  std::uint64_t repeated = 0;  // asked twice, for determinism and idempotence
  bool interrupted = false;
  double seconds = 0;

  std::vector<Finding> findings;  // one for each group, failures first
  std::uint64_t not_reduced = 0;  // failures beyond the number that is reduced, only counted
  std::vector<ScalingRow> scaling;
};

}  // namespace secequiv
