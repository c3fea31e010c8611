#include "harness/generate/pieces.h"

namespace secequiv::detail {

void Pieces::change_register() {
  switch (random_.below(9)) {
    case 0:
      return load(word());
    case 1:
      if (random_.one_in(4)) return out_.write(kLdLen);
      return out_.write(kLdImm, constant());
    case 2:
      return out_.write(kLdxImm, constant());
    case 3:
      return out_.write(kTax);
    case 4:
      return out_.write(kTxa);
    case 5:
      return out_.write(random_.one_in(2) ? kSt : kStx, slot());
    case 6:
      return load_scratch(slot());
    case 7:
      return out_.write(random_.one_in(2) ? kNeg : kLdxLen);
    default:
      return count();
  }
}

void Pieces::use_registers() {
  switch (random_.below(4)) {
    case 0: {
      const Label skip = out_.label();
      branch_either(skip);
      if (random_.one_in(2)) out_.write(kTxa);
      out_.write(kRetA);
      return out_.bind(skip);
    }
    case 1:
      return out_.branch(random_.pick(kTestsX), 0, out(), Writer::kNext);
    default:
      return branch_either(out());
  }
}

void Pieces::load_scratch(std::uint32_t k) {
  if (!out_.stored(k)) return out_.write(random_.one_in(2) ? kSt : kStx, k);
  out_.write(random_.one_in(2) ? kLdMem : kLdxMem, k);
}

void Pieces::reload_scratch() {
  const std::uint32_t k = slot();
  const bool a = random_.one_in(2);  // false: the load goes to X
  const std::uint16_t loads = a ? kLdMem : kLdxMem;
  const auto change = [&](bool of_a) {
    if (random_.one_in(4)) return;
    if (of_a)
      load(word());
    else
      out_.write(kLdxImm, constant());
  };
  const Label join = out_.label();
  if (!out_.stored(k)) out_.write(random_.one_in(2) ? kSt : kStx, k);
  out_.write(loads, k);
  if (random_.one_in(2)) {
    change(a);
    branch_either(join);
  }
  for (std::size_t n = random_.between(1, 2); n > 0; --n) {
    const bool stored = random_.one_in(3) != a;
    change(stored);
    out_.write(stored ? kSt : kStx, random_.one_in(3) ? slot() : k);
  }
  out_.bind(join);
  out_.write(loads, k);
  if (!random_.one_in(4)) use_registers();
}

// Keeps different values in many words at once.
void Pieces::fill_scratch() {
  const std::uint32_t words = 2 + number(8);
  for (std::uint32_t k = 0; k < words; ++k) {
    change_register();
    out_.write(random_.one_in(2) ? kSt : kStx, k);
  }
  if (random_.one_in(2)) branch_either(out());
  for (std::uint32_t k = 0; k < words; ++k) {
    out_.write(random_.one_in(2) ? kLdMem : kLdxMem, k);
    if (random_.one_in(2)) out_.write(random_.pick(kCountsX));
  }
  use_registers();
}

void Pieces::scratch() {
  if (slots_ > 3 && random_.one_in(2)) return fill_scratch();
  std::array<Label, 2> joins{};
  std::size_t open = 0;
  load(word());
  out_.write(kSt, slot());
  for (std::size_t n = random_.between(2, 8); n > 0; --n) {
    switch (random_.below(8)) {
      case 0:
        out_.write(random_.one_in(2) ? kSt : kStx, slot());
        break;
      case 1:
        load_scratch(slot());
        break;
      case 2:
      case 3:
        reload_scratch();
        break;
      case 4:
        branch_either(out());
        break;
      case 5:
        if (open < joins.size()) {
          joins[open] = out_.label();
          branch_either(joins[open++]);
        } else {
          out_.bind(joins[--open]);
        }
        break;
      default:
        change_register();
    }
  }
  while (open > 0) out_.bind(joins[--open]);
  load_scratch(slot());
  use_registers();
}

void Pieces::registers() {
  const std::uint32_t w = word();
  load(w);
  for (std::size_t n = random_.between(2, 6); n > 0; --n) {
    if (random_.one_in(2)) {
      out_.write(random_.one_in(2) ? kTax : kTxa);
    } else {
      change_register();
    }
    if (random_.one_in(6)) branch_either(out());
  }
  if (random_.one_in(4)) load(w);
  use_registers();
}

void Pieces::arithmetic() {
  const auto operand = [&] { return random_.one_in(4) ? constant() : random_.pick(kLimits); };
  if (random_.one_in(2)) {
    load(word());
  } else {
    out_.write(kLdImm, operand());
  }
  for (std::size_t n = random_.between(1, 3); n > 0; --n) {
    std::uint32_t k = operand();
    if (random_.one_in(2)) {
      const std::uint16_t code = random_.pick(kCountsK);
      if (code == kLshK || code == kRshK) k %= 32;
      if (code == kDivK && k == 0) k = 1;
      out_.write(code, k);
    } else {
      if (random_.one_in(4)) {
        out_.write(kLdImm, k);
        out_.write(kTax);
        load(word());
      } else {
        out_.write(kLdxImm, k);
      }
      out_.write(random_.pick(kCountsX));
    }
  }
  if (random_.one_in(8)) out_.write(kNeg);
  use_registers();
}

}  // namespace secequiv::detail
