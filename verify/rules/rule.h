// Owns rewrites of classic BPF, or of conditions, that are claimed to be right for all values of
// their symbols: the .rule format, the parts of a rewrite, and what it does for given values. It
// must not prove anything (verify/smt/rules.h) and must not know policies, whose rules are
// different things.
//
//   rule NAME                         ; comments as in assembly; NAME has no blanks
//     source: any text                ; where the rewrite, or the mistake, is from
//     expect: refuted exit            ; for a wrong rewrite, with the kind of counterexample
//     for: n in 1..4, m in 2..3       ; a family: every choice of these is proven
//     where: $m & ($m - 1) == 0       ; more lines are joined by '&&' (expr.h)
//     live: A, M[2]                   ; what is read later, at every exit; or 'none', 'all', 'M'
//     live yes: none                  ; at one exit
//     before:
//       and #$m                       ; bpf_asm with '#$NAME', '#(word)', '[$NAME]', 'M[$NAME]'
//       jeq #0, no, yes               ; labels that are not defined are exits
//     after:
//       jset #$m, yes, no             ; falling off the end is the exit 'next'
//
// `before: CONDITION` (or after) means code that takes the exit 'yes' if the condition holds, and
// otherwise 'no'. By default everything is live for code, and nothing for conditions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "verify/rules/expr.h"

namespace secequiv::rules {

// The way in which a rewrite is wrong.
enum class Deviation : std::uint8_t {
  kNone,
  kIllegal,  // the kernel accepts a program with `before`, but would refuse it with `after`
  kExit,     // another exit, or a return instead of an exit
  kValue,    // another value is returned
  kState,    // a live register or word of M[] has another value
};
std::string_view deviation_name(Deviation deviation);
std::optional<Deviation> deviation_from_name(std::string_view name);

// What is live at an exit: the bits kLiveA, kLiveX, and kLiveM << k for M[k].
using Live = std::uint32_t;
inline constexpr Live kLiveA = 1;
inline constexpr Live kLiveX = 2;
inline constexpr Live kLiveM = 4;
inline constexpr Live kLiveAll = 0x3ffff;
// Returns the name of the lowest bit: "A", "X", "M[3]".
std::string live_name(Live live);

// A piece of code. One RET for each exit follows it, so that it is a program.
struct Fragment {
  Program program;
  std::size_t size = 0;                       // number of instructions without the RETs
  std::vector<std::optional<Expr>> operands;  // by instruction: the expression in place of k
};
using Side = std::variant<Fragment, Expr>;  // code or a condition

enum class Role : std::uint8_t {
  kPlain,
  kOffset,  // offset of a load: below 64, a multiple of 4
  kIndex,   // index of M[]: below 16
};

struct Symbol {
  std::string name;
  int width = kWord;  // kWord or kTruth
  Role role = Role::kPlain;
};

struct Rewrite {
  struct Range {
    std::string index;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  std::string name;
  std::string where_found;  // "file:line"
  std::string source;
  Deviation expected = Deviation::kNone;
  std::vector<Range> family;
  std::vector<Expr> conditions;  // `where`
  std::vector<std::string> exits;
  std::vector<Live> live;  // by exit
  Side before;
  Side after;
  std::string text;  // the whole block
};

// Reads all rules of a file. Errors: kParse with file:line. A file without rules, and two rules of
// the same name, are errors.
Result<std::vector<Rewrite>> parse_rules(std::string_view text, const std::string& name);

// One member of a family, with its indices expanded. Without a family, it is the rewrite itself.
struct Instance {
  const Rewrite* rule = nullptr;
  Indices indices;
  Expr condition;  // all of `where`
  Side before;
  Side after;
  std::vector<Symbol> symbols;
};
// Returns every member, smallest first. Errors: kParse, for example for more than 1000 members.
Result<std::vector<Instance>> instances(const Rewrite& rule);

// Values of all symbols, of the input, and of the registers and M[] at the entry.
struct Assignment {
  std::vector<std::uint32_t> symbols;  // in the order of Instance::symbols
  Machine<Concrete> entry{};
  SeccompData input{};
};

// How one side ends.
struct Ending {
  std::optional<std::size_t> exit;  // index of the exit; std::nullopt: it returns `value`
  std::uint32_t value = 0;
  Machine<Concrete> state{};  // registers and M[] at the exit
};

// Runs `size` instructions, which one RET for each exit follows, from this entry.
Ending end_of_code(const Program& code, std::size_t size, const Assignment& assignment);

// Values that meet the condition and for which the kernel accepts `before`, and what both sides do.
struct Counterexample {
  Assignment assignment;
  Deviation kind = Deviation::kNone;
  Ending before;
  Ending after;         // unless kIllegal
  Live differs = 0;     // kState: everything live that differs
  std::string refusal;  // kIllegal: the kernel's reason
};

// Runs both sides. Returns std::nullopt if both do the same, if the condition is false, or if the
// kernel would refuse `before`.
std::optional<Counterexample> replay(const Instance& instance, const Assignment& assignment);

// Returns the value of an expression for an assignment.
std::uint64_t value_of(const Expr& expr, const Instance& instance, const Assignment& assignment);

// Returns whether the expression uses only symbols: no registers, no M[], no input.
bool of_symbols(const Expr& expr);

// Returns the code of a side with values in place of symbols.
Program instantiate(const Fragment& fragment, const Instance& instance,
                    const Assignment& assignment);

// Returns why the kernel would refuse code followed by its exits, assuming that all of M[] was
// written before.
std::optional<Refusal> refusal_of(const Program& code);

// Returns the condition under which the kernel accepts a fragment's operands, for example that
// divisors are not 0.
Expr legality(const Fragment& fragment);

// Returns the positions of symbols that index M[] on either side.
std::vector<std::size_t> index_symbols(const Instance& instance);

// Returns the values of these symbols for which the kernel accepts `before` but refuses `after`,
// because `after` may read words of M[] before they are written.
std::vector<std::vector<std::uint32_t>> memory_refusals(const Instance& instance);

}  // namespace secequiv::rules
