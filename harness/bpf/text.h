// The ways a program is written down: raw bytes, the kernel's bpf_asm text, `tcpdump -ddd` decimals
// and C initializers. Owns detection, reading and writing; what is written reads back to the same
// program, field for field, for every program, legal or not. It must not know syscalls or actions
// (seccomp/annotate.h supplies comments for asm text).
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
  kRawBigEndian,  // the same, big endian
  kAsm,           // bpf_asm text with labels and comments
  kDecimal,       // count, then one "code jt jf k" a line (or all comma-separated on one line)
  kC,             // { 0x20, 0, 0, 0x4 }, { .code = 6, .k = 1 }, ... or BPF_STMT / BPF_JUMP
};

// "raw", "raw-be", "asm", "ddd", "c"; the words of --from and --to.
std::string_view form_name(Form form);
std::optional<Form> form_from_name(std::string_view name);

// What a name in a program of form kC is worth, beyond BPF_*: "SECCOMP_RET_ALLOW", "__NR_read",
// "offsetof(struct seccomp_data,args[1])" (no other blanks); nothing if it is not known.
using CNames = std::function<std::optional<std::uint32_t>(std::string_view)>;

// Which form `bytes` is in: text never contains a NUL byte and raw programs always do; the high
// byte of every code is 0, which tells the byte order. Detection never fails; reading with the form
// it names reports what is wrong.
Form detect_form(std::string_view bytes);

// Reads a program of form `form` (detected when absent). `name` is the file's name for messages.
// Errors: kParse with file:line:column or file and byte offset, also for names in place of numbers
// (`#$fd`). No limit on length but the input's size.
Result<Program> read_program(std::string_view bytes, const std::string& name,
                             std::optional<Form> form = std::nullopt, const CNames& names = {});

// The same with names, which only text of form kAsm can have.
Result<SymbolicProgram> read_symbolic(std::string_view bytes, const std::string& name,
                                      std::optional<Form> form = std::nullopt,
                                      const CNames& names = {});

// kParse: `use` needs a value.
Error lacks_value(const SymbolUse& use, std::string_view hint = "");

// Writes `program` in `form`. `comments`, if given, holds one comment per instruction (may be
// empty) and is used by kAsm and kC. Text forms end with a newline.
std::string write_program(ProgramView program, Form form,
                          std::span<const std::string> comments = {});

// Writes a program with names, in form kAsm. Precondition: each name stands for an immediate, and
// its instruction leaves no unused field other than 0.
std::string write_symbolic(const SymbolicProgram& program,
                           std::span<const std::string> comments = {});

// One instruction as bpf_asm writes it, with absolute targets: "jeq #0x27, L5, L9".
std::string insn_text(ProgramView program, std::size_t pc);

namespace detail {
Result<SymbolicProgram> read_asm(std::string_view text, const std::string& name);
Result<Program> read_c(std::string_view text, const std::string& name, const CNames& names);
}  // namespace detail

}  // namespace secequiv
