// The result of fuzzing an optimizer, a compiler or an evaluator, as data. Owns the kinds of
// findings and the shape of the report, which fuzz/hunt fills and report/ prints. It must not know
// how the target runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/refusal.h"
#include "harness/compare/direction.h"
#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"

namespace secequiv {

enum class FindingKind : std::uint8_t {
  kDifferent,  // the output decides differently from the input; a replayed witness shows it
  kRejected,   // the kernel would refuse the output, but not the input
  kCrashed,    // signal, panic, non-zero exit
  kHung,       // the time limit ran out
  kExhausted,  // the memory or output limit ran out
  kGarbage,    // the output is malformed
  kRefused,    // the target refused a program that the kernel accepts, or a valid policy
  kSlow,       // the target's time grows far faster than its input
  // The kernel allowed a system call from its cache before, and must now run the filter for it.
  kCacheLoss,
  kGrew,              // the output is longer than the input
  kNondeterministic,  // two different outputs for one input
  kNotIdempotent,     // the output can be optimized further
};
inline constexpr std::size_t kFindingKinds = 12;

// Returns "different", "rejected", "crashed", ..., "cache-loss", ..., "not-idempotent".
std::string_view finding_name(FindingKind kind);

// Returns false for the kinds that are only notes: grew, nondeterministic, not idempotent.
bool is_failure(FindingKind kind);

// The input of the optimizer, compiler or evaluator under test.
struct HuntSubject {
  std::string name;    // a file, or "generated"
  std::string policy;  // the policy in our JSON format if the input came from one, else empty
  Program before;  // the input of an optimizer or evaluator; for a policy, its unoptimized program
};

// The subject of a finding of an earlier run, with the finding's kind and inputs if that run
// recorded them.
struct KnownSubject {
  HuntSubject subject;
  std::optional<FindingKind> kind;
  std::vector<SeccompData> inputs = {};  // for evaluators
  // The wrong value that the code under test returned, or the program that it made.
  std::optional<Witness> answer = {};
};

struct Finding {
  FindingKind kind = FindingKind::kDifferent;
  bool failure = true;              // false: a note, or an allowed failure
  bool known = false;               // an earlier run found it
  std::string detail;               // one sentence
  std::string cause;                // what distinguishes a crash from others, or empty (Answer)
  std::optional<RefusalRule> rule;  // if the kernel would refuse the answer
  std::string found_by;             // "inputs", "proof", "answer", "scaling"
  HuntSubject subject;              // reduced, unless `reduced` is false
  bool reduced = false;
  bool repeated = true;  // false: it did not happen again when the same request was sent again
  std::optional<Program> after;  // the output, if it is a program
  std::optional<Witness> witness;
  std::optional<Direction> direction;  // what a wrong answer does to callers
  std::size_t original_size = 0;       // instructions of the subject before it was reduced
  std::uint64_t trial = 0;             // the trial that found it, counted from 1
  double seconds = 0;                  // from the start until it was found
  std::uint64_t count = 1;             // number of trials that it explains
  std::string pass;                    // the optimizer's pass that caused it, or empty if unknown
  // Equal for findings that probably have the same cause (fuzz/hunt/shape.h).
  std::string group;
  std::string shape;  // of the reduced program, if findings of this kind are grouped by it
  std::string file;   // path of the stored finding, or empty
  // Set if it is unknown whether a finding of an earlier run has the same cause. Then this finding
  // is not a failure.
  bool may_be_known = false;
};

// Returns a name like "different-1f0a93c2": the kind and a hash of the group. The file of a stored
// finding has this name, too.
std::string short_name(const Finding& finding);

// A file in a folder of programs or policies that could not be read, so that it was not tested.
struct UnreadFile {
  std::string path;
  Error error;
};

// The time that one family of programs took, by size.
struct ScalingRow {
  std::string family;
  std::vector<std::size_t> sizes;  // instructions
  std::vector<double> seconds;     // the shortest of several runs
  double exponent = 0;  // exponent of growth over the last sizes; 0 if too fast to measure
};

// How many programs or policies had one property.
struct ShapeRow {
  std::string group;  // "pairs"
  std::string name;   // "stx, ld M"
  std::uint64_t count = 0;
  std::uint64_t unsupported = 0;
};

struct HuntReport {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;
  std::string target;              // the target as the user named it
  std::string kind;                // "optimizer", "compiler", "evaluator"
  Arch host = Arch::kX86_64;       // texts name its calls
  std::string subjects;            // the origin of the programs
  std::vector<UnreadFile> unread;  // if there are any, the hunt does not pass
  std::uint64_t seed = 0;
  std::string replay_options;  // further options of a command that replays a finding: " --form ddd"
  double limit_seconds = 1e9;  // the time that the user gave
  double request_seconds = 0;  // the time limit of one request
  bool knows_earlier = false;  // findings of earlier runs were given

  std::uint64_t trials = 0;
  std::uint64_t answered = 0;
  std::uint64_t unsupported = 0;
  std::string unsupported_example;
  std::uint64_t proven = 0;  // outputs proven equivalent to their inputs
  // Outputs compared only on inputs: the prover reached a limit or did not run.
  std::uint64_t undecided = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t repeated = 0;  // runs repeated to check determinism and idempotence
  // If the optimizer reports the edges that it reaches: how many were new after the first trials,
  // and how many programs reached them.
  bool feedback = false;
  std::uint64_t new_edges = 0;
  std::uint64_t kept = 0;
  bool interrupted = false;
  double seconds = 0;

  std::vector<Finding> findings;  // one per group, failures first
  std::uint64_t not_reduced = 0;  // failures that no finding explains and that were not reduced
  std::vector<std::string> gone;  // earlier findings that the target no longer shows
  std::vector<ScalingRow> scaling;
  std::vector<ShapeRow> shapes;  // how often each shape was tried
  // If several processes hunted: the trials of each, and how a process was lost (empty: none was).
  std::vector<std::uint64_t> trials_of_processes;
  std::string lost;
};

}  // namespace secequiv
