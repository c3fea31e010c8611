#include "verify/smt/session.h"

#include <fmt/format.h>

#include <algorithm>

namespace secequiv::smt {

Watchdog::Watchdog(Z3_context context, double seconds)
    : deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(std::min(seconds, 1e8)))),
      thread_([this, context, token = heeded_token()] {
        const Heed heed(token);
        std::unique_lock lock(mutex_);
        while (!done_) {
          if (expired()) {
            Z3_interrupt(context);
            wake_.wait_for(lock, std::chrono::milliseconds(20));
          } else {
            const auto look = Clock::now() + std::chrono::milliseconds(10);
            wake_.wait_until(lock, std::min(deadline_, look));
          }
        }
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::string Watchdog::reason(double seconds) const {
  return stop_wanted() ? stop_reason() : fmt::format("time limit of {} s reached", seconds);
}

Solver::Solver(Terms& terms, std::size_t memory_mib, Core core) : terms_(terms) {
  Z3_context c = terms.context();
  solver_ = core == Core::kBits ? Z3_mk_solver_for_logic(c, Z3_mk_string_symbol(c, "QF_BV"))
                                : Z3_mk_simple_solver(c);
  Z3_solver_inc_ref(c, solver_);
  // Ctrl-C must end this process. Without this setting Z3 handles it and only stops its search.
  Z3_params params = Z3_mk_params(c);
  Z3_params_inc_ref(c, params);
  Z3_params_set_bool(c, params, Z3_mk_string_symbol(c, "ctrl_c"), false);
  Z3_params_set_uint(c, params, Z3_mk_string_symbol(c, "max_memory"),
                     static_cast<unsigned>(memory_mib));
  Z3_solver_set_params(c, solver_, params);
  Z3_params_dec_ref(c, params);
}

std::optional<std::vector<std::uint32_t>> Solver::model(std::span<const Z3_ast> terms) const {
  Z3_context c = terms_.context();
  std::vector<std::uint32_t> out(terms.size());
  Z3_model model = Z3_solver_get_model(c, solver_);
  if (model == nullptr) return std::nullopt;
  Z3_model_inc_ref(c, model);
  bool complete = true;
  for (std::size_t i = 0; i < terms.size() && complete; ++i) {
    Z3_ast value = nullptr;
    std::uint64_t number = 0;
    complete =
        Z3_model_eval(c, model, terms[i], true, &value) && Z3_get_numeral_uint64(c, value, &number);
    out[i] = static_cast<std::uint32_t>(number);
  }
  Z3_model_dec_ref(c, model);
  if (!complete) return std::nullopt;
  return out;
}

std::optional<SeccompData> Solver::model() const {
  SeccompData data;
  std::vector<Z3_ast> inputs;
  inputs.reserve(data.words.size());
  for (std::uint32_t word = 0; word < data.words.size(); ++word)
    inputs.push_back(terms_.input(word));
  const auto values = model(inputs);
  if (!values) return std::nullopt;
  std::ranges::copy(*values, data.words.begin());
  return data;
}

std::string limit_text(const std::string& reason, const std::string& error) {
  if (reason.empty() || error.empty()) return reason + error;
  return reason + "; " + error;
}

Error does_not_replay(const SeccompData& data, std::string_view what) {
  return make_error(ErrorCode::kInternal, "z3",
                    fmt::format("the solver's input {} does not {} when run; please report this",
                                describe(data), what));
}

}  // namespace secequiv::smt
