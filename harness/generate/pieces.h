// The pieces that generate_program combines, one member function per shape. Owns what they share:
// the words, numbers and returns of one program, and the places where later pieces start.
// It must not know who asks for a program.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "harness/base/random.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/generate/writer.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"

namespace secequiv::detail {

inline constexpr std::array<std::uint32_t, 16> kConstants = {
    0,          1,          2,          0x10,       0x80,       0xff,       0xffff,     0x10000,
    0x40000000, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xc000003e, 0xfffffffe, 0xffffffff};

inline constexpr std::array<std::uint32_t, 8> kActions = {
    SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | 1,    SECCOMP_RET_ERRNO | 38,
    SECCOMP_RET_LOG,   SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP,
    SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF};

inline constexpr std::array<std::uint16_t, 4> kTests = {kJeqK, kJgtK, kJgeK, kJsetK};
inline constexpr std::array<std::uint16_t, 4> kTestsX = {kJeqX, kJgtX, kJgeX, kJsetX};
inline constexpr std::array<std::uint16_t, 7> kCounts = {kAddK, kSubK, kAndK, kOrK,
                                                         kXorK, kMulK, kDivK};
inline constexpr std::array<std::uint16_t, 9> kCountsK = {kAddK, kSubK, kMulK, kDivK, kAndK,
                                                          kOrK,  kXorK, kLshK, kRshK};
inline constexpr std::array<std::uint16_t, 9> kCountsX = {kAddX, kSubX, kMulX, kDivX, kAndX,
                                                          kOrX,  kXorX, kLshX, kRshX};
// Arithmetic behaves differently at these operands, or next to them.
inline constexpr std::array<std::uint32_t, 6> kLimits = {0, 1, 31, 32, 0x80000000, 0xffffffff};
inline constexpr std::uint32_t kNr = 0;
inline constexpr std::uint32_t kArch = 1;
inline constexpr std::size_t kLong = 300;  // programs of this length have room for a long list

class Pieces {
 public:
  Pieces(Random& random, std::size_t length, const ProgramShape& shape)
      : random_(random), out_(length + length / 2 + 32), length_(length), shapes_(shape.shapes) {
    const std::uint32_t action = random_.pick(kActions);
    for (std::size_t i = 0; i < returns_.size(); ++i) {
      std::uint32_t value = random_.one_in(3) ? random_.pick(kActions) : action;
      if (random_.one_in(3)) value ^= 1u << random_.below(random_.one_in(4) ? 32 : 16);
      returns_[i] = {value, out_.label()};
    }
    base_ = random_.one_in(2) ? number(400) : random_.pick(kConstants);
    // The words are usually nr and the halves of one argument, so that pieces test the same words.
    const std::uint32_t argument = number(6);
    words_ = {random_.one_in(4) ? number(16) : kNr, 4 + 2 * argument, 5 + 2 * argument, number(16)};
    slots_ = random_.one_in(6) ? kMemWords : 1 + number(3);
    choose_shapes();
  }

  Program generate() {
    do {
      bind_pending(false);
      piece(chosen_[random_.below(count_)]);
    } while (out_.size() + 4 < length_);
    bind_pending(true);
    finish_returns();
    return out_.finish();
  }

 private:
  using Label = Writer::Label;
  struct Return {
    std::uint32_t value;
    Label label;
  };

  void choose_shapes() {
    const auto bit = [](BlockShape shape) { return 1u << static_cast<unsigned>(shape); };
    const auto without = [&](std::uint32_t shapes) {
      if ((shapes_ & ~shapes) != 0) shapes_ &= ~shapes;
    };
    if (length_ < kLong) without(bit(BlockShape::kFarJumps) | bit(BlockShape::kLongLists));
    const std::uint32_t all = shapes_;
    while (std::popcount(shapes_) > 5) shapes_ &= random_.word();  // a few per program
    if (shapes_ == 0) shapes_ = all;
    if (length_ >= kLong && random_.one_in(2)) shapes_ |= all & bit(BlockShape::kLongLists);
    for (std::size_t i = 0; i < kShapes; ++i)
      if ((shapes_ >> i & 1) != 0) chosen_[count_++] = static_cast<BlockShape>(i);
  }

