#include "fuzz/pair/fuzz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "fuzz/pair/batch.h"
#include "fuzz/pair/corpus.h"
#include "fuzz/pair/libfuzzer.h"
#include "harness/base/clock.h"
#include "harness/base/workers.h"

#ifdef SECEQUIV_LIBFUZZER
extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*one)(const std::uint8_t* data, std::size_t size));
#endif

namespace secequiv::pair {

bool can_fuzz() {
#ifdef SECEQUIV_LIBFUZZER
  return true;
#else
  return false;
#endif
}

namespace {

constexpr unsigned kMaxJobs = 256;
constexpr double kPatienceSeconds = 5;  // waiting time for a process that should end by itself

// State of one job, which only that job writes.
struct alignas(64) JobState {
  std::atomic<std::uint64_t> runs;
  std::atomic<std::uint64_t> evaluations;
};

// The memory that all processes share. One byte for each edge follows it: `seen`.
struct Shared {
  std::atomic<bool> stop;
  std::atomic<int> finding;    // 0: none, 1: being written, 2: complete
  std::atomic<bool> unstored;  // an input that was found could not be written
  SeccompData data;
  std::array<JobState, kMaxJobs> jobs;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

#ifdef SECEQUIV_LIBFUZZER

// Data for libFuzzer's callback in the process of one job.
struct Job {
  Shared* shared;
  JobState* state;
  std::span<std::uint8_t> all_seen;
  std::vector<std::uint8_t> seen;
  std::uint64_t evaluations;  // limit for this job
  std::string corpus;
  const PairSession* session;
  Batches batches;
};
Job* the_job = nullptr;

void store(std::string_view prefix, const SeccompData& data, bool flush) {
  if (add_input(the_job->corpus, prefix, data, flush)) return;
  the_job->shared->unstored = true;
  the_job->shared->stop = true;
}

// Writes an input with new coverage to disk before other jobs can see that coverage. libFuzzer also
// stores such inputs, but not in its last run, and it does not report errors of writing.
void tell_first(const PairOutcome& outcome, std::span<const std::uint8_t> bytes) {
  Job& job = *the_job;
  bool fresh = false;
  for (std::size_t edge = 0; edge < job.seen.size(); ++edge)
    fresh = fresh || job.seen[edge] > job.all_seen[edge];
  if (!fresh) return;
  for (std::size_t i = 0; i < kMaxRecords; ++i)
    if ((outcome.first >> i & 1) != 0) store(kSeedPrefix, record(bytes, i), false);
  for (std::size_t edge = 0; edge < job.seen.size(); ++edge)
    if (job.seen[edge] != 0) job.all_seen[edge] = 1;
}

// Writes the finding to disk before reporting it.
void tell(const Witness& witness) {
  store(kFindingPrefix, witness.data, true);
  int none = 0;
  if (the_job->shared->finding.compare_exchange_strong(none, 1)) {
    the_job->shared->data = witness.data;
    the_job->shared->finding = 2;
  }
  the_job->shared->stop = true;
}

// Runs an input that a batch found. libFuzzer does not see the coverage of this input, because
// libFuzzer runs another input. The batches keep the input instead.
PairOutcome look_at(const SeccompData& data) {
  std::array<std::uint8_t, kRecordBytes> bytes{};
  std::memcpy(bytes.data(), data.words.data(), kRecordBytes);
  std::uint8_t mark = 0;
  const PairOutcome outcome = the_job->session->run(bytes, Edges{{&mark, 1}, the_job->seen, true});
  if (outcome.first != 0) tell_first(outcome, bytes);
  if (outcome.witness) tell(*outcome.witness);
  return outcome;
}

int one_input(const std::uint8_t* data, std::size_t size) {
  Job& job = *the_job;
  const PairOutcome outcome = run_session({data, size}, job.seen, true);
  if (outcome.first != 0) tell_first(outcome, {data, size});
  if (outcome.witness) tell(*outcome.witness);
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const std::uint64_t runs = job.state->runs.load(kRelaxed) + 1;
  std::uint64_t evaluations = job.state->evaluations.load(kRelaxed) + records_in(size);
  if (!outcome.witness && evaluations < job.evaluations)
    evaluations += job.batches.run({data, size}, job.evaluations - evaluations, look_at);
  job.state->runs.store(runs, kRelaxed);
  job.state->evaluations.store(evaluations, kRelaxed);
  if (evaluations >= job.evaluations || job.shared->stop) Workers::leave();
  return 0;
}

void work(const PairSession& session, const FuzzOptions& options, Job& job, unsigned number) {
  set_session(session);
  the_job = &job;
  std::vector<std::string> arguments = {
      "secequiv",
      // libFuzzer would replace the seed 0 by a random seed.
      fmt::format("-seed={}", (options.seed * kMaxJobs + number) % 0xfffffffe + 1),
      fmt::format("-max_len={}", kMaxBytes), "-len_control=0", "-reload=1", "-reduce_inputs=0",
      "-rss_limit_mb=0", "-timeout=0", "-handle_int=0", "-handle_term=0", "-handle_xfsz=0",
      // libFuzzer writes a unit here if it crashes this process. A difference ends the run through
      // tell() instead.
      "-artifact_prefix=" + job.corpus + "/crash-", job.corpus};
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  char** argv = pointers.data();
  (void)LLVMFuzzerRunDriver(&count, &argv, one_input);  // it does not return
}

#endif

class Jobs {
 public:
  Jobs(const PairSession& session, const FuzzOptions& options)
      : session_(session), options_(options), memory_(session.edges()) {}

