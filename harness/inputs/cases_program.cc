#include <algorithm>
#include <map>
#include <set>

#include "harness/bpf/flow.h"
#include "harness/inputs/case_set.h"
#include "harness/inputs/cases.h"
#include "harness/inputs/cases_path.h"

namespace secequiv {
namespace {

using detail::CaseSet;

// The architecture and number that are certain before an instruction because of earlier JEQ tests.
struct Context {
  bool reached = false;
  std::optional<std::uint32_t> arch;
  std::optional<std::uint32_t> nr;

  void merge(const Context& other) {
    if (!reached) {
      *this = other;
      return;
    }
    if (arch != other.arch) arch.reset();
    if (nr != other.nr) nr.reset();
  }
};

std::vector<Context> contexts(ProgramView program, const std::vector<Accumulator>& flow) {
  std::vector<Context> out(program.size());
  out[0].reached = true;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!out[pc].reached) continue;
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i) {
      Context next = out[pc];
      if (program[pc].code == kJeqK && i == 0 && count == 2) {
        if (flow[pc].is_word(kArchWord)) next.arch = program[pc].k;
        if (flow[pc].is_word(kNrWord)) next.nr = program[pc].k;
      }
      out[to[i]].merge(next);
    }
  }
  return out;
}

// Returns the values near which the outcome of a comparison with k under `mask` changes.
std::vector<std::uint32_t> near(std::uint32_t k, std::uint32_t mask) {
  return {k - 1, k, k + 1, k | ~mask, 0, 0xffffffff};
}

// The constants with which one word is compared, and the values near them.
struct WordTests {
  std::set<std::uint32_t> constants = {0};
  std::set<std::uint32_t> values;
};

}  // namespace

Cases derive_cases(ProgramView program, const CaseLimits& limits,
                   std::span<const SeccompData> known) {
  const auto flow = accumulator_flow(program);
  const auto certain = contexts(program, flow);
  std::set<std::uint32_t> arches;
  std::set<std::uint32_t> numbers;
  using Tests = std::map<std::uint32_t, WordTests>;
  std::map<std::pair<std::optional<std::uint32_t>, std::optional<std::uint32_t>>, Tests> tested;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (flow[pc].kind != Accumulator::Kind::kWord) continue;
    if (in.code != kJeqK && in.code != kJgtK && in.code != kJgeK && in.code != kJsetK) continue;
    const std::uint32_t word = flow[pc].word;
    const auto values = near(in.k, flow[pc].mask);
    if (word == kArchWord) {
      arches.insert(values.begin(), values.end());
    } else if (word == kNrWord) {
      numbers.insert(values.begin(), values.end());
    } else {
      WordTests& tests = tested[{certain[pc].arch, certain[pc].nr}][word];
      tests.constants.insert(in.k);
      tests.values.insert(values.begin(), values.end());
      for (int bit = 0; bit < 32; ++bit)
        tests.values.insert((in.code == kJsetK ? 0 : in.k) ^ 1u << bit);
    }
  }
  arches.insert(AUDIT_ARCH_X86_64);
  numbers.insert(0);
  CaseSet set(limits);
  SeccompData data;
  for (const std::uint32_t arch : arches) {
    for (const std::uint32_t nr : numbers) {
      data.words.fill(0);
      data.set_arch(arch);
      data.set_nr(nr);
      set.add(data);
      data.words.fill(0xffffffff);
      data.set_arch(arch);
      data.set_nr(nr);
      set.add(data);
    }
  }
  for (const auto& [context, words] : tested) {
    const auto& [arch, nr] = context;
    SeccompData base;
    base.set_arch(arch.value_or(AUDIT_ARCH_X86_64));
    base.set_nr(nr.value_or(0));
    std::vector<std::uint32_t> index;
    std::vector<std::vector<std::uint32_t>> constants;
    for (const auto& [word, tests] : words) {
      index.push_back(word);
      constants.emplace_back(tests.constants.begin(), tests.constants.end());
    }
    const auto place = [&](SeccompData& d, std::size_t slot, std::uint32_t v) {
      d.words[index[slot]] = v;
    };
    set.product<std::uint32_t>(base, constants, place);
    // One word after the other takes every value near its constants, while the other words take
    // their own constants.
    for (std::size_t varied = 0; varied < index.size(); ++varied) {
      auto slots = constants;
      const auto& values = words.at(index[varied]).values;
      slots[varied].assign(values.begin(), values.end());
      set.product<std::uint32_t>(base, slots, place);
    }
  }
  std::vector<SeccompData> start(known.begin(), known.end());
  start.insert(start.end(), set.inputs().begin(), set.inputs().end());
  detail::add_path_cases(program, start, set);
  return set.take();
}

}  // namespace secequiv
