#include "harness/coverage/first_input.h"

#include <algorithm>

#include "harness/base/interrupt.h"

namespace secequiv {

struct FirstInputs::Marker {
  const Insn* base;
  std::uint32_t* first;
  std::uint32_t input;
  std::size_t met = 0;

  void at(const Insn* pc, const Machine<Concrete>& /*machine*/) { note((pc - base) * 3); }
  void outcome(const Insn* pc, bool taken) { note((pc - base) * 3 + (taken ? 1 : 2)); }

 private:
  void note(std::ptrdiff_t index) {
    if (first[index] != kNone) return;
    first[index] = input;
    ++met;
  }
};

void FirstInputs::run(std::span<const SeccompData> inputs) {
  const std::size_t between = between_looks(program_.size());
  for (std::size_t i = 0; i < inputs.size() && !complete(); ++i) {
    if (i % between == 0 && stop_wanted()) break;
    Marker marker{program_.data(), first_.data(), next_ + static_cast<std::uint32_t>(i)};
    run_observed(program_, inputs[i], marker);
    missing_ -= std::min(marker.met, missing_);
  }
  next_ += static_cast<std::uint32_t>(inputs.size());
}

std::vector<std::uint32_t> FirstInputs::all() const {
  std::vector<std::uint32_t> out;
  std::ranges::copy_if(first_, std::back_inserter(out),
                       [](std::uint32_t input) { return input != kNone; });
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

}  // namespace secequiv
