// Translates a filter to machine code for loops over millions of inputs. Owns the encoding and the
// memory of the code. The interpreter stays the reference: reports show its results. It must not
// know why inputs are run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "harness/bpf/insn.h"
#include "harness/bpf/seccomp_data.h"

namespace secequiv {

class NativeProgram {
 public:
  // Returns std::nullopt if the processor is not x86-64 or the system refuses executable memory. An
  // outcome is watched if entry 2 * pc + (taken ? 1 : 0) of `watched` is not 0. If `watched` is
  // empty, no outcome is watched. Precondition: the kernel accepts the program, except for its
  // length.
  static std::optional<NativeProgram> translate(ProgramView program,
                                                std::span<const std::uint8_t> watched = {});

  NativeProgram(NativeProgram&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), entry_(other.entry_) {}
  NativeProgram& operator=(NativeProgram&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(entry_, other.entry_);
    return *this;
  }
  NativeProgram(const NativeProgram&) = delete;
  NativeProgram& operator=(const NativeProgram&) = delete;
  ~NativeProgram();

  // Returns the program's value for `input`. Sets `met` to 1 if a watched outcome occurs.
  std::uint32_t run(const SeccompData& input, std::uint8_t& met) const {
    return entry_(input.words.data(), &met);
  }

 private:
  using Entry = std::uint32_t (*)(const std::uint32_t* words, std::uint8_t* met);

  NativeProgram(void* memory, std::size_t size, Entry entry)
      : memory_(memory), size_(size), entry_(entry) {}

  void* memory_;
  std::size_t size_;
  Entry entry_;
};

}  // namespace secequiv
