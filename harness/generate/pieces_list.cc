#include <map>

#include "harness/generate/pieces.h"

namespace secequiv::detail {

void Pieces::long_tree(std::size_t entries) {
  std::vector<std::uint32_t> values(entries);
  const std::uint32_t step = random_.one_in(2) ? 1 : 2 + number(1000);
  for (std::uint32_t v = number(64); std::uint32_t& value : values) {
    value = v;
    v += random_.one_in(8) ? 2 * step : step;
  }
  load(word());
  const Label miss = out_.label();
  tree(values, 0, entries, miss);
  out_.bind(miss);
}

void Pieces::long_list() {
  const std::size_t room = length_ > out_.size() ? length_ - out_.size() : 0;
  const std::size_t kind = random_.below(5);
  const std::size_t most = std::clamp<std::size_t>(room / (kind == 2 ? 5 : 2), 100, 600);
  const std::size_t entries = random_.one_in(4) ? random_.between(100, most) : most;
  if (kind == 0) return long_tree(entries);
  const std::uint32_t step = random_.one_in(2) ? 1 : 1 + number(1000);
  std::uint32_t value = returns_[random_.below(returns_.size())].value;
  const std::uint32_t value_step = random_.one_in(8) ? 1 : 0;
  // The index of the entry that differs from the others, if there is one.
  const std::size_t odd = random_.one_in(4) ? random_.below(entries) : entries;
  const Label match = out_.label();
  const Label miss = out_.label();
  std::uint32_t k = random_.one_in(2) ? number(64) : constant();
  load(word());
  for (std::size_t i = 0; i < entries; ++i, k += step, value += value_step) {
    const std::uint16_t code = i == odd ? test() : std::uint16_t{kJeqK};
    if (kind == 1) {  // all entries go to the same place
      out_.branch(code, k, i == odd ? out() : match, Writer::kNext);
      continue;
    }
    const Label next = out_.label();
    out_.branch(code, k, Writer::kNext, next);
    if (kind == 2) {  // each entry also tests an argument
      load(words_[1]);
      out_.branch(kJeqK, base_ + static_cast<std::uint32_t>(i % 4), Writer::kNext, miss);
    }
    ret(i == odd ? returns_[0].value : value);
    out_.bind(next);
  }
  out_.bind(miss);
  if (random_.one_in(2)) {
    out_.jump(out());
    out_.bind(match);
    return ret(value);
  }
  out_.bind(match);
}

// Copies a block with other operands; operands that were equal stay equal. Jumps out of it mostly
// go to places outside the block.
void Pieces::compiled() {
  const auto programs = compiled_programs();
  const Program& from = programs[random_.below(programs.size())];
  const std::size_t begin = random_.below(from.size());
  const std::size_t size = std::min(from.size() - begin, random_.between(2, 24));
  std::vector<Label> starts(size + 1);
  for (Label& start : starts) start = out_.label();
  std::map<std::size_t, Label> outside;
  const auto target = [&](std::size_t pc, bool taken) {
    const std::size_t to = jump_target(begin + pc, from[begin + pc], taken) - begin;
    if (to <= size) return starts[to];
    if (!outside.contains(to)) outside[to] = out();
    return outside[to];
  };
  const std::uint32_t moved = random_.one_in(2) ? 0 : 2 * number(6);  // another argument
  const std::uint32_t shift = random_.one_in(2) ? 0 : number(8);
  std::map<std::uint32_t, std::uint32_t> returned;
  for (std::size_t pc = 0; pc < size; ++pc) {
    const Insn& in = from[begin + pc];
    out_.bind(starts[pc]);
    if (in.code == kRetK) {
      if (!returned.contains(in.k)) returned[in.k] = returns_[random_.below(returns_.size())].value;
      ret(returned[in.k]);
    } else if (in.code == kJa) {
      out_.jump(target(pc, true));
    } else if (is_conditional(in)) {
      const std::uint32_t k = random_.one_in(24) ? constant() : in.k + shift;
      out_.branch(in.code, k, target(pc, true), target(pc, false));
    } else if (in.code == kLdWAbs) {
      const std::uint32_t w = in.k / 4;
      out_.write(kLdWAbs, w < 4 ? in.k : 4 * (4 + (w - 4 + moved) % 12));
    } else if (in.code == kLdMem || in.code == kLdxMem) {
      out_.write(out_.stored(in.k) ? in.code : std::uint16_t{kSt}, in.k);
    } else {
      out_.write(in.code, in.k);
    }
  }
  out_.bind(starts[size]);
}

}  // namespace secequiv::detail