  Result<FuzzResult> run() {
    if (memory_.get() == nullptr) return make_error(ErrorCode::kIo, "fuzz", std::strerror(errno));
    std::ranges::copy(options_.seen, memory_.more().begin());
    known_edges_ = edges();
    for (unsigned number = 0; number < jobs(); ++number) RETURN_IF_ERROR(start(number));
    FuzzResult out;
    while (workers_.running()) {
      RETURN_IF_ERROR(workers_.reap(20'000'000));
      look(out.status);
      if (options_.progress) options_.progress(out.status);
      if (options_.stop && options_.stop()) out.interrupted = true;
      if (out.interrupted || out.status.seconds >= options_.seconds) memory_.get()->stop = true;
      if (memory_.get()->stop) {
        RETURN_IF_ERROR(workers_.end(kPatienceSeconds));
      }
    }
    look(out.status);
    if (memory_.get()->unstored)
      return make_error(ErrorCode::kIo, options_.corpus,
                        "a new input cannot be written to the folder");
    out.seen.assign(memory_.more().begin(), memory_.more().end());
    if (memory_.get()->finding == 2) {
      out.witness = replay(session_.pair(), memory_.get()->data);
      if (!out.witness)
        return make_error(ErrorCode::kInternal, "fuzz",
                          "an input showed a difference during fuzzing, but not when it was run "
                          "again; please report this");
    }
    return out;
  }

 private:
  [[nodiscard]] unsigned jobs() const { return std::clamp(options_.jobs, 1U, kMaxJobs); }

  Status start([[maybe_unused]] unsigned number) {
#ifdef SECEQUIV_LIBFUZZER
    // Uses an absolute path, because libFuzzer treats an argument with a leading '-' as an option.
    std::error_code error;
    Job job{.shared = memory_.get(),
            .state = &memory_.get()->jobs[number],
            .all_seen = memory_.more(),
            .seen = std::vector<std::uint8_t>(session_.edges()),
            .evaluations = 0,
            .corpus = std::filesystem::absolute(options_.corpus, error).string(),
            .session = &session_,
            .batches = Batches(session_, memory_.more(), options_.seed * kMaxJobs + number)};
    if (error) return make_error(ErrorCode::kIo, options_.corpus, error.message());
    job.evaluations = std::max<std::uint64_t>(options_.evaluations / jobs(), 1);
    return workers_.start([&] { work(session_, options_, job, number); });
#else
    return make_error(ErrorCode::kUnavailable, "fuzz", "this program was built without libFuzzer");
#endif
  }

  void look(FuzzStatus& status) const {
    status.seconds = seconds_since(start_);
    status.runs = status.evaluations = 0;
    for (unsigned number = 0; number < jobs(); ++number) {
      status.runs += memory_.get()->jobs[number].runs;
      status.evaluations += memory_.get()->jobs[number].evaluations;
    }
    const std::size_t now = edges();
    if (now != std::max(status.edges, known_edges_)) status.last_edge_seconds = status.seconds;
    status.edges = now;
  }

  [[nodiscard]] std::size_t edges() const {
    return static_cast<std::size_t>(std::ranges::count(memory_.more(), std::uint8_t{1}));
  }

  const PairSession& session_;
  const FuzzOptions& options_;
  SharedMemory<Shared> memory_;
  Workers workers_;
  std::size_t known_edges_ = 0;  // edges known before the jobs started
  Clock::time_point start_ = Clock::now();
};

}  // namespace

Result<FuzzResult> fuzz(const PairSession& session, const FuzzOptions& options) {
  return Jobs(session, options).run();
}

}  // namespace secequiv::pair
