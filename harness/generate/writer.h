// Writes programs with labels, fast enough for a generator. Owns the places of labels and what the
// kernel's check assumes about M[] there. It must not know what the program does.
#pragma once

#include <vector>

#include "harness/generate/edit.h"

namespace secequiv::detail {

class Writer {
 public:
  // A target of earlier jumps.
  using Label = std::uint32_t;
  static constexpr Label kNext = ~Label{0};  // the instruction after the jump

  explicit Writer(std::size_t expected) {
    lines_.reserve(expected);
    labels_.reserve(expected);
  }

  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] bool used(Label label) const { return labels_[label].used; }
  // Returns whether the kernel's check permits a read of M[k] here.
  [[nodiscard]] bool stored(std::uint32_t k) const { return (stored_ >> k & 1) != 0; }

  Label label() {
    labels_.push_back({});
    return static_cast<Label>(labels_.size() - 1);
  }
  // Places the label here. Call this once for each label, before finish().
  void bind(Label label) {
    labels_[label].position = static_cast<std::uint32_t>(lines_.size());
    stored_ &= labels_[label].stored;
  }

  // Appends an instruction that is not a jump.
  void write(std::uint16_t code, std::uint32_t k = 0) {
    if (code == kSt || code == kStx) stored_ |= static_cast<std::uint16_t>(1u << k);
    lines_.push_back(Line{Insn{code, 0, 0, k}, kNext, kNext});
  }
  void jump(Label to) {
    lines_.push_back(Line{Insn{kJa, 0, 0, 0}, to, to});
    behind_jump(go(to));
  }
  void branch(std::uint16_t code, std::uint32_t k, Label yes, Label no) {
    lines_.push_back(Line{Insn{code, 0, 0, k}, yes, no});
    const bool next = go(yes);
    behind_jump(go(no) || next);
  }

  // Returns the program. Preconditions: every target is bound, and the last instruction is a RET. A
  // conditional jump that does not reach its target goes through an unconditional one.
  Program finish();

 private:
  struct Place {
    std::uint32_t position = 0;
    std::uint16_t stored = 0xffff;
    bool used = false;
  };

  // Records a jump to `to`. Returns whether `to` is the next instruction.
  bool go(Label to) {
    if (to == kNext) return true;
    labels_[to].stored &= stored_;
    labels_[to].used = true;
    return false;
  }
  // As in the kernel's check_load_and_stores, all words count as stored after a jump that cannot
  // reach the next instruction.
  void behind_jump(bool reached) {
    if (!reached) stored_ = 0xffff;
  }

  Code lines_;  // with labels in place of targets until finish()
  std::vector<Place> labels_;
  std::uint16_t stored_ = 0;
};

}  // namespace secequiv::detail
