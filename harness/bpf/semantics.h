// Defines what each instruction of a seccomp filter does, once for every representation of a word:
// 32-bit numbers (interpreter.h), solver terms (verify/smt) and decision diagrams. Owns
// `step<Domain>`. It must not know any domain.
//
// Source: ___bpf_prog_run and bpf_convert_filter (kernel/bpf/core.c, net/core/filter.c) as applied
// to seccomp: A = X = 0 at entry; arithmetic is unsigned mod 2^32; DIV|X by 0 ends the program with
// 0; LSH|X and RSH|X use the low five bits of X; LD|W|LEN is sizeof(struct seccomp_data).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "harness/bpf/insn.h"

namespace secequiv {

// A domain computes with words and truth values. `load(i)` returns the i-th 32-bit word of struct
// seccomp_data, in load order (offset 4*i). Shift amounts passed to lsh and rsh are below 32.
// Divisors passed to udiv are not 0 on the current path.
template <class D>
concept Domain = requires(D d, const typename D::Word& w, std::uint32_t k) {
  { d.constant(k) } -> std::same_as<typename D::Word>;
  { d.load(k) } -> std::same_as<typename D::Word>;
  { d.add(w, w) } -> std::same_as<typename D::Word>;
  { d.sub(w, w) } -> std::same_as<typename D::Word>;
  { d.mul(w, w) } -> std::same_as<typename D::Word>;
  { d.udiv(w, w) } -> std::same_as<typename D::Word>;
  { d.bit_and(w, w) } -> std::same_as<typename D::Word>;
  { d.bit_or(w, w) } -> std::same_as<typename D::Word>;
  { d.bit_xor(w, w) } -> std::same_as<typename D::Word>;
  { d.lsh(w, w) } -> std::same_as<typename D::Word>;
  { d.rsh(w, w) } -> std::same_as<typename D::Word>;
  { d.neg(w) } -> std::same_as<typename D::Word>;
  { d.eq(w, w) } -> std::same_as<typename D::Bool>;
  { d.ugt(w, w) } -> std::same_as<typename D::Bool>;
  { d.uge(w, w) } -> std::same_as<typename D::Bool>;
  { d.any_bit(w, w) } -> std::same_as<typename D::Bool>;  // (a & b) != 0
};

// The registers and scratch memory. refusal.h ensures that programs read words of M[] only after
// writing them.
template <class D>
struct Machine {
  typename D::Word a;
  typename D::Word x;
  std::array<typename D::Word, kMemWords> m;
};

// Receives where control goes after one instruction. `exit_if_zero(w)` ends the program with result
// 0 if w is 0. It returns true if step() must stop, because the program has ended. A symbolic
// control records the exit and returns false.
template <class C, class D>
concept Control =
    requires(C c, const typename D::Word& w, const typename D::Bool& b, std::uint32_t k) {
      c.next();
      c.jump(k);
      c.branch(b, k, k);
      c.ret(w);
      { c.exit_if_zero(w) } -> std::same_as<bool>;
    };

// Executes `in` on `s` and reports the next instruction to `c`. Precondition: the kernel accepts
// the program, except for its length.
template <Domain D, class C>
  requires Control<C, D>
[[gnu::always_inline]] inline void step(D& d, const Insn& in, Machine<D>& s, C& c) {
  const auto jump_if = [&](const typename D::Bool& condition)
                           __attribute__((always_inline)) { c.branch(condition, in.jt, in.jf); };
  switch (in.code) {
    case kLdWAbs:
      s.a = d.load(in.k / 4);
      return c.next();
    case kLdImm:
      s.a = d.constant(in.k);
      return c.next();
    case kLdLen:
      s.a = d.constant(kSeccompDataSize);
      return c.next();
    case kLdMem:
      s.a = s.m[in.k % kMemWords];
      return c.next();
    case kLdxImm:
      s.x = d.constant(in.k);
      return c.next();
    case kLdxLen:
      s.x = d.constant(kSeccompDataSize);
      return c.next();
    case kLdxMem:
      s.x = s.m[in.k % kMemWords];
      return c.next();
    case kSt:
      s.m[in.k % kMemWords] = s.a;
      return c.next();
    case kStx:
      s.m[in.k % kMemWords] = s.x;
      return c.next();
    case kTax:
      s.x = s.a;
      return c.next();
    case kTxa:
      s.a = s.x;
      return c.next();

    case kAddK:
      s.a = d.add(s.a, d.constant(in.k));
      return c.next();
    case kAddX:
      s.a = d.add(s.a, s.x);
      return c.next();
    case kSubK:
      s.a = d.sub(s.a, d.constant(in.k));
      return c.next();
    case kSubX:
      s.a = d.sub(s.a, s.x);
      return c.next();
    case kMulK:
      s.a = d.mul(s.a, d.constant(in.k));
      return c.next();
    case kMulX:
      s.a = d.mul(s.a, s.x);
      return c.next();
    case kDivK:
      s.a = d.udiv(s.a, d.constant(in.k));
      return c.next();
    case kDivX:
      if (c.exit_if_zero(s.x)) return;
      s.a = d.udiv(s.a, s.x);
      return c.next();
    case kAndK:
      s.a = d.bit_and(s.a, d.constant(in.k));
      return c.next();
    case kAndX:
      s.a = d.bit_and(s.a, s.x);
      return c.next();
    case kOrK:
      s.a = d.bit_or(s.a, d.constant(in.k));
      return c.next();
    case kOrX:
      s.a = d.bit_or(s.a, s.x);
      return c.next();
    case kXorK:
      s.a = d.bit_xor(s.a, d.constant(in.k));
      return c.next();
    case kXorX:
      s.a = d.bit_xor(s.a, s.x);
      return c.next();
    case kLshK:
      s.a = d.lsh(s.a, d.constant(in.k));
      return c.next();
    case kLshX:
      s.a = d.lsh(s.a, d.bit_and(s.x, d.constant(31)));
      return c.next();
    case kRshK:
      s.a = d.rsh(s.a, d.constant(in.k));
      return c.next();
    case kRshX:
      s.a = d.rsh(s.a, d.bit_and(s.x, d.constant(31)));
      return c.next();
    case kNeg:
      s.a = d.neg(s.a);
      return c.next();

    case kJa:
      return c.jump(in.k);
    case kJeqK:
      return jump_if(d.eq(s.a, d.constant(in.k)));
    case kJeqX:
      return jump_if(d.eq(s.a, s.x));
    case kJgtK:
      return jump_if(d.ugt(s.a, d.constant(in.k)));
    case kJgtX:
      return jump_if(d.ugt(s.a, s.x));
    case kJgeK:
      return jump_if(d.uge(s.a, d.constant(in.k)));
    case kJgeX:
      return jump_if(d.uge(s.a, s.x));
    case kJsetK:
      return jump_if(d.any_bit(s.a, d.constant(in.k)));
    case kJsetX:
      return jump_if(d.any_bit(s.a, s.x));

    case kRetK:
      return c.ret(d.constant(in.k));
    case kRetA:
      return c.ret(s.a);
    default:
      // A checked program cannot get here. KILL_THREAD is the safest result if one ever does.
      return c.ret(d.constant(0));
  }
}

}  // namespace secequiv
