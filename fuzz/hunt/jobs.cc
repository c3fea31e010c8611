#include "fuzz/hunt/jobs.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "fuzz/hunt/store.h"
#include "harness/base/interrupt.h"
#include "harness/base/workers.h"

namespace secequiv::hunt {
namespace {

constexpr unsigned kMostJobs = 256;
constexpr double kPatienceSeconds = 5;  // for a process that should end, after its last request
constexpr std::array kCounts = {&HuntReport::trials,      &HuntReport::answered,
                                &HuntReport::unsupported, &HuntReport::proven,
                                &HuntReport::undecided,   &HuntReport::evaluations,
                                &HuntReport::repeated,    &HuntReport::not_reduced};

// Copies values to bytes, or with kRead from bytes. Both ends run this same program.
template <bool kRead>
class Bytes {
 public:
  explicit Bytes(std::string bytes = {}) : bytes_(std::move(bytes)) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void operator()(T& value) {
    copy(reinterpret_cast<char*>(&value), sizeof(T));
  }
  template <class Char>
  void operator()(std::basic_string<Char>& list) {
    elements(list);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    elements(list);
  }
  template <class T>
    requires(!std::is_trivially_copyable_v<T>)
  void operator()(std::optional<T>& value) {
    bool some = value.has_value();
    (*this)(some);
    if (kRead && some) value.emplace();
    if (some) (*this)(*value);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool at_end() const { return at_ == bytes_.size(); }

 private:
  template <class List>
  void elements(List& list) {
    std::uint64_t size = list.size();
    (*this)(size);
    list.resize(size);
    copy(reinterpret_cast<char*>(list.data()), size * sizeof(list[0]));
  }
  void copy(char* at, std::size_t size) {
    if (size == 0) return;
    if constexpr (kRead)
      std::memcpy(at, bytes_.data() + at_, size);
    else
      bytes_.append(at, size);
    at_ += size;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

template <class B>
void copy_finding(B& bytes, Finding& f) {
  bytes(f.kind), bytes(f.failure), bytes(f.known), bytes(f.detail), bytes(f.cause);
  bytes(f.rule), bytes(f.found_by), bytes(f.subject.name), bytes(f.subject.policy),
      bytes(f.subject.before);
  bytes(f.reduced), bytes(f.repeated), bytes(f.after), bytes(f.witness), bytes(f.original_size);
  bytes(f.trial), bytes(f.seconds), bytes(f.count), bytes(f.pass), bytes(f.group), bytes(f.file);
  bytes(f.shape), bytes(f.may_be_known);
}

}  // namespace

// What a process publishes: counts, and how many bytes of its messages are complete.
struct alignas(64) Jobs::Published {
  std::array<std::atomic<std::uint64_t>, kCounts.size()> counts;
  std::atomic<std::uint64_t> bytes;
};

// A finding or, when a process ends, the rest of its report: counts of shapes, and an example of an
// unsupported subject.
struct Jobs::Message {
  bool last = false;
  Finding finding = {};
  std::vector<std::uint64_t> shapes = {};
  std::string example = {};

  template <class B>
  void copy(B& bytes) {
    bytes(last), bytes(shapes), bytes(example);
    copy_finding(bytes, finding);
  }
};

// A process has at most one finding with this key. An index would not identify a finding, because a
// report can sort its findings.
Jobs::Key Jobs::key_of(const Finding& finding) { return {finding.known, finding.group}; }

// One other process. Its messages are in a file in memory that both processes have opened.
struct Jobs::Other {
  Other() : messages(memory_file("secequiv-findings")) {}
  ~Other() {
    if (messages >= 0) ::close(messages);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  SharedMemory<Published> published;
  int messages;
  std::uint64_t taken = 0;
  mutable std::map<Key, std::uint64_t> told;  // counts of findings that were reported
};

Jobs::Jobs() = default;
Jobs::~Jobs() = default;

Result<std::unique_ptr<Jobs>> Jobs::start(
    unsigned jobs, HuntOptions& options,
    const std::function<Result<HuntReport>(const HuntOptions&)>& hunt_one) {
  std::unique_ptr<Jobs> out(new Jobs);
  const auto count = std::min<std::uint64_t>({jobs, kMostJobs, options.trials});
  const std::uint64_t share = options.trials == ~0ull ? options.trials : options.trials / count;
  if (options.trials != ~0ull) options.trials -= share * (count - 1);
  for (std::uint64_t number = 1; number < count; ++number) {
    out->others_.push_back(std::make_unique<Other>());
    const Other& other = *out->others_.back();
    if (other.published.get() == nullptr || other.messages < 0)
      return make_error(ErrorCode::kIo, "--jobs", std::strerror(errno));
    HuntOptions mine = options;
    mine.trials = share;
    mine.seed = Random(options.seed ^ (number * 0x9e3779b97f4a7c15)).next();
    mine.scaling = false;  // the first process measures; others would disturb its times
    mine.stop = stop_wanted;
    mine.for_another = true;
    mine.progress = [&](const HuntReport& report) { out->tell(other, report, false); };
    mine.found = [&](const HuntReport& report, Finding& finding) {
      if (options.found) options.found(report, finding);
      out->tell(other, report, false);
    };
    RETURN_IF_ERROR(out->workers_.start([&] {
      const auto report = hunt_one(mine);
      if (!report) {
        fmt::print(stderr, "{}", report.error().text());
        return;
      }
      out->tell(other, *report, true);
      Workers::leave();
    }));
  }
  options.jobs = out.get();
  return out;
}

void Jobs::tell(const Other& other, const HuntReport& report, bool last) const {
  Published& published = *other.published.get();
  const auto write = [&](Message& message) {
    Bytes<false> bytes;
    message.copy(bytes);
    const std::uint64_t size = bytes.bytes().size();
    std::string text(reinterpret_cast<const char*>(&size), sizeof(size));
    text += bytes.bytes();
    const auto at = static_cast<off_t>(published.bytes.load());
    if (::pwrite(other.messages, text.data(), text.size(), at) !=
        static_cast<ssize_t>(text.size())) {
      fmt::print(stderr, "cannot send a finding to the other processes: {}\n",
                 std::strerror(errno));
      ::_exit(1);
    }
    published.bytes += text.size();
  };
  for (const Finding& finding : report.findings) {
    const auto told = other.told.find(key_of(finding));
    Message message{.finding = finding};
    // A new finding is sent at once, unless it is known from an earlier run. At the end, each
    // finding is sent with the number of trials that it explains and that were not sent before.
    if (told != other.told.end() ? !last : message.finding.known && !last) continue;
    const std::uint64_t before = told == other.told.end() ? 0 : told->second;
    message.finding.count -= std::min(before, message.finding.count);
    other.told[key_of(finding)] = finding.count;
    write(message);
  }
  for (std::size_t i = 0; i < kCounts.size(); ++i) published.counts[i] = report.*kCounts[i];
  if (!last) return;
  Message message{.last = true, .example = report.unsupported_example};
  for (const ShapeRow& row : report.shapes)
    message.shapes.insert(message.shapes.end(), {row.count, row.unsupported});
  write(message);
}

Result<Ok> Jobs::join(Findings& findings, const HuntReport& report) {
  for (std::size_t from = 0; from < others_.size(); ++from) {
    Other& other = *others_[from];
    while (other.taken < other.published.get()->bytes) {
      std::uint64_t size = 0;
      const auto at = static_cast<off_t>(other.taken);
      std::string text;
      bool read = ::pread(other.messages, &size, sizeof(size), at) == sizeof(size);
      if (read) text.resize(size);
      read = read && ::pread(other.messages, text.data(), size, at + off_t{sizeof(size)}) ==
                         static_cast<ssize_t>(size);
      if (!read) return make_error(ErrorCode::kIo, "--jobs", std::strerror(errno));
      other.taken += sizeof(size) + size;
      Message message;
      Bytes<true> bytes(std::move(text));
      message.copy(bytes);
      RETURN_IF_ERROR(take(std::move(message), from, findings, report));
    }
  }
  return Ok{};
}

Result<Ok> Jobs::take(Message message, std::size_t from, Findings& findings,
                      const HuntReport& report) {
  if (message.last) {
    if (ended_.shapes.empty()) ended_.shapes.resize(message.shapes.size() / 2);
    for (std::size_t i = 0; i < ended_.shapes.size(); ++i) {
      ended_.shapes[i].count += message.shapes[2 * i];
      ended_.shapes[i].unsupported += message.shapes[2 * i + 1];
    }
    if (ended_.unsupported_example.empty()) ended_.unsupported_example = message.example;
    return Ok{};
  }
  Finding& finding = message.finding;
  const std::string file = finding.file;
  finding.subject.name += fmt::format(", process {}", from + 2);
  const auto key = std::pair(from, key_of(finding));
  const auto earlier = joined_.find(key);
  ASSIGN_OR_RETURN(
      auto at,
      findings.join(std::move(finding),
                    earlier == joined_.end() ? std::nullopt : std::optional(earlier->second)));
  joined_[key] = at;
  if (file.empty() ||
      std::ranges::find(report.findings, file, &Finding::file) != report.findings.end())
    return Ok{};
  remove_stored(file);
  return Ok{};
}

Result<Ok> Jobs::end(Findings& findings, HuntReport& report, const HuntOptions& options) {
  std::optional<Clock::time_point> asked;
  const double patience = options.request_seconds + kPatienceSeconds;
  while (workers_.running() && !(asked && seconds_since(*asked) > patience)) {
    report.interrupted = report.interrupted || (options.stop && options.stop());
    const bool over = report.interrupted || findings.out_of_time() ||
                      (options.stop_at_first && findings.failed());
    if (over && !asked) {
      workers_.ask_to_stop();
      asked = Clock::now();
    }
    const auto lost = workers_.reap(5'000'000);
    if (!lost && report.lost.empty()) report.lost = lost.error().detail;
    RETURN_IF_ERROR(join(findings, report));
    if (options.progress) options.progress(report);
  }
  if (workers_.running() && report.lost.empty()) report.lost = "a fuzzing process did not end";
  RETURN_IF_ERROR(workers_.end(0));
  RETURN_IF_ERROR(join(findings, report));
  report = total(std::move(report));
  return Ok{};
}

HuntReport Jobs::total(HuntReport report) const {
  report.trials_of_processes = {report.trials};
  for (const auto& other : others_) {
    const Published& published = *other->published.get();
    report.trials_of_processes.push_back(published.counts[0]);
    for (std::size_t i = 0; i < kCounts.size(); ++i) report.*kCounts[i] += published.counts[i];
  }
  for (std::size_t i = 0; i < std::min(report.shapes.size(), ended_.shapes.size()); ++i) {
    report.shapes[i].count += ended_.shapes[i].count;
    report.shapes[i].unsupported += ended_.shapes[i].unsupported;
  }
  if (report.unsupported_example.empty()) report.unsupported_example = ended_.unsupported_example;
  return report;
}

}  // namespace secequiv::hunt
