// The conditions over struct seccomp_data that --assume accepts, to restrict a proof to some
// inputs. Owns the language, its syntax tree and the value of a condition for one input
// (verify/symbolic/assume.h handles all inputs). It must not know filters or proofs.
//
//   expr  := and ('||' and)*
//   and   := unary ('&&' unary)*
//   unary := '!' unary | '(' expr ')' | 'true' | 'false' | test
//   test  := field ('==' | '!=' | '<' | '<=' | '>' | '>=') value
//          | field '&' value ('==' | '!=') value
//          | field ['not'] 'in' '{' item (',' item)* '}'
//   item  := value | value '..' value                   both ends included
//   field := 'arch' | 'nr' | 'syscall' | wide | wide ('.lo' | '.hi')      syscall is nr
//          | '$' name                                  a 32-bit symbol of the filters
//   wide  := 'ip' | 'arg0'..'arg5' | 'args[0]'..'args[5]'
//
// Comparisons are unsigned. Unlike in C, '!' applies to the whole test after it, and '&' binds
// tighter than '=='. A value is a decimal or 0x number of the field's width; a negative number is
// its two's complement. A value may also be a name:
//   - for arch, an architecture: `x86_64`, or `host` for the default one;
//   - for nr, a system call: `openat` or `aarch64:openat`. It only gives the number and does not
//     restrict arch;
//   - for an argument, a constant, or several joined by '|': `AF_ALG`, `(CLONE_NEWNS|0x100)`.
// In a conjunction with `arch == ARCH`, names without an architecture are those of ARCH, and 64-bit
// fields have its byte order. Elsewhere both follow the default architecture.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// The 32-bit fields have the numbers after kIpField.
inline constexpr int kNrField = kIpField + 1;
inline constexpr int kArchField = kNrField + 1;
inline constexpr int kSymbolField = kArchField + 1;  // index of the first symbol

// A condition. The default condition is true.
struct Assumption {
  // The field that a test reads, or the half of a 64-bit field.
  struct Field {
    enum class Part : std::uint8_t { kWhole, kLow, kHigh };
    // 0..5: args[index]; or kIpField, kNrField, kArchField; from kSymbolField on: a symbol
    int index = kNrField;
    Part part = Part::kWhole;
    // Byte order of the architecture in the same conjunction, if any.
    std::optional<Endian> order = {};
    std::string name = {};  // a symbol's name

    [[nodiscard]] bool is_wide() const { return index <= kIpField && part == Part::kWhole; }
    [[nodiscard]] std::uint64_t max() const { return is_wide() ? ~std::uint64_t{0} : 0xffffffff; }

    // Returns the index of the word that holds this field; for a symbol, its word in Symbols. For a
    // wide field this is the high half if `high` is set, else the low half. `high` must be false
    // for other fields.
    [[nodiscard]] std::uint32_t word(bool high, Endian endian) const {
      if (index == kNrField) return kNrWord;
      if (index == kArchField) return kArchWord;
      if (index >= kSymbolField)
        return Symbols::kFirstWord + static_cast<std::uint32_t>(index - kSymbolField);
      return half_word(index, part == Part::kHigh || high, order.value_or(endian));
    }

    friend bool operator==(const Field&, const Field&) = default;
  };

  // An interval that includes both ends; first <= last.
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    friend bool operator==(const Range&, const Range&) = default;
  };

  struct Node {
    enum class Kind : std::uint8_t {
      kAll,  // every child; true without children
      kAny,  // at least one child
      kEq,   // (field & mask) == value
      kGt,   // field > value
      kGe,   // field >= value
      kIn,   // field lies in one of `ranges`
    };
    Kind kind = Kind::kAll;
    bool negated = false;                 // inverts the result of `kind`
    std::vector<std::uint32_t> children;  // for kAll and kAny: indices of earlier nodes
    Field field;
    std::uint64_t mask = 0;  // mask, value and ranges are at most field.max()
    std::uint64_t value = 0;
    std::vector<Range> ranges;

    friend bool operator==(const Node&, const Node&) = default;
  };

  std::vector<Node> nodes;  // the last is the root; every other node has exactly one parent

  friend bool operator==(const Assumption&, const Assumption&) = default;
};

// Reads the language above and looks up names of system calls on `default_arch`. Errors: kUsage
// with the 1-based column, what was expected and what was found. More than 200 nested '(' and '!',
// and symbols that are not in `symbols`, are errors.
Result<Assumption> parse_assumption(std::string_view text, Arch default_arch,
                                    std::span<const Symbol> symbols = {});

// How a condition is read as a part of a larger text.
struct ConditionReading {
  Arch default_arch = Arch::kX86_64;
  std::optional<Arch> host = {};  // what the name `host` means, if not the default architecture
  // The names of calls and constants that have a value. A test of any other name is false, except
  // with '!=' and 'not in'. A name that no architecture has is always an error.
  enum class Names : std::uint8_t {
    kRequired,  // those of the architecture; any other name is an error
    kKnown,     // those of the architecture
    kNone,      // no call has a number: the architecture is unknown
  };
  Names names = Names::kRequired;
  std::span<const Symbol> symbols = {};
  // Maps an offset in the condition to the `where` of an error.
  std::function<std::string(std::size_t offset)> place = {};
};
Result<Assumption> parse_condition(std::string_view text, const ConditionReading& reading);

// Return the conjunction, the disjunction and the negation. The disjunction of nothing is false.
Assumption all_of(std::vector<Assumption> conditions);
Assumption any_of(std::vector<Assumption> conditions);
Assumption not_of(Assumption condition);

// Replaces each symbol by its value. The result is a condition on the input alone.
Assumption with_values(const Assumption& assumption, std::span<const std::uint32_t> values);

// Returns whether the condition is true for `data`. 64-bit fields are in byte order `endian`,
// unless their conjunction names an architecture. Precondition: the condition has no symbols.
bool holds(const Assumption& assumption, const SeccompData& data, Endian endian);

// Returns canonical text with the same meaning: "nr == 257 && arg0 not in {0x1..0x3}".
// parse_assumption() accepts it with every default architecture.
std::string describe(const Assumption& assumption);

}  // namespace secequiv
