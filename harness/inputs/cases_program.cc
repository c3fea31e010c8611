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

// The constants with which a program compares the words of its input.
struct Tests {
  using ByWord = std::map<std::uint32_t, WordTests>;

  std::set<std::uint32_t> arches = {AUDIT_ARCH_X86_64};
  std::set<std::uint32_t> numbers = {0};
  // The tests of all other words, by the architecture and number that are certain at the test.
  std::map<std::pair<std::optional<std::uint32_t>, std::optional<std::uint32_t>>, ByWord> others;
};

Tests tests_in(ProgramView program) {
  Tests out;
  const auto flow = accumulator_flow(program);
  const auto certain = contexts(program, flow);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (flow[pc].kind != Accumulator::Kind::kWord) continue;
    if (in.code != kJeqK && in.code != kJgtK && in.code != kJgeK && in.code != kJsetK) continue;
    const std::uint32_t word = flow[pc].word;
    const auto values = near(in.k, flow[pc].mask);
    if (word == kArchWord) {
      out.arches.insert(values.begin(), values.end());
    } else if (word == kNrWord) {
      out.numbers.insert(values.begin(), values.end());
    } else {
      WordTests& tests = out.others[{certain[pc].arch, certain[pc].nr}][word];
      tests.constants.insert(in.k);
      tests.values.insert(values.begin(), values.end());
      for (int bit = 0; bit < 32; ++bit)
        tests.values.insert((in.code == kJsetK ? 0 : in.k) ^ 1u << bit);
    }
  }
  return out;
}

// Adds inputs for the words of one context.
void add_word_cases(SeccompData base, const Tests::ByWord& words, CaseSet& set) {
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
  // One word after the other takes every value near its constants, while the other words take their
  // own constants.
  for (std::size_t varied = 0; varied < index.size(); ++varied) {
    auto slots = constants;
    const auto& values = words.at(index[varied]).values;
    slots[varied].assign(values.begin(), values.end());
    set.product<std::uint32_t>(base, slots, place);
  }
}

// Returns the input of a call whose other words all have this value.
SeccompData call_with(std::uint32_t arch, std::uint32_t nr, std::uint32_t others) {
  SeccompData out;
  out.words.fill(others);
  out.set_arch(arch);
  out.set_nr(nr);
  return out;
}

}  // namespace

Cases derive_cases(ProgramView program, const CaseLimits& limits,
                   std::span<const SeccompData> known) {
  const Tests tests = tests_in(program);
  CaseSet set(limits);
  for (const std::uint32_t arch : tests.arches)
    for (const std::uint32_t nr : tests.numbers)
      for (const std::uint32_t others : {0u, 0xffffffffu}) set.add(call_with(arch, nr, others));
  for (const auto& [context, words] : tests.others)
    add_word_cases(
        call_with(context.first.value_or(AUDIT_ARCH_X86_64), context.second.value_or(0), 0), words,
        set);
  std::vector<SeccompData> start(known.begin(), known.end());
  start.insert(start.end(), set.inputs().begin(), set.inputs().end());
  detail::add_path_cases(program, start, set);
  return set.take();
}

}  // namespace secequiv
