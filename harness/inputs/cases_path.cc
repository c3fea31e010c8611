#include "harness/inputs/cases_path.h"

#include <algorithm>
#include <bit>
#include <map>

#include "harness/base/interrupt.h"
#include "harness/policy/path.h"

namespace secequiv::detail {
namespace {

// This many inputs are kept for each outcome of an instruction. Searches start from them.
constexpr std::size_t kExamples = 4;
// A search continues from at most this many of the inputs that its first step gives.
constexpr std::size_t kSecondSteps = 8;
// To turn a test means to change the input so that the test gets its other outcome. On one path,
// the search turns at most this many tests of one word whose other outcomes have the same target.
constexpr std::uint32_t kSamePlace = 64;

// Changes of an instruction. For each, the search looks for an input on which the change alters the
// result. Each of the first three has one number for the outcome false and the next for true.
enum Goal : std::uint32_t {
  kFlip = 0,     // take the other outcome
  kNearer = 2,   // jump to the instruction before the outcome's target
  kFarther = 4,  // jump to the instruction after the outcome's target
  kSkip = 6,     // do nothing
  kLoad = 7,     // + w: load word w instead
  kGoals = kLoad + 16
};

constexpr std::uint32_t bit_of(std::uint32_t goal) { return 1u << goal; }

// Returns the goals that a run with this outcome can meet.
std::uint32_t with_outcome(const Insn& in, bool outcome) {
  const std::uint32_t one = in.code == kJa || outcome ? 1 : 0;
  return bit_of(kFlip + one) | bit_of(kNearer + one) | bit_of(kFarther + one) |
         ~((1u << kSkip) - 1);
}

// Returns the instruction at which the changed program continues. It need not come after `pc`.
std::size_t instead(const Insn& in, std::size_t pc, std::uint32_t goal) {
  const bool taken = (goal & 1) != 0;
  if (goal < kNearer) return jump_target(pc, in, !taken);
  if (goal < kFarther) return jump_target(pc, in, taken) - 1;
  if (goal < kSkip) return jump_target(pc, in, taken) + 1;
  return pc + 1;
}

std::uint32_t goals_of(ProgramView program, std::size_t pc) {
  const Insn& in = program[pc];
  std::uint32_t goals = bit_of(kSkip);
  if (in.code == kJa) goals |= bit_of(kNearer + 1) | bit_of(kFarther + 1);
  if (is_conditional(in)) goals |= 3u << kFlip | 3u << kNearer | 3u << kFarther;
  if (in.code == kLdWAbs) goals |= 0xffffu << kLoad & ~bit_of(kLoad + in.k / 4);
  for (std::uint32_t goal = 0; goal < kGoals; ++goal) {
    const std::size_t to = instead(in, pc, goal);
    if (to <= pc || to >= program.size()) goals &= ~bit_of(goal);
  }
  return goals;
}

// Kinds of values of A near the constant with which it is compared. A number below 32 names a bit:
//   - a bit of the mask: A differs from the constant in this bit alone. For JSET, A has this bit
//     and shares no other bit with the constant;
//   - any other bit: the word has this bit, and A is equal to the constant.
constexpr std::uint32_t kBelow = 32;
constexpr std::uint32_t kEqual = 33;
constexpr std::uint32_t kAbove = 34;
constexpr std::uint32_t kZero = 35;
constexpr std::uint32_t kOnes = 36;
constexpr std::uint32_t kNears = 37;

std::uint32_t compared_with(const Insn& in, const Visit& visit) {
  return in.code == kJeqX || in.code == kJgtX || in.code == kJgeX || in.code == kJsetX ? visit.x
                                                                                       : in.k;
}

bool tests_bits(const Insn& in) { return in.code == kJsetK || in.code == kJsetX; }

std::uint64_t nears_hit(const Insn& in, const Visit& visit, std::uint32_t word) {
  const std::uint32_t a = visit.a;
  const std::uint32_t k = compared_with(in, visit);
  std::uint64_t hit = 0;
  if (tests_bits(in)) {
    const std::uint32_t common = a & k;
    if (common == 0) hit |= a;
    if (std::has_single_bit(common)) hit |= common;
  } else if (std::has_single_bit(a ^ k)) {
    hit |= a ^ k;
  }
  const auto is = [&](std::uint32_t near, bool holds) {
    if (holds) hit |= std::uint64_t{1} << near;
  };
  is(kBelow, a == k - 1);
  is(kEqual, a == k);
  is(kAbove, a == k + 1);
  is(kZero, a == 0);
  is(kOnes, a == visit.origin.mask);
  if (a == k) hit |= word & ~visit.origin.mask;
  return hit;
}

// Returns a value for the tested word that gives A a value of the kind `near`.
std::uint32_t near_value(const Insn& in, const Visit& visit, std::uint32_t word,
                         std::uint32_t near) {
  const std::uint32_t k = compared_with(in, visit);
  const std::uint32_t mask = visit.origin.mask;
  const auto put = [&](std::uint32_t value) { return (word & ~mask) | (value & mask); };
  switch (near) {
    case kBelow:
      return put(k - 1);
    case kEqual:
      return put(k);
    case kAbove:
      return put(k + 1);
    case kZero:
      return put(0);
    case kOnes:
      return put(~0u);
    default:
      break;
  }
  const std::uint32_t bit = 1u << near;
  if ((mask & bit) == 0) return (k & mask) | bit;
  return put(tests_bits(in) ? bit : k ^ bit);
}

class Search {
 public:
  Search(ProgramView program, CaseSet& set)
      : program_(program),
        set_(set),
        path_(program),
        examples_(program.size() * 2),
        open_(program.size()),
        nears_(program.size()) {
    for (std::size_t pc = 0; pc < program.size(); ++pc) {
      open_[pc] = goals_of(program, pc);
      if (is_conditional(program[pc])) nears_[pc] = (std::uint64_t{1} << kNears) - 1;
    }
  }

