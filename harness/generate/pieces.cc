#include "harness/generate/pieces.h"

namespace secequiv::detail {

void Pieces::piece(BlockShape shape) {
  static constexpr std::array<void (Pieces::*)(), kShapes> kPieces = {
      &Pieces::noise,           &Pieces::linear_search,
      &Pieces::tree_search,     &Pieces::wide_comparison,
      &Pieces::masks,           &Pieces::decided_tests,
      &Pieces::repeated_loads,  &Pieces::similar_blocks,
      &Pieces::similar_returns, &Pieces::computed_returns,
      &Pieces::dead_code,       &Pieces::jump_chains,
      &Pieces::dispatch,        &Pieces::scratch,
      &Pieces::registers,       &Pieces::arithmetic,
      &Pieces::nested_joins,    &Pieces::far_jumps,
      &Pieces::long_list,       &Pieces::compiled};
  (this->*kPieces[static_cast<std::size_t>(shape)])();
}

void Pieces::noise() {
  const std::size_t n = random_.between(2, 12);
  std::array<std::uint32_t, kConstants.size() + 8> constants{};
  std::ranges::copy(kConstants, constants.begin());
  for (std::uint32_t i = 0; i < 8; ++i) constants[kConstants.size() + i] = base_ + i % 4;
  const std::array<std::uint32_t, 1> returns = {returns_[0].value};
  const Program inner = program_from(random_, n + 1, {words_, constants, returns});
  std::vector<Label> starts(inner.size());
  for (Label& start : starts) start = out_.label();
  const Label end = starts.back();
  const auto target = [&](std::size_t pc, bool taken) {
    return random_.one_in(4) ? out() : starts[jump_target(pc, inner[pc], taken)];
  };
  for (std::size_t pc = 0; pc < n; ++pc) {
    const Insn& in = inner[pc];
    out_.bind(starts[pc]);
    if (is_ret(in) && !random_.one_in(4)) {
      out_.jump(random_.one_in(2) ? end : out());
    } else if (in.code == kJa) {
      out_.jump(target(pc, true));
    } else if (is_conditional(in)) {
      out_.branch(in.code, in.k, target(pc, true), target(pc, false));
    } else {
      out_.write(in.code, in.k);
    }
  }
  out_.bind(end);
}

void Pieces::linear_search() {
  const std::uint32_t w = word();
  const std::uint32_t step = random_.one_in(2) ? 1 : 1 + number(1000);
  std::uint32_t k = constant();
  load(w);
  const Label same = out();
  for (std::size_t n = random_.between(2, 8); n > 0; --n, k += step) {
    out_.branch(random_.one_in(6) ? test() : std::uint16_t{kJeqK}, k,
                random_.one_in(2) ? same : out(), Writer::kNext);
    if (random_.one_in(8)) load(random_.one_in(2) ? w : word());
  }
  if (random_.one_in(3)) out_.jump(out());
}

void Pieces::tree_search() {
  const std::size_t room = length_ > out_.size() ? length_ - out_.size() : 0;
  const std::size_t n = random_.between(2, std::clamp<std::size_t>(room / 6, 3, 200));
  std::vector<std::uint32_t> values(n);
  const bool dense = random_.one_in(2);
  std::uint32_t v = random_.one_in(2) ? number(64) : constant();
  for (std::uint32_t& value : values) {
    value = v;
    v += dense && !random_.one_in(8) ? 1 : 1 + number(random_.one_in(2) ? 16 : 0x8000000);
  }
  std::ranges::sort(values);  // the values may have wrapped around
  load(word());
  const Label miss = random_.one_in(3) ? out_.label() : out();
  tree(values, 0, n, miss);
  if (!bound_by_out(miss)) out_.bind(miss);
}

void Pieces::tree(const std::vector<std::uint32_t>& values, std::size_t begin, std::size_t end,
                  Label miss) {
  if (end - begin == 1) {
    // If the bounds leave only one number, no test is needed.
    const bool pinned = begin > 0 && end < values.size() &&
                        values[begin - 1] + 1 == values[begin] && values[begin] + 1 == values[end];
    if (pinned && random_.one_in(2)) return out_.jump(out());
    return out_.branch(kJeqK, values[begin], out(), miss);
  }
  const std::size_t middle = begin + (end - begin) / 2;
  const Label right = out_.label();
  if (random_.one_in(2)) {
    out_.branch(kJgeK, values[middle], right, Writer::kNext);
  } else {
    out_.branch(kJgtK, values[middle] - 1, right, Writer::kNext);
  }
  tree(values, begin, middle, miss);
  out_.bind(right);
  tree(values, middle, end, miss);
}

void Pieces::wide_comparison() {
  const std::uint32_t low = random_.one_in(2) ? words_[1] & ~1u : 2 + 2 * number(7);
  const std::uint32_t high = low + 1;
  const std::uint32_t k_low = constant();
  const std::uint32_t k_high = random_.one_in(2) ? 0 : constant();
  const Label no = out_.label();
  const Label yes = random_.one_in(2) ? out() : out_.label();
  const bool own = !bound_by_out(yes);
  const std::size_t kind = random_.below(8);
  if (kind < 3) {  // compares for equality, with or without masks
    const bool swapped = random_.one_in(3);
    const std::uint32_t first = swapped ? low : high;
    load(first);
    if (kind == 1) out_.write(kAndK, constant());
    out_.branch(kJeqK, swapped ? k_low : k_high, Writer::kNext, no);
    load(first ^ 1);
    if (kind == 1) out_.write(kAndK, constant());
    out_.branch(kJeqK, swapped ? k_high : k_low, yes, no);
  } else if (kind == 3) {  // tests that the field is non-negative and has 32 bits
    load(high);
    out_.branch(kJeqK, 0, Writer::kNext, no);
    load(low);
    if (random_.one_in(2)) {
      out_.branch(kJsetK, 0x80000000, no, yes);
    } else {
      out_.branch(kJgtK, 0x7fffffff, no, yes);
    }
  } else if (kind == 4) {  // tests that no bit of a set is set
    load(high);
    out_.branch(kJsetK, k_high, no, Writer::kNext);
    load(low);
    out_.branch(kJsetK, k_low, no, yes);
  } else {  // compares the order; the low halves decide only if the high halves are equal
    const bool greater = random_.one_in(2);
    load(high);
    out_.branch(kJgtK, k_high, greater ? yes : no, Writer::kNext);
    out_.branch(kJeqK, k_high, Writer::kNext, greater ? no : yes);
    load(low);
    const std::uint16_t code = random_.one_in(2) ? kJgtK : kJgeK;
    out_.branch(code, k_low, greater ? yes : no, greater ? no : yes);
  }
  // `yes` and `no` are both bound after the comparison, one after the other.
  if (own) {
    out_.bind(yes);
    if (random_.one_in(2)) out_.jump(out());
  }
  out_.bind(no);
}

void Pieces::masks() {
  const std::uint32_t w = word();
  std::uint32_t mask = random_.one_in(2) ? constant() : 6u << random_.below(8);
  load(w);
  for (std::size_t n = random_.between(2, 4); n > 0; --n) {
    if (random_.one_in(2)) {
      out_.branch(kJsetK, mask, random_.one_in(2) ? out() : Writer::kNext,
                  random_.one_in(3) ? out() : Writer::kNext);
    } else {
      out_.write(kAndK, mask);
      const std::uint32_t value = random_.one_in(3) ? 0 : mask & random_.word();
      out_.branch(kJeqK, random_.one_in(8) ? constant() : value, out(), Writer::kNext);
      if (!random_.one_in(4)) load(w);
    }
    switch (random_.below(5)) {
      case 0:
        mask = constant();
        break;
      case 1:
        mask &= random_.word();
        break;
      case 2:
        mask <<= 2;
        break;
      case 3:
        mask |= 1u << random_.below(32);
        break;
      default:
        break;
    }
  }
}

void Pieces::decided_tests() {
  const Label end = out_.label();
  const std::uint32_t k = constant();
  load(word());
  // With overlapping masks, one set bit gives little information about the others.
  if (random_.one_in(3)) {
    std::uint32_t mask = random_.one_in(2) ? 7u << random_.below(8) : k;
    for (std::size_t n = random_.between(2, 4); n > 0; --n) {
      out_.branch(kJsetK, mask, random_.one_in(6) ? out() : Writer::kNext,
                  random_.one_in(2) ? end : out());
      mask = random_.one_in(2) ? mask & random_.word() : mask ^ 1u << random_.below(8);
    }
    return out_.bind(end);
  }
  for (std::size_t n = random_.between(2, 6); n > 0; --n) {
    const std::uint16_t code = random_.pick(kTests);
    std::uint32_t other = k - 1 + number(3);
    if (code == kJsetK)
      other = random_.one_in(2) ? k & random_.word() : 1u << random_.below(32) | k;
    const Label yes = random_.one_in(3) ? end : random_.one_in(2) ? out() : Writer::kNext;
    const Label no = random_.one_in(3) ? end : random_.one_in(3) ? out() : Writer::kNext;
    out_.branch(code, other, yes, no);
  }
  out_.bind(end);
}

}  // namespace secequiv::detail
