// Owns a Z3 solver with limits: its configuration, the clock that interrupts it, and the texts for
// limits that are reached. It must not know queries (solver.h, policy_proof.h). It exposes Z3's
// types, so only .cc files of this folder include it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "harness/base/result.h"
#include "harness/seccomp/data.h"
#include "verify/smt/domain.h"

namespace secequiv::smt {

// Interrupts Z3 at a deadline, because Z3 checks its own "timeout" parameter too rarely.
class Watchdog {
 public:
  Watchdog(Z3_context context, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  [[nodiscard]] bool expired() const { return Clock::now() >= deadline_ || stop_wanted(); }
  // Returns why the watchdog expired.
  [[nodiscard]] std::string reason(double seconds) const;

 private:
  Clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

class Solver {
 public:
  // kBits turns terms into bits at once. kWords keeps words as long as possible, which is better
  // for programs that mostly move words.
  enum class Core : std::uint8_t { kBits, kWords };

  explicit Solver(Terms& terms, std::size_t memory_mib = 4096, Core core = Core::kBits);
  ~Solver() { Z3_solver_dec_ref(terms_.context(), solver_); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  void require(Z3_ast condition) { Z3_solver_assert(terms_.context(), solver_, condition); }
  void push() { Z3_solver_push(terms_.context(), solver_); }
  void pop() { Z3_solver_pop(terms_.context(), solver_, 1); }
  Z3_lbool check() { return Z3_solver_check(terms_.context(), solver_); }
  [[nodiscard]] std::string reason_unknown() const {
    return Z3_solver_get_reason_unknown(terms_.context(), solver_);
  }
  [[nodiscard]] std::string text() const { return Z3_solver_to_string(terms_.context(), solver_); }

  // Returns the values of terms, or the input, in the last satisfiable check; std::nullopt if Z3
  // was interrupted since.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> model(
      std::span<const Z3_ast> terms) const;
  [[nodiscard]] std::optional<SeccompData> model() const;

 private:
  Terms& terms_;
  Z3_solver solver_;
};

// Returns which limit was reached, according to the messages of a solver and its context.
std::string limit_text(const std::string& reason, const std::string& error);

// Returns the kInternal error for a model that does not replay.
Error does_not_replay(const SeccompData& data, std::string_view what);

}  // namespace secequiv::smt
