// Builds programs with labels. Owns the computation of jump offsets. It must not know what the code
// is for.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

// Names a jump target within one Builder.
using Label = std::size_t;

// A conditional jump is followed by two unconditional ones, whose 32-bit offsets reach every
// target. Optimizers shorten this form where 8-bit offsets suffice.
class Builder {
 public:
  Label label() {
    positions_.push_back(kUnbound);
    return positions_.size() - 1;
  }
  // Bind a label once, after all jumps to it: jumps only go forward.
  void bind(Label label) { positions_[label] = code_.size(); }

  void load(std::uint32_t word) { code_.push_back(Insn{kLdWAbs, 0, 0, word * 4}); }
  void ret(std::uint32_t value) { code_.push_back(Insn{kRetK, 0, 0, value}); }
  void mask(std::uint32_t k) { code_.push_back(Insn{kAndK, 0, 0, k}); }
  void jump(Label to) {
    jumps_.emplace_back(code_.size(), to);
    code_.push_back(Insn{kJa, 0, 0, 0});
  }
  void branch(std::uint16_t code, std::uint32_t k, Label yes, Label no) {
    code_.push_back(Insn{code, 0, 1, k});
    jump(yes);
    jump(no);
  }

  // Returns the label of a RET with this value. finish() writes these at the end, each value once.
  Label returning(std::uint32_t value) {
    const auto known = returns_.find(value);
    return known != returns_.end() ? known->second : returns_.emplace(value, label()).first->second;
  }

  Program finish() {
    for (const auto& [value, label] : returns_) {
      bind(label);
      ret(value);
    }
    for (const auto& [pc, to] : jumps_)
      code_[pc].k = static_cast<std::uint32_t>(positions_[to] - pc - 1);
    return std::move(code_);
  }

 private:
  static constexpr std::size_t kUnbound = ~std::size_t{0};
  Program code_;
  std::vector<std::size_t> positions_;
  std::vector<std::pair<std::size_t, Label>> jumps_;
  std::map<std::uint32_t, Label> returns_;
};

}  // namespace secequiv
