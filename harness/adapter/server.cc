#include "harness/adapter/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/adapter/command.h"
#include "harness/adapter/frames.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

constexpr std::size_t kAheadBytes = std::size_t{1} << 16;  // encoded but not yet written
constexpr std::size_t kReasonBytes = 2000;
constexpr double kFarewellSeconds = 5;

// Formats bytes as "68 65 6c 'hel'".
std::string shown_bytes(std::string_view bytes) {
  const std::string_view some = bytes.substr(0, 16);
  std::string hex;
  for (const char c : some) hex += fmt::format(" {:02x}", static_cast<unsigned char>(c));
  return fmt::format("{}{} '{}'", hex.empty() ? "" : hex.substr(1),
                     some.size() < bytes.size() ? " ..." : "", printable(some, false));
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return std::isprint(static_cast<unsigned char>(c)) != 0 || c == '\n' || c == '\r' || c == '\t';
  });
}

std::string reason(std::string_view body) {
  return body.empty() ? "it gave no reason" : printable(body.substr(0, kReasonBytes), true);
}

// Decodes an answer. If the outcome is kGarbage, the detail names what was expected.
Reply read_reply(std::string_view frame) {
  if (frame.empty()) return {Outcome::kGarbage, {}, "expected a status, found an empty frame", 0};
  const auto status = static_cast<std::uint8_t>(frame[0]);
  const std::string_view body = frame.substr(1);
  switch (status) {
    case kStatusAnswered:
      return {Outcome::kAnswered, body, {}, 0};
    case kStatusUnsupported:
      return {Outcome::kUnsupported, {}, reason(body), 0};
    case kStatusRefused:
      return {Outcome::kRefused, {}, reason(body), 0};
    case kStatusGarbage:
      return {Outcome::kGarbage, {}, reason(body), 0};
    default:
      return {Outcome::kGarbage,
              {},
              fmt::format("expected a status of 0, 1 or 2, found {} in a frame of {} bytes", status,
                          frame.size()),
              0};
  }
}

}  // namespace

// Sends requests from number `done` on to one process, until all are answered or the process fails.
class Server::Conversation {
 public:
  Conversation(Server& server, std::size_t done, std::size_t count, const Encode& encode,
               const Take& take)
      : server_(server),
        process_(*server.process_),
        limits_(server.limits_),
        encode_(encode),
        take_(take),
        count_(count),
        done_(done),
        sent_(done) {}

  // Returns the number of requests with replies. If the process failed, run() has ended it.
  std::size_t run(bool fresh) {
    started_ = Clock::now();
    if (!fresh && !usable()) return done_;
    deadline_ = deadline_in(limits_.seconds_now());
    while (!failed_ && done_ < count_) {
      refill();
      std::string_view rest = std::string_view(output_).substr(written_);
      const bool in_time = process_.step(rest, input_, deadline_);
      written_ = output_.size() - rest.size();
      const bool progress = take_frames();
      if (failed_ || done_ == count_) break;
      if (process_.exited())
        ended();
      else if (!in_time && !progress)
        late();
    }
    return done_;
  }

 private:
  // Checks a process that served earlier requests: it may have ended since, or written bytes
  // without a request.
  bool usable() {
    process_.look(input_);
    if (!input_.empty()) {
      fail(Outcome::kGarbage,
           fmt::format("expected nothing before the request, found {}", shown_bytes(input_)));
      return false;
    }
    if (!process_.exited() && process_.output_open()) return true;
    if (server_.restart_ == Restart::kNever)
      ended();
    else
      server_.process_.reset();
    return false;
  }

  void refill() {
    if (output_.size() - written_ >= kAheadBytes || sent_ == count_) return;
    output_.erase(0, written_);
    written_ = 0;
    while (sent_ < count_ && output_.size() < kAheadBytes) append_frame(output_, encode_(sent_++));
  }

  // Returns the number of complete frames within the size limit.
  [[nodiscard]] std::size_t whole_frames() const {
    std::size_t frames = 0;
    for (std::string_view rest = input_; rest.size() >= kLengthBytes; ++frames) {
      const std::size_t size = kLengthBytes + std::size_t{frame_length(rest)};
      if (size - kLengthBytes > limits_.output_bytes || rest.size() < size) break;
      rest.remove_prefix(size);
    }
    return frames;
  }

  // Returns whether there were any frames.
  bool take_frames() {
    const std::size_t frames = whole_frames();
    std::string_view rest = input_;
    if (frames > 0) {
      const auto now = Clock::now();
      share_ = std::chrono::duration<double>(now - started_).count() / static_cast<double>(frames);
      started_ = now;
      deadline_ = deadline_in(limits_.seconds_now());
    }
    for (std::size_t i = 0; i < frames && !failed_; ++i) {
      const std::size_t size = frame_length(rest);
      const std::string_view frame = rest.substr(kLengthBytes, size);
      rest.remove_prefix(kLengthBytes + size);
      take_frame(frame, rest);
    }
    if (!failed_ && rest.size() >= kLengthBytes && frame_length(rest) > limits_.output_bytes)
      too_long(rest);
    share_ = 0;
    input_.erase(0, input_.size() - rest.size());
    return frames > 0;
  }

