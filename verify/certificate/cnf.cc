#include "verify/certificate/cnf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace secequiv::certificate {

Gates::Word Gates::constant(std::uint32_t k) {
  Word out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = truth((k >> i & 1) != 0);
  return out;
}

Gates::Word Gates::load(std::uint32_t i) {
  Word out{};
  for (std::size_t bit = 0; bit < out.size(); ++bit) out[bit] = static_cast<Bool>(2 + 32 * i + bit);
  return out;
}

Gates::Bool Gates::gate(const Gate& gate) {
  const auto [at, added] = index_.try_emplace(gate, kFirst + static_cast<Bool>(made_.size()));
  if (added) made_.push_back(gate);
  return at->second;
}

Gates::Bool Gates::both(Bool a, Bool b) {
  if (a == -1 || b == -1 || a == -b) return -1;
  if (a == 1) return b;
  if (b == 1 || a == b) return a;
  return gate({Kind::kAnd, std::min(a, b), std::max(a, b), 0});
}

Gates::Bool Gates::differ(Bool a, Bool b) {
  if (std::abs(a) == 1) return -a * b;
  if (std::abs(b) == 1) return -b * a;
  if (std::abs(a) == std::abs(b)) return truth(a != b);
  const auto [low, high] = std::minmax(std::abs(a), std::abs(b));
  const Bool out = gate({Kind::kXor, low, high, 0});
  return (a < 0) == (b < 0) ? out : -out;
}

Gates::Bool Gates::choose(Bool c, Bool yes, Bool no) {
  if (yes == no || c == 1) return yes;
  if (c == -1) return no;
  if (c < 0) {
    c = -c;
    std::swap(yes, no);
  }
  if (yes == 1 || yes == c) return either(c, no);
  if (yes == -1 || yes == -c) return both(-c, no);
  if (no == 1 || no == -c) return either(-c, yes);
  if (no == -1 || no == c) return both(c, yes);
  if (yes == -no) return differ(c, no);
  return yes > 0 ? gate({Kind::kMux, c, yes, no}) : -gate({Kind::kMux, c, -yes, -no});
}

Gates::Word Gates::choose(Bool c, const Word& yes, const Word& no) {
  Word out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = choose(c, yes[i], no[i]);
  return out;
}

Gates::Word Gates::inverted(Word a) {
  for (Bool& bit : a) bit = -bit;
  return a;
}

std::pair<Gates::Word, Gates::Bool> Gates::sum(const Word& a, const Word& b, Bool carry) {
  Word out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Bool half = differ(a[i], b[i]);
    out[i] = differ(half, carry);
    const Bool first = both(a[i], b[i]);
    carry = either(first, both(half, carry));
  }
  return {out, carry};
}

Gates::Word Gates::mul(const Word& a, const Word& b) {
  Word out = constant(0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Word row = constant(0);
    for (std::size_t j = i; j < row.size(); ++j) row[j] = both(b[i], a[j - i]);
    out = add(out, row);
  }
  return out;
}

// Long division: subtract the divisor wherever the remainder, extended by one bit, is not smaller.
Gates::Word Gates::udiv(const Word& a, const Word& b) {
  Word out{};
  Word rest = constant(0);
  const Word less = inverted(b);
  for (std::size_t i = out.size(); i-- > 0;) {
    const Bool top = rest.back();
    std::move_backward(rest.begin(), rest.end() - 1, rest.end());
    rest[0] = a[i];
    const auto [difference, carry] = sum(rest, less, 1);
    // Computes bit 32 of rest + ~divisor + 1, which is `top` + 1 (bit 32 of the inverted divisor) +
    // the carry.
    const Bool half = differ(top, 1);
    static_cast<void>(differ(half, carry));
    const Bool first = both(top, 1);
    out[i] = either(first, both(half, carry));
    rest = choose(out[i], difference, rest);
  }
  return out;
}

Gates::Word Gates::bit_and(const Word& a, const Word& b) {
  Word out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = both(a[i], b[i]);
  return out;
}

Gates::Word Gates::bit_or(const Word& a, const Word& b) {
  Word out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = either(a[i], b[i]);
  return out;
}

Gates::Word Gates::bit_xor(const Word& a, const Word& b) {
  Word out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = differ(a[i], b[i]);
  return out;
}

Gates::Word Gates::lsh(const Word& a, const Word& b) {
  Word out = a;
  for (std::size_t i = 0; i < 5; ++i) {
    Word moved = constant(0);
    std::copy(out.begin(), out.end() - (1 << i), moved.begin() + (1 << i));
    out = choose(b[i], moved, out);
  }
  return out;
}