  void run(std::span<const SeccompData> known) {
    // Known inputs get half of the steps. A stride spreads them evenly, because not all of them may
    // run.
    constexpr std::size_t kPrime = 7919;
    const std::size_t stride = known.size() % kPrime == 0 ? 1 : kPrime;
    for (std::size_t i = 0;
         i < known.size() && path_.steps() < set_.limits().steps / 2 && !stop_wanted(); ++i)
      look_at(known[i * stride % known.size()]);
    explore();
    for (std::size_t pc = 0; pc < program_.size() && !ended(); ++pc) search_nears(pc);
    for (const std::size_t second_steps : {std::size_t{0}, kSecondSteps})
      for (std::size_t pc = 0; pc < program_.size() && !ended(); ++pc)
        search_goals(pc, second_steps);
  }

 private:
  struct Examples {
    std::vector<SeccompData> inputs;
    std::size_t expanded = 0;  // how many inputs have been expanded
    std::size_t oldest = 0;    // the input to replace next
  };

  [[nodiscard]] bool ended() const {
    return path_.steps() >= set_.limits().steps || set_.full() || stop_wanted();
  }

  Examples& examples(const Visit& visit) {
    return examples_[visit.pc * 2 + (visit.outcome ? 1 : 0)];
  }

  // Returns the value of A after the changed instruction.
  static std::uint32_t a_instead(const Visit& visit, std::uint32_t goal, const SeccompData& data) {
    return goal >= kLoad ? data.words[goal - kLoad] : visit.a;
  }

  // Returns whether the change alters the result.
  bool matters(const Visit& visit, std::uint32_t goal, const SeccompData& data) {
    const std::size_t to = instead(program_[visit.pc], visit.pc, goal);
    return path_.result_from(to, a_instead(visit, goal, data), visit) != path_.result();
  }

