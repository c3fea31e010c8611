// Asking Z3 within limits: a solver over the terms of a domain, and the clock that interrupts it.
// Owns how Z3 is configured and what an interrupted one says. It must not know what is asked
// (solver.h, precompiled.h). Shows Z3's types, so only .cc files of this folder include it.
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

// Interrupts Z3 at a deadline. Z3's own "timeout" parameter is only looked at between some of its
// steps.
class Watchdog {
 public:
  Watchdog(Z3_context context, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  [[nodiscard]] bool expired() const { return Clock::now() >= deadline_ || stop_wanted(); }
  // Of one that expired: what for.
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
  // Terms become bits, or stay words as long as they can: better where words are mostly moved.
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

  // Of the last satisfiable check: the values of terms; the input. Nothing if Z3 was interrupted
  // while they were read out.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> model(
      std::span<const Z3_ast> terms) const;
  [[nodiscard]] std::optional<SeccompData> model() const;

 private:
  Terms& terms_;
  Z3_solver solver_;
};

// What ran out, from what a solver and its context say.
std::string limit_text(const std::string& reason, const std::string& error);

// kInternal: a model that is none.
Error does_not_replay(const SeccompData& data, std::string_view what);

}  // namespace secequiv::smt