Gates::Word Gates::rsh(const Word& a, const Word& b) {
  Word out = a;
  for (std::size_t i = 0; i < 5; ++i) {
    Word moved = constant(0);
    std::copy(out.begin() + (1 << i), out.end(), moved.begin());
    out = choose(b[i], moved, out);
  }
  return out;
}

Gates::Bool Gates::eq(const Word& a, const Word& b) {
  Bool out = 1;
  for (std::size_t i = a.size(); i-- > 0;) out = both(out, -differ(a[i], b[i]));
  return out;
}

// Compares from the highest bit, as eq() does, so that both share their gates.
Gates::Bool Gates::ugt(const Word& a, const Word& b) {
  Bool out = -1;
  Bool alike = 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    out = either(out, both(alike, both(a[i], -b[i])));
    alike = both(alike, -differ(a[i], b[i]));
  }
  return out;
}

Gates::Bool Gates::any_bit(const Word& a, const Word& b) {
  Bool out = -1;
  for (std::size_t i = 0; i < a.size(); ++i) out = either(out, both(a[i], b[i]));
  return out;
}

std::pair<std::vector<Clause>, std::int32_t> Gates::clauses(Bool goal) const {
  std::vector<std::int32_t> number(kFirst + made_.size(), 0);
  const auto at = [&](Bool literal) -> std::int32_t& {
    return number[static_cast<std::size_t>(std::abs(literal))];
  };
  at(goal) = 1;
  for (std::size_t i = made_.size(); i-- > 0;) {
    if (number[kFirst + i] == 0) continue;
    const Gate& gate = made_[i];
    at(gate.a) = at(gate.b) = 1;
    if (gate.kind == Kind::kMux) at(gate.c) = 1;
  }
  for (Bool input = 0; input < kFirst; ++input) at(input) = input;
  const auto renamed = [&](Bool literal) { return literal < 0 ? -at(literal) : at(literal); };
  std::int32_t count = kFirst - 1;
  std::vector<Clause> out{{1}};
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if (number[kFirst + i] == 0) continue;
    const std::int32_t v = number[kFirst + i] = ++count;
    const Gate& gate = made_[i];
    const std::int32_t a = renamed(gate.a);
    const std::int32_t b = renamed(gate.b);
    switch (gate.kind) {
      case Kind::kAnd:
        out.insert(out.end(), {{-v, a}, {-v, b}, {v, -a, -b}});
        break;
      case Kind::kXor:
        out.insert(out.end(), {{-v, a, b}, {-v, -a, -b}, {v, -a, b}, {v, a, -b}});
        break;
      case Kind::kMux: {
        const std::int32_t c = renamed(gate.c);
        out.insert(out.end(), {{-v, -a, b}, {v, -a, -b}, {-v, a, c}, {v, a, -c}});
        break;
      }
    }
  }
  out.push_back({renamed(goal)});
  return {std::move(out), count};
}

Result<Cnf> different(ProgramView before, ProgramView after, Sameness sameness) {
  Gates gates;
  Cnf out;
  out.text = fmt::format("c secequiv cnf certificate 1\nc same {}\n",
                         sameness == Sameness::kRaw ? "raw" : "behaviour");
  std::array<Gates::Word, 2> results{};
  for (std::size_t i = 0; i < 2; ++i) {
    const ProgramView view = i == 0 ? before : after;
    out.text += i == 0 ? "c before " : "c after ";
    Program program(view.begin(), view.end());
    for (Insn& in : program) {
      fmt::format_to(std::back_inserter(out.text), "{:04x}{:02x}{:02x}{:08x}", in.code, in.jt,
                     in.jf, in.k);
      if (in.code == kRetA && sameness != Sameness::kRaw)
        return make_error(ErrorCode::kBudget, "certificate",
                          "no certificate: computed return values cannot be compared by behaviour");
      if (in.code == kRetK) in.k = normalize(in.k, sameness);
    }
    out.text += '\n';
    results[i] = run_symbolic(gates, program).result;
  }
  Gates::Bool goal = -1;
  for (std::size_t i = 0; i < 32; ++i)
    goal = gates.either(goal, gates.differ(results[0][i], results[1][i]));
  std::int32_t variables = 0;
  std::tie(out.clauses, variables) = gates.clauses(goal);
  fmt::format_to(std::back_inserter(out.text), "p cnf {} {}\n", variables, out.clauses.size());
  for (const Clause& clause : out.clauses) {
    for (const std::int32_t literal : clause)
      fmt::format_to(std::back_inserter(out.text), "{} ", literal);
    out.text += "0\n";
  }
  return out;
}

}  // namespace secequiv::certificate