  // Runs an input. Returns whether it shows anything that no earlier input showed.
  bool look_at(const SeccompData& data) {
    path_.follow(data);
    bool fresh = false;
    for (std::size_t i = 0; i < path_.visits().size(); ++i) {
      const Visit& visit = path_.visits()[i];
      const Insn& in = program_[visit.pc];
      Examples& here = examples(visit);
      fresh = fresh || here.inputs.empty();
      if (here.inputs.size() < kExamples) here.inputs.push_back(data);
      const std::uint32_t open = open_[visit.pc];
      for (std::uint32_t ask = open & with_outcome(in, visit.outcome); ask != 0; ask &= ask - 1) {
        const auto goal = static_cast<std::uint32_t>(std::countr_zero(ask));
        if (matters(visit, goal, data)) open_[visit.pc] &= ~bit_of(goal);
      }
      if (nears_[visit.pc] != 0) {
        const std::uint32_t word = visit.origin.word == kNoWord ? 0 : data.words[visit.origin.word];
        const std::uint64_t hit = nears_[visit.pc] & nears_hit(in, visit, word);
        if (hit != 0 && matters(visit, kFlip + (visit.outcome ? 1 : 0), data)) {
          nears_[visit.pc] &= ~hit;
          fresh = true;
        }
      }
      if (open == open_[visit.pc]) continue;
      fresh = true;
      keep(i, data);
    }
    return fresh;
  }

  // An input that met a goal becomes an example at each instruction back to the last load. It
  // replaces the oldest example there. More goals on this part of the path may depend on the same
  // test.
  void keep(std::size_t visit, const SeccompData& data) {
    for (std::size_t i = visit + 1; i-- > 0;) {
      Examples& here = examples(path_.visits()[i]);
      if (std::ranges::find(here.inputs, data) == here.inputs.end()) {
        here.expanded = std::min(here.expanded, here.oldest);
        here.inputs[here.oldest] = data;
        here.oldest = (here.oldest + 1) % here.inputs.size();
      }
      if (program_[path_.visits()[i].pc].code == kLdWAbs) break;
    }
  }

  void offer(const SeccompData& data) {
    if (stop_wanted()) return;  // one look can take milliseconds
    if (offered_.insert(data).second && look_at(data)) set_.add(data);
  }

  // Turns the test at `visit`, by changing the tested word of `data` in several ways.
  template <class Take>
  void turned(const SeccompData& data, const Visit& visit, const Take& take) {
    const Insn& in = program_[visit.pc];
    if (!is_conditional(in) || visit.origin.word == kNoWord) return;
    const std::uint32_t mask = visit.origin.mask;
    const std::uint32_t word = data.words[visit.origin.word];
    const std::uint32_t k = compared_with(in, visit);
    const auto put = [&](std::uint32_t value) {
      SeccompData other = data;
      other.words[visit.origin.word] = (word & ~mask) | (value & mask);
      if (other != data) take(other);
    };
    switch (in.code) {
      case kJeqK:
      case kJeqX:
        put(visit.outcome ? k ^ (mask & (0u - mask)) : k);
        if (visit.outcome) put(~k);
        break;
      case kJgtK:
      case kJgtX:
        put(visit.outcome ? k : k + 1);
        put(visit.outcome ? 0 : ~0u);
        break;
      case kJgeK:
      case kJgeX:
        put(visit.outcome ? k - 1 : k);
        put(visit.outcome ? 0 : ~0u);
        break;
      default:
        put(visit.outcome ? word & ~k : word | (k & mask & (0u - (k & mask))));
        put(visit.outcome ? 0 : k);
        break;
    }
  }

  // Turns every test for every example, until this gives no new example.
  void explore() {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t at = 0; at < examples_.size(); ++at) {
        Examples& from = examples_[at];
        while (from.expanded < from.inputs.size() && !ended()) {
          const SeccompData data = from.inputs[from.expanded++];
          again = true;
          path_.follow(data);
          const Visit* visit = path_.find(at / 2);
          if (visit == nullptr) continue;
          const Visit here = *visit;
          turned(data, here, [&](const SeccompData& other) { offer(other); });
        }
      }
    }
  }

