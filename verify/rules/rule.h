// Rewrites of classic BPF, or of conditions, that are claimed to be right for all values of their
// symbols. Owns the .rule format, the parts of a rewrite, and what it does for given values. It
// must not prove anything (verify/smt/rules.h) nor know policies, whose rules are something else.
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
// `before: CONDITION` (or after) stands for code that goes to the exit 'yes' where the condition
// holds and to 'no' elsewhere. By default everything is live; with a condition, nothing.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/check.h"
#include "harness/bpf/interpreter.h"
#include "verify/rules/expr.h"

namespace secequiv::rules {

// How a rewrite is wrong.
enum class Deviation : std::uint8_t {
  kNone,
  kIllegal,  // the kernel accepts a program with `before`, but would refuse it with `after`
  kExit,     // another exit, or a return in place of an exit
  kValue,    // another value is returned
  kState,    // something that is live has another value
};
std::string_view deviation_name(Deviation deviation);
std::optional<Deviation> deviation_from_name(std::string_view name);

// What is live at an exit: bits kLiveA, kLiveX, and kLiveM << k for M[k].
using Live = std::uint32_t;
inline constexpr Live kLiveA = 1;
inline constexpr Live kLiveX = 2;
inline constexpr Live kLiveM = 4;
inline constexpr Live kLiveAll = 0x3ffff;
// "A", "X", "M[3]" of the lowest bit.
std::string live_name(Live live);

// A piece of code, followed by one RET for each exit, so that it is a program.
struct Fragment {
  Program program;
  std::size_t size = 0;                       // of the piece itself
  std::vector<std::optional<Expr>> operands;  // per instruction: the expression in place of k
};
using Side = std::variant<Fragment, Expr>;  // code or a condition

enum class Role : std::uint8_t {
  kPlain,
  kOffset,  // of a load: below 64, a multiple of 4
  kIndex,   // of M[]: below 16
};

struct Symbol {
  std::string name;
  int width = kWord;  // or kTruth
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
  std::vector<Live> live;  // per exit
  Side before;
  Side after;
  std::string text;  // the whole block
};

// Reads all rules of a file. Errors: kParse with file:line; also for no rule at all and for a name
// given twice.
Result<std::vector<Rewrite>> parse_rules(std::string_view text, const std::string& name);

// One member of a family, with its indices expanded; without a family, the rewrite itself.
struct Instance {
  const Rewrite* rule = nullptr;
  Indices indices;
  Expr condition;  // all of `where`
  Side before;
  Side after;
  std::vector<Symbol> symbols;
};
// Every member, smallest first. Errors: kParse; more than 1000 members.
Result<std::vector<Instance>> instances(const Rewrite& rule);

// Values of all symbols, of the registers and M[] at the entry, and of the input.
struct Assignment {
  std::vector<std::uint32_t> symbols;  // in the order of Instance::symbols
  Machine<Concrete> entry{};
  SeccompData input{};
};

// How a side ends.
struct Ending {
  std::optional<std::size_t> exit;  // index of the exit; nothing: it returns `value`
  std::uint32_t value = 0;
  Machine<Concrete> state{};  // at the exit
};

// Values that meet the condition, for which the kernel accepts `before`; and what both sides do.
struct Counterexample {
  Assignment assignment;
  Deviation kind = Deviation::kNone;
  Ending before;
  Ending after;         // unless kIllegal
  Live differs = 0;     // kState: everything live that has another value
  std::string refusal;  // kIllegal: why
};

// Runs both sides. Nothing if both do the same, or if the assignment does not count (the condition
// is false or the kernel would refuse `before`).
std::optional<Counterexample> replay(const Instance& instance, const Assignment& assignment);

// The value of an expression for an assignment.
std::uint64_t value_of(const Expr& expr, const Instance& instance, const Assignment& assignment);

// Whether the expression uses symbols only, not registers, M[] or the input.
bool of_symbols(const Expr& expr);

// The code of a side with the values of symbols in place.
Program instantiate(const Fragment& fragment, const Instance& instance,
                    const Assignment& assignment);

// Why the kernel would refuse code that is followed by its exits, if all of M[] was written before.
std::optional<Refusal> refusal_of(const Program& code);

// The condition under which the kernel accepts a fragment's operands: divisors are not 0, and so
// on.
Expr legality(const Fragment& fragment);

// Symbols that are indices of M[] on either side.
std::vector<std::size_t> index_symbols(const Instance& instance);

// The values of these symbols for which the kernel accepts `before` but refuses `after`, because
// words of M[] may be read before they are written.
std::vector<std::vector<std::uint32_t>> memory_refusals(const Instance& instance);

}  // namespace secequiv::rules
