#include "fuzz/targets/program_bytes.h"

#include <algorithm>
#include <string>

#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "harness/generate/mutate.h"
#include "harness/generate/near_legal.h"
#include "harness/generate/program.h"

namespace secequiv::fuzz {
namespace {

// Few instructions suffice to show most bugs, and short programs run faster. Bugs in long jumps
// need long programs, so a few programs have any length.
constexpr std::size_t kShortProgram = 16;
constexpr std::size_t kAnyLengthOneIn = 512;

std::size_t store(ProgramView program, std::span<std::uint8_t> out) {
  const std::string bytes = write_program(program, Form::kRaw);
  std::ranges::copy(bytes, out.begin());
  return bytes.size();
}

}  // namespace

Program any_program(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size() - bytes.size() % sizeof(Insn));
  auto program = read_program(text, "input", Form::kRaw);
  return program ? std::move(*program) : Program();
}

std::optional<Program> legal_program(Bytes bytes) {
  if (bytes.size() % sizeof(Insn) != 0 || bytes.size() > kMaxInsns * sizeof(Insn))
    return std::nullopt;
  Program program = any_program(bytes);
  if (refusal_of(program)) return std::nullopt;
  return program;
}

std::uint64_t fingerprint(ProgramView program) {
  std::uint64_t out = program.size();
  for (const Insn& in : program) {
    const std::uint64_t bits = std::uint64_t{in.k} << 32 | std::uint64_t{in.code} << 16 |
                               std::uint64_t{in.jt} << 8 | in.jf;
    out = Random(out ^ bits).next();
  }
  return out;
}

Program changed_program(Random& random, const std::optional<Program>& program, ProgramView donor,
                        std::size_t room) {
  room = std::min(room, kMaxInsns);
  const bool any_length = random.one_in(kAnyLengthOneIn);
  if (program && !any_length && !random.one_in(8)) {
    Program out = mutate_program(random, *program, donor);
    if (out.size() <= std::min(room, std::max(kShortProgram, program->size()))) return out;
  }
  Program out =
      generate_program(random, {.length = any_length ? 0 : random.between(2, kShortProgram)});
  if (out.size() <= room) return out;
  return {Insn{kRetK, 0, 0, random.word()}};
}

std::size_t mutate_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed) {
  const std::size_t room = out.size() / sizeof(Insn);
  if (room == 0) return 0;
  Random random(seed);
  return store(changed_program(random, legal_program(out.first(size)), {}, room), out);
}

std::size_t cross_program_bytes(Bytes first, Bytes second, std::span<std::uint8_t> out,
                                unsigned seed) {
  const std::size_t room = out.size() / sizeof(Insn);
  if (room == 0) return 0;
  Random random(seed);
  const auto donor = legal_program(second);
  return store(changed_program(random, legal_program(first), donor ? *donor : ProgramView(), room),
               out);
}

std::size_t mutate_any_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed) {
  const std::size_t room = out.size() / sizeof(Insn);
  if (room == 0) return 0;
  Random random(seed);
  return store(change_near_legal(random, any_program(out.first(size)), room), out);
}

}  // namespace secequiv::fuzz
