#include "fuzz/pair_session.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "harness/bpf/flow.h"
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

void add_constants(ProgramView program, std::array<std::vector<std::uint32_t>, 16>& constants) {
  const auto flow = accumulator_flow(program);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!is_conditional(program[pc]) || flow[pc].kind != Accumulator::Kind::kWord) continue;
    const std::uint32_t k = program[pc].k;
    for (const std::uint32_t v : {k, k - 1, k + 1}) constants[flow[pc].word].push_back(v);
  }
}

}  // namespace

PairSession::PairSession(Pair pair) : pair_(std::move(pair)) {
  add_constants(pair_.before, constants_);
  add_constants(pair_.after, constants_);
  constants_[kArchWord].push_back(AUDIT_ARCH_X86_64);
  for (auto& values : constants_) {
    std::ranges::sort(values);
    const auto repeated = std::ranges::unique(values);
    values.erase(repeated.begin(), repeated.end());
  }
}

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
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    // The number decides which rules are reached, so it is changed most often.
    const std::size_t word = below(4) == 0 ? kNrWord : below(16);
    const auto& known = constants_[word];
    switch (below(8)) {
      case 0:
        words[word] ^= 1u << below(32);
        break;
      case 1:
        words[word] = below(2) == 0 ? 0 : 0xffffffff;
        break;
      case 2:
        words[word] = words[below(16)];
        break;
      case 3:
        words[word] += below(2) == 0 ? 1u : 0xffffffffu;
        break;
      default:
        if (!known.empty()) words[word] = known[below(known.size())];
        break;
    }
  }
  std::memcpy(bytes + target * kRecordBytes, words.data(), kRecordBytes);
  return records * kRecordBytes;
}

}  // namespace secequiv::fuzz