  void search_goals(std::size_t pc, std::size_t second_steps) {
    for (const bool outcome : {false, true}) {
      const auto from = examples_[pc * 2 + (outcome ? 1 : 0)].inputs;
      for (const SeccompData& data : from)
        for (std::uint32_t ask = open_[pc] & with_outcome(program_[pc], outcome); ask != 0;
             ask &= ask - 1)
          search_goal(data, pc, static_cast<std::uint32_t>(std::countr_zero(ask)), second_steps);
    }
  }

  // Searches for an input on which the change alters the result. It turns one test at a time on the
  // paths with and without the change. Then it does the same from the inputs found in this way, at
  // most `second_steps` of them.
  void search_goal(const SeccompData& data, std::size_t pc, std::uint32_t goal,
                   std::size_t second_steps) {
    if (ended()) return;
    const auto first = around(data, pc, goal);
    for (const SeccompData& other : first) {
      if ((open_[pc] & bit_of(goal)) == 0 || ended()) return;
      offer(other);
    }
    for (std::size_t i = 0; i < std::min(second_steps, first.size()); ++i) {
      for (const SeccompData& other : around(first[i], pc, goal)) {
        if ((open_[pc] & bit_of(goal)) == 0 || ended()) return;
        offer(other);
      }
    }
  }

  // Returns inputs that turn one test, on the path of the changed program or on the original path
  // after `pc`.
  std::vector<SeccompData> around(const SeccompData& data, std::size_t pc, std::uint32_t goal) {
    std::vector<SeccompData> out;
    path_.follow(data);
    const Visit* at = path_.find(pc);
    if (at == nullptr) return out;
    const Origin origin = goal >= kLoad ? Origin{0xffffffff, goal - kLoad} : at->origin;
    turn_each(
        data,
        path_.visits_from(instead(program_[pc], pc, goal), a_instead(*at, goal, data), origin, *at),
        out);
    turn_each(data, std::span(at, &path_.visits().back() + 1), out);
    return out;
  }

  // Turns each test on the path, up to the limit kSamePlace, because lists of tests can be long.
  void turn_each(const SeccompData& data, std::span<const Visit> path,
                 std::vector<SeccompData>& out) {
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> seen;
    for (const Visit& visit : path) {
      const Insn& in = program_[visit.pc];
      if (!is_conditional(in) || visit.origin.word == kNoWord) continue;
      if (++seen[{visit.origin.word, jump_target(visit.pc, in, !visit.outcome)}] > kSamePlace)
        continue;
      turned(data, visit, [&](const SeccompData& other) { out.push_back(other); });
    }
  }

  void search_nears(std::size_t pc) {
    for (const bool outcome : {true, false}) {
      const auto from = examples_[pc * 2 + (outcome ? 1 : 0)].inputs;
      for (const SeccompData& data : from) {
        if (nears_[pc] == 0 || ended()) return;
        path_.follow(data);
        const Visit* visit = path_.find(pc);
        if (visit == nullptr || visit->origin.word == kNoWord) continue;
        const Visit here = *visit;
        for (std::uint64_t ask = nears_[pc]; ask != 0; ask &= ask - 1) {
          SeccompData other = data;
          std::uint32_t& word = other.words[here.origin.word];
          word = near_value(program_[pc], here, word,
                            static_cast<std::uint32_t>(std::countr_zero(ask)));
          offer(other);
        }
      }
    }
  }

  ProgramView program_;
  CaseSet& set_;
  Path path_;
  std::vector<Examples> examples_;    // by instruction and outcome
  std::vector<std::uint32_t> open_;   // by instruction: the goals that no input has met yet
  std::vector<std::uint64_t> nears_;  // by instruction: the near values that no input has shown yet
  std::unordered_set<SeccompData, InputHash> offered_;
};

}  // namespace

void add_path_cases(ProgramView program, std::span<const SeccompData> known, CaseSet& set) {
  constexpr std::size_t kBytesPerInsn = 128;  // of a search that has found nothing yet
  if (stop_wanted() || !memory_fits(program.size() * kBytesPerInsn)) return set.drop();
  Search(program, set).run(known);
}

}  // namespace secequiv::detail
