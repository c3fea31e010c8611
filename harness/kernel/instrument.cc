#include "harness/kernel/instrument.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/seccomp/action.h"

namespace secequiv::kernel {
namespace {

constexpr std::uint32_t kErrnoBits = 12;  // the kernel clamps error numbers to MAX_ERRNO, 4095
constexpr std::uint32_t kErrnoMask = (1u << kErrnoBits) - 1;

constexpr std::size_t kSplit = 4;  // how many instructions split A

bool is_load(const Insn& in) { return in.code == kLdWAbs; }

bool returns_a(ProgramView program) {
  return std::ranges::any_of(program, [](const Insn& in) { return in.code == kRetA; });
}

std::array<bool, kWords> words_read(ProgramView program) {
  std::array<bool, kWords> out{};
  for (const Insn& in : program)
    if (is_load(in)) out[in.k / 4] = true;
  return out;
}

std::size_t values_of(std::size_t word, std::span<const SeccompData> inputs) {
  std::unordered_set<std::uint32_t> seen;
  for (const SeccompData& input : inputs) seen.insert(input.words[word]);
  return seen.size();
}

Insn with_loads(Insn in, const LoadPlan& plan, const SeccompData& fixed_values) {
  if (!is_load(in)) return in;
  const auto word = static_cast<std::uint8_t>(in.k / 4);
  if (std::ranges::find(plan.fixed, word) != plan.fixed.end())
    return {kLdImm, 0, 0, fixed_values.words[word]};
  in.k = plan.carrier[word] * 4u;
  return in;
}

Insn error(std::uint32_t number) { return {kRetK, 0, 0, SECCOMP_RET_ERRNO | number}; }

}  // namespace

LoadPlan direct_loads() {
  LoadPlan out;
  for (std::size_t word = 0; word < kWords; ++word)
    out.carrier[word] = static_cast<std::uint8_t>(word);
  return out;
}

std::vector<std::uint8_t> free_words(const Entry& entry) {
  std::vector<std::uint8_t> out;
  for (int argument = 0; argument < kArgCount; ++argument)
    for (const bool high : {false, true})
      if (!high || entry.argument_bits > 32)
        out.push_back(static_cast<std::uint8_t>(half_word(argument, high, entry.endian)));
  return out;
}

LoadPlan plan_loads(ProgramView program, std::span<const SeccompData> inputs,
                    std::span<const std::uint8_t> free) {
  LoadPlan out = direct_loads();
  std::array<bool, kWords> read = words_read(program);
  auto count = static_cast<std::size_t>(std::ranges::count(read, true));
  if (count > free.size()) {
    std::vector<std::pair<std::size_t, std::uint8_t>> by_values;
    for (std::size_t word = 0; word < kWords; ++word)
      if (read[word])
        by_values.emplace_back(values_of(word, inputs), static_cast<std::uint8_t>(word));
    std::ranges::sort(by_values);
    for (std::size_t i = 0; count > free.size(); ++i, --count) {
      out.fixed.push_back(by_values[i].second);
      read[by_values[i].second] = false;
    }
  }
  std::vector<std::uint8_t> unused;
  for (const std::uint8_t word : free)
    if (!std::exchange(read[word], false)) unused.push_back(word);
  auto next = unused.begin();
  for (std::size_t word = 0; word < kWords; ++word)
    if (read[word]) out.carrier[word] = *next++;
  return out;
}

Status has_room(ProgramView program) {
  if (!returns_a(program) || program.size() + kSplit <= kMaxInsns) return Ok{};
  return Error{ErrorCode::kRejected, "kernel", -1,
               fmt::format("expected at most {} instructions in a program that returns A, found "
                           "{}: there is no room to add the instructions that split the value",
                           kMaxInsns - kSplit, program.size())};
}

Result<Instrumented> instrument(ProgramView program, const LoadPlan& plan,
                                const SeccompData& fixed_values) {
  Instrumented out;
  Program changed;
  for (const Insn& in : program) changed.push_back(with_loads(in, plan, fixed_values));
  if (!returns_a(program)) {
    std::unordered_map<std::uint32_t, std::uint32_t> index_of;
    for (Insn& in : changed) {
      if (in.code != kRetK) continue;
      const auto [at, fresh] =
          index_of.try_emplace(in.k, static_cast<std::uint32_t>(out.values.size()));
      if (fresh) out.values.push_back(in.k);
      in = error(at->second);
    }
    out.passes.push_back({std::move(changed), 0});
    return out;
  }
  RETURN_IF_ERROR(has_room(program));
  for (unsigned shift = 0; shift < 32; shift += kErrnoBits) {
    Pass pass{changed, shift};
    for (std::size_t pc = 0; pc < program.size(); ++pc) {
      Insn& in = pass.program[pc];
      if (in.code == kRetK)
        in = error(in.k >> shift & kErrnoMask);
      else if (in.code == kRetA)
        in = {kJa, 0, 0, static_cast<std::uint32_t>(program.size() - pc - 1)};
    }
    pass.program.push_back({kRshK, 0, 0, shift});
    pass.program.push_back({kAndK, 0, 0, kErrnoMask});
    pass.program.push_back({kOrK, 0, 0, SECCOMP_RET_ERRNO});
    pass.program.push_back({kRetA, 0, 0, 0});
    out.passes.push_back(std::move(pass));
  }
  return out;
}

SeccompData carried(const SeccompData& input, const LoadPlan& plan, std::uint32_t nr) {
  SeccompData out = input;
  for (std::size_t word = 0; word < kWords; ++word)
    if (plan.carrier[word] != word) out.words[plan.carrier[word]] = input.words[word];
  out.set_nr(nr);
  return out;
}

void share_fixed_words(std::span<SeccompData> inputs, const LoadPlan& plan, std::size_t most) {
  for (std::size_t i = most; i < inputs.size(); ++i)
    for (const std::uint8_t word : plan.fixed) inputs[i].words[word] = inputs[i % most].words[word];
}

}  // namespace secequiv::kernel
