#include "fuzz/pair_session.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "harness/seccomp/arch.h"

namespace secequiv::fuzz {
namespace {

struct EdgeCounter {
  const Insn* base;
  std::span<std::uint8_t> edges;

  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn* pc, bool taken) {
    if (edges.empty()) return;
    const auto index = (static_cast<std::size_t>(pc - base) * 2 + (taken ? 1 : 0)) % edges.size();
    if (edges[index] != 255) ++edges[index];
  }
};

}  // namespace

PairSession::PairSession(Pair pair)
    : pair_(std::move(pair)), mutator_({pair_.after, pair_.before}) {}

std::optional<Witness> PairSession::run(std::span<const std::uint8_t> bytes,
                                        std::span<std::uint8_t> edges) const {
  const std::size_t records = std::min(bytes.size() / kRecordBytes, kMaxRecords);
  for (std::size_t i = 0; i < records; ++i) {
    SeccompData data;
    std::memcpy(data.words.data(), bytes.data() + i * kRecordBytes, kRecordBytes);
    EdgeCounter counter{pair_.after.data(), edges};
    const std::uint32_t after = run_observed(pair_.after, data.words, counter);
    const std::uint32_t before = secequiv::run(pair_.before, data.words);
    if (!same_decision(before, after, pair_.sameness)) return Witness{data, before, after};
  }
  return std::nullopt;
}

std::size_t PairSession::mutate(std::uint8_t* bytes, std::size_t size, std::size_t capacity,
                                std::uint64_t seed) const {
  std::minstd_rand random(static_cast<std::uint32_t>(seed * 0x9e3779b1u + 1));
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  std::size_t records = std::min(size / kRecordBytes, kMaxRecords);
  const std::size_t room = std::min(capacity / kRecordBytes, kMaxRecords);
  if (room == 0) return 0;
  InputWords words{};
  std::size_t target = 0;
  if (records == 0) {
    words[kArchWord] = AUDIT_ARCH_X86_64;
    records = 1;
  } else {
    std::memcpy(words.data(), bytes + below(records) * kRecordBytes, kRecordBytes);
    target = records < room && below(2) == 0 ? records++ : below(records);
  }
  mutator_.mutate(words, random);
  std::memcpy(bytes + target * kRecordBytes, words.data(), kRecordBytes);
  return records * kRecordBytes;
}

}  // namespace secequiv::fuzz
