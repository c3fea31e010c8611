#include "fuzz/pair/session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "harness/seccomp/arch.h"

namespace secequiv::pair {
namespace {

template <bool kFirstOnly>
struct EdgeMarker {
  const Insn* base;
  const std::uint32_t* edge_of;
  std::uint8_t* marks;
  std::size_t mask;
  std::uint8_t* seen;
  bool first = false;

  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn* pc, bool taken) {
    const std::size_t edge = edge_of[pc - base] + (taken ? std::size_t{1} : 0);
    if (!kFirstOnly) marks[edge & mask] = 1;
    if (seen[edge] != 0) [[likely]]
      return;
    seen[edge] = marks[edge & mask] = 1;
    first = true;
  }
};

template <bool kFirstOnly>
PairOutcome run_records(const Pair& pair, std::span<const std::uint8_t> bytes,
                        EdgeMarker<kFirstOnly> marker) {
  PairOutcome out;
  for (std::size_t i = 0; i < records_in(bytes.size()) && !out.witness; ++i) {
    const SeccompData data{record(bytes, i)};
    const std::uint32_t after = run_observed(pair.after, data, marker);
    const std::uint32_t before = secequiv::run(pair.before, data);
    if (!same_decision(before, after, pair.sameness)) out.witness = Witness{data, before, after};
    if (marker.first) [[unlikely]]
      out.first = static_cast<std::uint16_t>(out.first | 1u << i);
    marker.first = false;
  }
  return out;
}

// Writes as much of `data` as fits. Returns the number of bytes written.
std::size_t write_record(const SeccompData& data, std::uint8_t* bytes, std::size_t at,
                         std::size_t capacity) {
  const std::size_t size = std::min(kRecordBytes, capacity - at);
  std::memcpy(bytes + at, data.words.data(), size);
  return size;
}

}  // namespace

SeccompData record(std::span<const std::uint8_t> bytes, std::size_t i) {
  SeccompData data;
  const auto from = bytes.subspan(i * kRecordBytes);
  std::memcpy(data.words.data(), from.data(), std::min(kRecordBytes, from.size()));
  return data;
}

PairSession::PairSession(Pair pair, std::span<const SeccompData> known)
    : pair_(std::move(pair)), mutator_({pair_.after, pair_.before}) {
  mutator_.add_values(known);
  for (const Insn& insn : pair_.after) {
    edge_of_.push_back(static_cast<std::uint32_t>(edges_));
    if (has_two_outcomes(insn)) edges_ += 2;
  }
}

PairOutcome PairSession::run(std::span<const std::uint8_t> bytes, const Edges& edges) const {
  const std::size_t mask = edges.marks.size() - 1;
  if (edges.first_only)
    return run_records(pair_, bytes,
                       EdgeMarker<true>{pair_.after.data(), edge_of_.data(), edges.marks.data(),
                                        mask, edges.seen.data()});
  return run_records(pair_, bytes,
                     EdgeMarker<false>{pair_.after.data(), edge_of_.data(), edges.marks.data(),
                                       mask, edges.seen.data()});
}

std::size_t PairSession::mutate(std::uint8_t* bytes, std::size_t size, std::size_t capacity,
                                std::uint64_t seed) const {
  Random random(seed);
  std::array<SeccompData, kMaxRecords> old;
  std::size_t count = 0;
  for (; count < records_in(size); ++count) old[count] = record({bytes, size}, count);
  if (count == 0) {
    old[0] = {};
    old[0].set_arch(AUDIT_ARCH_X86_64);
    count = 1;
  }
  std::size_t written = 0;
  for (std::size_t i = 0; i < records_in(capacity); ++i) {
    SeccompData data = old[random.below(count)];
    if (i == 0) {
      mutator_.mutate(data, random);
    } else {
      mutator_.vary(data, random);
    }
    written += write_record(data, bytes, written, capacity);
  }
  return written;
}

std::size_t PairSession::cross_over(std::span<const std::uint8_t> first,
                                    std::span<const std::uint8_t> second,
                                    std::span<std::uint8_t> out, std::uint64_t seed) {
  Random random(seed);
  const std::size_t firsts = records_in(first.size());
  const std::size_t seconds = records_in(second.size());
  if (firsts == 0 || seconds == 0) return 0;
  std::size_t written = 0;
  for (std::size_t i = 0; i < records_in(out.size()); ++i) {
    SeccompData data = record(first, random.below(firsts));
    const SeccompData other = record(second, random.below(seconds));
    const std::uint64_t which = random.next();
    for (std::size_t word = 0; word < SeccompData::kWords; ++word)
      if ((which >> word & 1) != 0) data.words[word] = other.words[word];
    written += write_record(data, out.data(), written, out.size());
  }
  return written;
}

}  // namespace secequiv::pair
