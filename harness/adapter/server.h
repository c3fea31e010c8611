// The client of a served process. It starts the process at the first request, and again after every
// failure, unless its owner forbids that. Owns these starts, sending several requests ahead, the
// time limits, and the choice of the request to which a failure belongs. It must not know what
// requests and answers mean.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/adapter/interfaces.h"
#include "harness/adapter/process.h"

namespace secequiv {

// The outcome of one request.
struct Reply {
  Outcome outcome = Outcome::kAnswered;
  std::string_view body;  // if kAnswered: the bytes after the status
  std::string detail;     // otherwise
  double seconds = 0;
  std::string cause = {};               // as in Answer
  std::optional<int> exit_status = {};  // if the process exited without an answer
};

class Server {
 public:
  enum class Restart : std::uint8_t {
    kAlways,
    kNever,  // after the process has ended, each request fails as the last one did
  };

  // Start (process.h) explains `argv`.
  Server(std::vector<std::string> argv, const AdapterLimits& limits,
         Restart restart = Restart::kAlways)
      : argv_(std::move(argv)), limits_(limits), restart_(restart) {}
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns the body of request `i`.
  using Encode = std::function<std::string(std::size_t i)>;
  // Receives the reply to request `i`. For kAnswered it returns the body's error, or an empty
  // string if the body is valid. After an error, the server calls it again with kGarbage.
  using Take = std::function<std::string(std::size_t i, Reply reply)>;

  // Sends requests 0 to `count` - 1 and takes their replies in this order. Several requests are
  // under way at a time; the time limit of a request starts at the previous answer. After a failure
  // the server is killed, and a new one gets the remaining requests.
  void ask_all(std::size_t count, const Encode& encode, const Take& take);

  // Sends one request. The value of the answer is the reply's body.
  Answer<std::string> ask(const std::string& request);

 private:
  class Conversation;

  void stop();

  std::vector<std::string> argv_;
  AdapterLimits limits_;
  Restart restart_;
  std::optional<Reply> last_failure_;  // with Restart::kNever
  std::unique_ptr<Process> process_;
  bool has_answered_ = false;  // refers to the running process
};

}  // namespace secequiv
