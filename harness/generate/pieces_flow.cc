#include "harness/generate/pieces.h"

namespace secequiv::detail {

void Pieces::repeated_loads() {
  const std::uint32_t w = word();
  load(w);
  for (std::size_t n = random_.between(1, 3); n > 0; --n) {
    const Label join = out_.label();
    branch_either(random_.one_in(2) ? join : out());
    switch (random_.below(8)) {
      case 0:
        load(word());
        branch_either(join);
        break;
      case 1:
        out_.write(random_.pick(kCountsX));
        break;
      case 2:
      case 3:
        break;
      default:
        change_register();
    }
    const bool joined = random_.one_in(2);
    if (joined) out_.bind(join);
    load(random_.one_in(6) ? word() : w);
    branch_either(out());
    if (joined) continue;
    if (random_.one_in(2)) load(w);
    out_.bind(join);
  }
}

void Pieces::similar_blocks() {
  struct Op {
    std::uint16_t code;
    std::uint32_t k;
  };
  std::array<Op, 6> block{};
  const std::size_t length = random_.between(1, block.size());
  for (std::size_t i = 0; i < length; ++i) {
    if (i == 0 && !random_.one_in(4)) {
      block[i] = {kLdWAbs, 4 * word()};
    } else {
      const std::uint16_t code = random_.one_in(2) ? test() : random_.pick(kCounts);
      block[i] = {code, code == kDivK ? 3 : constant()};
    }
  }
  const Label target = out();
  const Label last = returns_[random_.below(returns_.size())].label;
  std::array<Label, 4> starts{};
  const std::size_t copies = random_.between(2, starts.size());
  load(word());
  for (std::size_t i = 0; i < copies; ++i) {
    starts[i] = out_.label();
    out_.branch(kJeqK, base_ + static_cast<std::uint32_t>(i), starts[i], Writer::kNext);
  }
  const Label end = out_.label();
  out_.jump(random_.one_in(2) ? end : out());
  const bool inline_return = random_.one_in(2);
  std::uint32_t value = returns_[random_.below(returns_.size())].value;
  for (std::size_t i = 0; i < copies; ++i) {
    out_.bind(starts[i]);
    const std::size_t changed = i == 0 || random_.one_in(3) ? length : random_.below(length);
    for (std::size_t j = 0; j < length; ++j) {
      Op op = block[j];
      if (j == changed)
        op.k = op.code == kLdWAbs ? op.k ^ 4
               : op.code == kDivK ? 5
                                  : op.k ^ 1u << random_.below(32);
      if (is_conditional(Insn{op.code, 0, 0, 0})) {
        out_.branch(op.code, op.k, target, Writer::kNext);
      } else {
        out_.write(op.code, op.k);
      }
    }
    if (inline_return) {
      if (random_.one_in(4)) value ^= 1u << random_.below(16);
      ret(value);
    } else if (i + 1 < copies || random_.one_in(2)) {
      out_.jump(random_.one_in(6) ? out() : last);
    }
  }
  out_.bind(end);
}

void Pieces::similar_returns() {
  std::uint32_t value = returns_[random_.below(returns_.size())].value;
  if (random_.one_in(2)) load(word());
  for (std::size_t n = random_.between(2, 5); n > 0; --n) {
    const Label skip = out_.label();
    branch_either(skip);
    if (random_.one_in(2)) value ^= 1u << random_.below(random_.one_in(4) ? 32 : 16);
    ret(value);
    out_.bind(skip);
  }
}

void Pieces::computed_returns() {
  const Label skip = out_.label();
  branch_either(skip);
  if (!random_.one_in(4)) load(word());
  if (random_.one_in(2)) out_.write(kAndK, random_.one_in(2) ? 0xffff : constant());
  if (random_.one_in(2)) out_.write(kOrK, random_.pick(kActions));
  if (random_.one_in(4)) out_.write(kTax);
  if (random_.one_in(4)) count();
  out_.write(kRetA);
  out_.bind(skip);
}

void Pieces::dead_code() {
  const Label behind = out_.label();
  if (random_.one_in(2)) {
    out_.jump(behind);
  } else {
    branch_either(behind);
    ret(returns_[0].value);
  }
  for (std::size_t n = random_.between(1, 5); n > 0; --n) {
    switch (random_.below(4)) {
      case 0:
        load(word());
        break;
      case 1:
        branch_either(random_.one_in(2) ? behind : out());
        break;
      case 2:
        ret(random_.pick(kActions));
        break;
      default:
        count();
    }
  }
  out_.bind(behind);
}

void Pieces::jump_chains() {
  std::array<Label, 5> chain{};
  const std::size_t links = random_.between(1, chain.size());
  for (Label& link : chain) link = out_.label();
  const Label end = out_.label();
  if (random_.one_in(2)) load(word());
  branch(chain[0], random_.one_in(3) ? chain[0] : Writer::kNext);
  if (random_.one_in(3)) branch_either(chain[random_.below(links)]);
  if (random_.one_in(3)) out_.jump(Writer::kNext);
  if (random_.one_in(2)) out_.jump(end);
  for (std::size_t i = 0; i < links; ++i) {
    out_.bind(chain[i]);
    const Label to = i + 1 < links ? chain[i + 1] : random_.one_in(2) ? out() : end;
    if (random_.one_in(6)) {
      branch(to, random_.one_in(2) ? to : end);
    } else {
      out_.jump(to);
    }
    if (random_.one_in(4)) load(word());
    if (random_.one_in(8)) ret(returns_[1].value);
  }
  out_.bind(end);
}

void Pieces::dispatch() {
  static constexpr std::array<std::uint32_t, 6> kAudit = {AUDIT_ARCH_X86_64,  AUDIT_ARCH_I386,
                                                          AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM,
                                                          AUDIT_ARCH_S390X,   AUDIT_ARCH_RISCV64};
  std::array<Label, 3> arch{};
  const std::size_t n = random_.between(1, arch.size());
  const Label end = out_.label();
  load(kArch);
  const std::size_t first = random_.below(kAudit.size());
  for (std::size_t i = 0; i < n; ++i) {
    arch[i] = out_.label();
    const bool last = i + 1 == n;
    out_.branch(kJeqK, kAudit[(first + i) % kAudit.size()], arch[i], last ? out() : Writer::kNext);
  }
  for (std::size_t i = 0; i < n; ++i) {
    out_.bind(arch[i]);
    load(kNr);
    if (random_.one_in(2))
      out_.branch(random_.one_in(2) ? kJsetK : kJgeK, kX32Bit, out(), Writer::kNext);
    if (random_.one_in(4)) out_.branch(kJeqK, 0xffffffff, out(), Writer::kNext);
    // The architectures usually test the same numbers, with different actions.
    for (std::size_t tests = random_.between(1, 4); tests > 0; --tests)
      out_.branch(kJeqK, base_ + number(4), out(), Writer::kNext);
    if (i + 1 < n && !random_.one_in(6)) out_.jump(random_.one_in(2) ? end : out());
  }
  out_.bind(end);
}

void Pieces::nest_joins(std::size_t depth) {
  const Label other = out_.label();
  const Label join = out_.label();
  load(word());
  branch_either(other);
  change_register();
  if (depth > 1 && random_.one_in(2)) nest_joins(depth - 1);
  if (!random_.one_in(4)) out_.jump(join);
  out_.bind(other);
  if (random_.one_in(2)) change_register();
  if (depth > 1 && random_.one_in(2)) nest_joins(depth - 1);
  out_.bind(join);
  switch (random_.below(4)) {
    case 0:
      return branch_either(out());
    case 1:
      return out_.branch(random_.pick(kTestsX), 0, out(), Writer::kNext);
    case 2:
      return out_.write(random_.pick(kCountsX));
    default:
      return;
  }
}

void Pieces::far_jumps() {
  const Label far = out_.label();
  const Label relay = out_.label();
  load(word());
  branch_either(random_.one_in(2) ? relay : far);
  if (random_.one_in(2)) {
    branch_either(out());
    out_.bind(relay);
    out_.jump(far);
  } else {
    out_.bind(relay);
    if (random_.one_in(2)) branch_either(far);
  }
  const std::size_t end = out_.size() + random_.between(250, 300);
  while (out_.size() < end) {
    if (random_.one_in(4)) {
      load(word());
    } else if (random_.one_in(8)) {
      branch_either(far);
    } else {
      branch_either(out());
    }
  }
  if (random_.one_in(2)) ret(returns_[0].value);
  out_.bind(far);
}

}  // namespace secequiv::detail
