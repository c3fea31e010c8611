// The text and binary forms of a program: raw bytes, the kernel's bpf_asm text, `tcpdump -ddd`
// decimals and C initializers. Owns detection, reading and writing. Every program, legal or not,
// reads back field for field as it was written. It must not know syscalls or actions
// (seccomp/annotate.h supplies the comments of asm text).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"

namespace secequiv {

enum class Form {
  kRaw,           // array of struct sock_filter, little endian, 8 bytes each
  kRawBigEndian,  // array of struct sock_filter, big endian
  kAsm,           // bpf_asm text with labels and comments
  kDecimal,       // count, then one "code jt jf k" per line (or all comma-separated on one line)
  kC,             // { 0x20, 0, 0, 0x4 }, { .code = 6, .k = 1 }, ... or BPF_STMT / BPF_JUMP
};

// The names are "raw", "raw-be", "asm", "ddd" and "c", as in --from and --to.
std::string_view form_name(Form form);
std::optional<Form> form_from_name(std::string_view name);

// Resolves a name in C text beyond BPF_*: "SECCOMP_RET_ALLOW", "__NR_read", "offsetof(struct
// seccomp_data,args[1])" (without other blanks). Returns nothing if the name is unknown.
using CNames = std::function<std::optional<std::uint32_t>(std::string_view)>;

// Guesses the form of `bytes`. Text never contains a NUL byte and raw programs always do. In valid
// programs the high byte of every code is 0; its place reveals the byte order. Detection never
// fails: reading in the guessed form reports what is wrong.
Form detect_form(std::string_view bytes);

// Reads a program in `form` (detected when absent). `name` is the file's name for messages. Errors:
// kParse with file:line:column or file and byte offset, for example for a symbolic immediate
// (`#$fd`). Only the size of the input limits the length.
Result<Program> read_program(std::string_view bytes, const std::string& name,
                             std::optional<Form> form = std::nullopt, const CNames& names = {});

// Like read_program, but keeps symbolic immediates, which only kAsm text can have.
Result<SymbolicProgram> read_symbolic(std::string_view bytes, const std::string& name,
                                      std::optional<Form> form = std::nullopt,
                                      const CNames& names = {});

// Returns the kParse error for a name without a value.
Error lacks_value(const SymbolUse& use, std::string_view hint = "");

// Writes `program` in `form`. `comments` is empty or holds one comment per instruction, which may
// be empty; only kAsm and kC write them. Text forms end with a newline.
std::string write_program(ProgramView program, Form form,
                          std::span<const std::string> comments = {});

// Writes a program with names in form kAsm. Precondition: each name stands for an immediate, and
// the unused fields of its instruction are 0.
std::string write_symbolic(const SymbolicProgram& program,
                           std::span<const std::string> comments = {});

// Returns one instruction in bpf_asm text with absolute targets: "jeq #0x27, L5, L9".
std::string insn_text(ProgramView program, std::size_t pc);

namespace detail {
Result<SymbolicProgram> read_asm(std::string_view text, const std::string& name);
Result<SymbolicProgram> read_c(std::string_view text, const std::string& name, const CNames& names);
}  // namespace detail

}  // namespace secequiv
