#include "fuzz/pair/libfuzzer.h"

namespace {

// libFuzzer clears and reads all these counters in every run. There are only as many as a filter of
// several hundred instructions needs. The outcomes of longer filters share counters.
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t edge_marks[1 << 11];

const secequiv::pair::PairSession* the_session = nullptr;

}  // namespace

namespace secequiv::pair {

void set_session(const PairSession& session) { the_session = &session; }

PairOutcome run_session(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> seen,
                        bool first_only) {
  return the_session->run(bytes, Edges{edge_marks, seen, first_only});
}

}  // namespace secequiv::pair

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed) {
  return the_session == nullptr ? size : the_session->mutate(data, size, capacity, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t capacity, unsigned seed) {
  return secequiv::pair::PairSession::cross_over({first, first_size}, {second, second_size},
                                                 {out, capacity}, seed);
}
