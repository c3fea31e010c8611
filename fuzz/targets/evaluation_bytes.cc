#include "fuzz/targets/evaluation_bytes.h"

#include <algorithm>

#include "fuzz/targets/program_bytes.h"
#include "harness/bpf/text.h"
#include "harness/coverage/state.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/inputs/mutate_input.h"

namespace secequiv::fuzz {
namespace {

constexpr std::size_t kInputBytes = sizeof(SeccompData);

void change_input(Random& random, Evaluations& evaluations) {
  std::vector<SeccompData>& inputs = evaluations.inputs;
  if (inputs.size() < kMaxInputs && random.one_in(4)) {
    inputs.push_back(random_inputs(random, evaluations.program, 1)[0]);
  } else if (inputs.size() > 1 && random.one_in(4)) {
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(random.below(inputs.size())));
  } else {
    InputMutator({evaluations.program}).mutate(inputs[random.below(inputs.size())], random);
  }
}

}  // namespace

std::optional<Evaluations> read_evaluations(std::span<const std::uint8_t> bytes) {
  if (bytes.empty() || bytes[0] == 0 || bytes[0] > kMaxInputs) return std::nullopt;
  const std::size_t size = bytes[0] * kInputBytes;
  if (bytes.size() < 1 + size) return std::nullopt;
  auto program = legal_program(bytes.subspan(1 + size));
  if (!program) return std::nullopt;
  const auto inputs =
      read_inputs({reinterpret_cast<const char*>(bytes.data()) + 1, size}, "inputs");
  if (!inputs) return std::nullopt;
  return Evaluations{std::move(*program), *inputs};
}

std::string write_evaluations(const Evaluations& evaluations) {
  return static_cast<char>(evaluations.inputs.size()) + write_inputs(evaluations.inputs) +
         write_program(evaluations.program, Form::kRaw);
}

std::size_t mutate_evaluations(std::span<std::uint8_t> out, std::size_t size, unsigned seed) {
  Random random(seed);
  auto given = read_evaluations(out.first(size));
  const std::size_t inputs = 1 + (given ? given->inputs.size() + 1 : 2) * kInputBytes;
  if (out.size() < inputs + sizeof(Insn)) return given ? size : 0;
  if (!given) {
    given.emplace();
    given->program =
        changed_program(random, std::nullopt, {}, (out.size() - inputs) / sizeof(Insn));
    given->inputs = random_inputs(random, given->program, 2);
  } else if (random.one_in(2)) {
    given->program =
        changed_program(random, given->program, {}, (out.size() - inputs) / sizeof(Insn));
  } else {
    change_input(random, *given);
  }
  const std::string bytes = write_evaluations(*given);
  std::ranges::copy(bytes, out.begin());
  return bytes.size();
}

}  // namespace secequiv::fuzz
