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

// Remembers one conditional of a run, each with the same chance.
struct PathSampler {
  const Insn* base;
  const std::vector<Accumulator>& flow;
  std::minstd_rand& random;
  std::size_t seen = 0;
  std::size_t pc = 0;
  bool outcome_there = false;

  void at(const Insn*, const Machine<Concrete>&) {}
  void outcome(const Insn* insn, bool taken) {
    const auto here = static_cast<std::size_t>(insn - base);
    if (flow[here].kind != Accumulator::Kind::kWord || random() % ++seen != 0) return;
    pc = here;
    outcome_there = taken;
  }
};

// Sends `words` the other way at some conditional on its path, by giving the word tested there a
// value that does.
void turn_off_path(ProgramView program, const std::vector<Accumulator>& flow, InputWords& words,
                   std::minstd_rand& random) {
  PathSampler sampler{program.data(), flow, random};
  run_observed(program, words, sampler);
  if (sampler.seen == 0) return;
  const Insn& in = program[sampler.pc];
  const Accumulator& a = flow[sampler.pc];
  std::uint32_t& word = words[a.word];
  const std::uint32_t bit = 1u << random() % 32;
  switch (in.code) {
    case kJeqK:
      word = sampler.outcome_there ? word ^ bit : (word & ~a.mask) | in.k;
      break;
    case kJgtK:
      word = in.k + (sampler.outcome_there ? 0 : 1);
      break;
    case kJgeK:
      word = in.k - (sampler.outcome_there ? 1 : 0);
      break;
    case kJsetK:
      word = sampler.outcome_there
                 ? word & ~in.k
                 : word | (in.k & bit) | (random() % 2 == 0 ? in.k & (0u - in.k) : 0);
      break;
    default:
      word ^= bit;
      break;
  }
}

void add_constants(ProgramView program, std::array<std::vector<std::uint32_t>, 16>& constants) {
  const auto flow = accumulator_flow(program);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!is_conditional(program[pc]) || flow[pc].kind != Accumulator::Kind::kWord) continue;
    const std::uint32_t k = program[pc].k;
    for (const std::uint32_t v : {k, k - 1, k + 1}) constants[flow[pc].word].push_back(v);
  }
}

}  // namespace

PairSession::PairSession(Pair pair)
    : pair_(std::move(pair)),
      flow_before_(accumulator_flow(pair_.before)),
      flow_after_(accumulator_flow(pair_.after)) {
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
  for (std::size_t turns = below(2) == 0 ? 0 : 1 + below(8); turns > 0; --turns) {
    if (below(2) == 0) {
      turn_off_path(pair_.after, flow_after_, words, random);
    } else {
      turn_off_path(pair_.before, flow_before_, words, random);
    }
  }
  for (std::size_t changes = below(4); changes > 0; --changes) {
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