  void take_frame(std::string_view frame, std::string_view behind) {
    Reply reply = read_reply(frame);
    reply.seconds = share_;
    if (reply.outcome == Outcome::kGarbage) return fail(Outcome::kGarbage, reply.detail);
    if (done_ + 1 == sent_ && !behind.empty())
      return fail(Outcome::kGarbage,
                  fmt::format("expected nothing after the answer, found {}", shown_bytes(behind)));
    if (const std::string wrong = take_(done_, reply); !wrong.empty())
      return fail(Outcome::kGarbage, wrong);
    ++done_;
    server_.has_answered_ = true;
  }

  void too_long(std::string_view rest) {
    // A server that also prints to standard output sends text instead of a length.
    if (is_text(rest.substr(0, kLengthBytes)))
      return fail(Outcome::kGarbage,
                  fmt::format("expected a frame's length, found text: {}", shown_bytes(rest)));
    fail(Outcome::kExhausted, fmt::format("its answer has {} bytes, more than the limit of {}",
                                          frame_length(rest), limits_.output_bytes));
  }

  // Describes how much of the answer arrived.
  [[nodiscard]] std::string so_far() const {
    if (input_.empty()) return "without an answer";
    if (input_.size() < kLengthBytes)
      return fmt::format("after {} of the 4 bytes of an answer's length: {}", input_.size(),
                         shown_bytes(input_));
    return fmt::format("after {} of an answer's {} bytes", input_.size() - kLengthBytes,
                       frame_length(input_));
  }

  void late() {
    std::string what =
        fmt::format("it was still running after {} s {}", limits_.seconds_now(), so_far());
    if (!process_.output_open()) what += ", had closed its standard output";
    fail(Outcome::kHung, what + ", and was killed");
  }

  void ended() {
    const Ending ending = process_.end();
    // A server may end after any answer, even if more requests are already in the pipe.
    if (ending.clean() && input_.empty() && server_.has_answered_ &&
        server_.restart_ == Restart::kAlways) {
      failed_ = true;
      server_.process_.reset();
      return;
    }
    std::string what = fmt::format("{} {}", ending.text(), so_far());
    exit_status_ = ending.exit_status();
    if (ending.clean()) return fail(Outcome::kGarbage, what);
    const Outcome outcome = failed(ending, process_.tail(), what);
    fail(outcome, what);
  }

  void fail(Outcome outcome, const std::string& what) {
    Reply reply;
    reply.outcome = outcome;
    reply.seconds = share_ > 0 ? share_ : seconds_since(started_);
    reply.detail = what + process_.tail().clause();
    reply.cause = process_.tail().cause(what);
    reply.exit_status = exit_status_;
    server_.process_.reset();
    if (server_.restart_ == Restart::kNever) server_.last_failure_ = reply;
    failed_ = true;
    take_(done_++, std::move(reply));
  }

  Server& server_;
  Process& process_;
  const AdapterLimits& limits_;
  const Encode& encode_;
  const Take& take_;
  const std::size_t count_;
  std::size_t done_;    // requests with replies
  std::size_t sent_;    // requests that were added to output_; some are written already
  std::string output_;  // encoded requests; the first written_ bytes have been written
  std::size_t written_ = 0;
  std::string input_;  // the beginning of an answer
  Clock::time_point started_;
  Clock::time_point deadline_;
  std::optional<int> exit_status_;
  double share_ = 0;  // seconds per answer, if several answers arrived together
  bool failed_ = false;
};

void Server::stop() {
  if (process_ != nullptr) process_->end_gently(deadline_in(kFarewellSeconds));
  process_.reset();
}

void Server::ask_all(std::size_t count, const Encode& encode, const Take& take) {
  const NoSigpipe no_sigpipe;
  for (std::size_t done = 0; done < count;) {
    const bool fresh = process_ == nullptr;
    if (fresh && last_failure_) {
      take(done++, *last_failure_);
      continue;
    }
    if (fresh) {
      process_ = std::make_unique<Process>();
      has_answered_ = false;
      if (const Status started = process_->start({.argv = argv_,
                                                  .memory_bytes = limits_.memory_bytes,
                                                  .confinement = limits_.confinement.get()});
          !started) {
        process_.reset();
        take(done++, {Outcome::kCrashed, {}, started.error().detail, 0});
        continue;
      }
    }
    done = Conversation(*this, done, count, encode, take).run(fresh);
  }
}

Answer<std::string> Server::ask(const std::string& request) {
  Answer<std::string> answer;
  ask_all(
      1, [&](std::size_t) { return request; },
      [&](std::size_t, Reply reply) {
        answer = {reply.outcome, std::string(reply.body), std::move(reply.detail), reply.seconds,
                  std::move(reply.cause)};
        return std::string();
      });
  return answer;
}

}  // namespace secequiv