  // These functions make random choices.
  std::uint32_t number(std::size_t n) { return static_cast<std::uint32_t>(random_.below(n)); }
  std::uint32_t word() { return words_[random_.below(words_.size())]; }
  std::uint32_t constant() {
    switch (random_.below(8)) {
      case 0:
        return random_.pick(kConstants);
      case 1:
        return base_ ^ 1u << random_.below(32);
      case 2:
        return random_.word();
      case 3:
        return random_.pick(kConstants) - 1 + number(3);
      default:
        return base_ + number(4);
    }
  }
  std::uint16_t test() { return random_.one_in(2) ? std::uint16_t{kJeqK} : random_.pick(kTests); }

  // Returns a later target: a return, or the place where a later piece starts.
  Label out() {
    if (pending_count_ > 0 && random_.one_in(4)) return pending_[random_.below(pending_count_)];
    if (pending_count_ < pending_.size() && random_.one_in(5)) {
      pending_[pending_count_] = out_.label();
      return pending_[pending_count_++];
    }
    return returns_[random_.below(returns_.size())].label;
  }
  void bind_pending(bool all) {
    while (pending_count_ > 0 && (all || random_.one_in(3))) out_.bind(pending_[--pending_count_]);
  }

  // These functions write instructions.
  void load(std::uint32_t w) { out_.write(kLdWAbs, 4 * w); }
  void ret(std::uint32_t value) { out_.write(kRetK, value); }
  void branch(Label yes, Label no) { out_.branch(test(), constant(), yes, no); }
  void branch_either(Label far) {
    if (random_.one_in(2)) {
      branch(far, Writer::kNext);
    } else {
      branch(Writer::kNext, far);
    }
  }
  void count() {
    const std::uint16_t code = random_.pick(kCounts);
    std::uint32_t k = constant();
    if (code == kDivK && k == 0) k = 3;
    out_.write(code, k);
  }

  void finish_returns() {
    const std::size_t first = random_.below(returns_.size());
    if (random_.one_in(8)) {
      out_.write(kRetA);
      if (!out_.used(returns_[first].label)) return finish_others(first);
    }
    out_.bind(returns_[first].label);
    ret(returns_[first].value);
    finish_others(first);
  }
  void finish_others(std::size_t first) {
    for (std::size_t i = 0; i < returns_.size(); ++i) {
      if (i == first || (!out_.used(returns_[i].label) && !random_.one_in(8))) continue;
      out_.bind(returns_[i].label);
      ret(returns_[i].value);
    }
  }

  void piece(BlockShape shape);
  // Any instruction may follow any other; jumps stay within the piece or leave it.
  void noise();
  std::uint32_t slot() { return random_.one_in(8) ? 15 : number(slots_); }

  void linear_search();
  void tree_search();
  bool bound_by_out(Label label) const {
    for (const Return& known : returns_)
      if (known.label == label) return true;
    for (std::size_t i = 0; i < pending_count_; ++i)
      if (pending_[i] == label) return true;
    return false;
  }
  void tree(const std::vector<std::uint32_t>& values, std::size_t begin, std::size_t end,
            Label miss);
  // Compares a 64-bit argument in the forms that compilers emit for little-endian arguments, with
  // either half first where possible.
  void wide_comparison();
  void masks();
  void decided_tests();
  // Loads a word again after nothing, a change of A, something harmless, or a join with another
  // path.
  void repeated_loads();
  void similar_blocks();
  void similar_returns();
  void computed_returns();
  void dead_code();
  void jump_chains();
  void dispatch();
  void scratch();
  void fill_scratch();
  void load_scratch(std::uint32_t k);
  // Loads a word of M[] twice, with stores to it or to others between.
  void reload_scratch();
  void registers();
  void arithmetic();
  // Uses A or X, so that a wrong value becomes visible.
  void use_registers();
  void change_register();
  void nested_joins() { nest_joins(random_.between(1, 3)); }
  void nest_joins(std::size_t depth);
  // Jumps over 250 to 300 instructions, around the limit of a conditional jump.
  void far_jumps();
  void long_list();
  void long_tree(std::size_t entries);
  void compiled();

  Random& random_;
  Writer out_;
  std::size_t length_;
  std::uint32_t shapes_;
  std::array<BlockShape, kShapes> chosen_{};
  std::size_t count_ = 0;
  std::array<Return, 4> returns_{};
  std::array<Label, 4> pending_{};  // where later pieces start
  std::size_t pending_count_ = 0;
  std::uint32_t base_ = 0;  // many constants are near it
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t slots_ = 1;  // pieces mostly use this many words of M[]
};

}  // namespace secequiv::detail
