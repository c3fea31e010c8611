// Conditions over struct seccomp_data, as --assume takes them to narrow the inputs a proof is
// about. Owns the language, its syntax tree and what a condition says about one input
// (verify/symbolic/assume.h: about all inputs). It must not know filters or proofs.
//
//   expr  := and ('||' and)*
//   and   := unary ('&&' unary)*
//   unary := '!' unary | '(' expr ')' | 'true' | 'false' | test
//   test  := field ('==' | '!=' | '<' | '<=' | '>' | '>=') value
//          | field '&' value ('==' | '!=') value
//          | field ['not'] 'in' '{' item (',' item)* '}'
//   item  := value | value '..' value                   both ends included
//   field := 'arch' | 'nr' | 'syscall' | wide | wide ('.lo' | '.hi')      syscall is nr
//          | '$' name                                  a symbol of the filters, of 32 bits
//   wide  := 'ip' | 'arg0'..'arg5' | 'args[0]'..'args[5]'
//
// Comparisons are unsigned. '!' applies to the whole test behind it and '&' binds tighter than
// '==', both unlike C. A value is a decimal or 0x number of the field's width, a negative one
// standing for its two's complement; for arch also an architecture's name, for nr also a system
// call: `openat` or `aarch64:openat`. Such a name is only a number; it says nothing about arch.
// Beside `arch == ARCH` (tests joined by '&&', and all within them) a plain name is one of ARCH's
// and 64-bit fields are in its byte order; elsewhere in those of the default architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/symbols.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// The 32-bit fields, numbered on from kIpField.
inline constexpr int kNrField = kIpField + 1;
inline constexpr int kArchField = kNrField + 1;
inline constexpr int kSymbolField = kArchField + 1;  // the first one's

// A condition. The default one is true.
struct Assumption {
  // What a test looks at: a field or half of a 64-bit one.
  struct Field {
    enum class Part : std::uint8_t { kWhole, kLow, kHigh };
    int index =
        kNrField;  // 0..5: args[index], kIpField, kNrField, kArchField, from kSymbolField on
    Part part = Part::kWhole;
    std::optional<Endian> order = {};  // of the architecture that stands beside it
    std::string name = {};             // of a symbol

    [[nodiscard]] bool is_wide() const { return index <= kIpField && part == Part::kWhole; }
    [[nodiscard]] std::uint64_t max() const { return is_wide() ? ~std::uint64_t{0} : 0xffffffff; }

    // The word of seccomp_data that holds it (that of Symbols), of a wide one the high half if
    // `high`, which is false for all others.
    [[nodiscard]] std::uint32_t word(bool high, Endian endian) const {
      if (index == kNrField) return kNrWord;
      if (index == kArchField) return kArchWord;
      if (index >= kSymbolField)
        return Symbols::kFirstWord + static_cast<std::uint32_t>(index - kSymbolField);
      return half_word(index, part == Part::kHigh || high, order.value_or(endian));
    }

    friend bool operator==(const Field&, const Field&) = default;
  };

  // Both ends included, first <= last.
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    friend bool operator==(const Range&, const Range&) = default;
  };

  struct Node {
    enum class Kind : std::uint8_t {
      kAll,  // every child; without children true
      kAny,  // at least one child
      kEq,   // (field & mask) == value
      kGt,   // field > value
      kGe,   // field >= value
      kIn,   // field lies in one of `ranges`
    };
    Kind kind = Kind::kAll;
    bool negated = false;                 // the opposite of what `kind` says
    std::vector<std::uint32_t> children;  // of kAll and kAny: indices of nodes before this one
    Field field;
    std::uint64_t mask = 0;  // mask, value and ranges are at most field.max()
    std::uint64_t value = 0;
    std::vector<Range> ranges;

    friend bool operator==(const Node&, const Node&) = default;
  };

  std::vector<Node> nodes;  // the last is the root; each other one is the child of exactly one

  friend bool operator==(const Assumption&, const Assumption&) = default;
};

// Reads the language above; `default_arch` is where system calls' names are looked up. Errors:
// kUsage, with the 1-based column, what was expected there and what was found; also for more than
// 200 '(' and '!' within each other, and for a name that is none of `symbols`.
Result<Assumption> parse_assumption(std::string_view text, Arch default_arch,
                                    std::span<const Symbol> symbols = {});

// What is left to ask of the input when the symbols have these values, one for each.
Assumption with_values(const Assumption& assumption, std::span<const std::uint32_t> values);

// Is the condition true of `data`, whose 64-bit fields are in byte order `endian` where no
// architecture stands beside them? Precondition: it is about no symbols.
bool holds(const Assumption& assumption, const SeccompData& data, Endian endian);

// Canonical text with the same meaning, which parse_assumption accepts whatever the default
// architecture: "nr == 257 && arg0 not in {0x1..0x3}".
std::string describe(const Assumption& assumption);

}  // namespace secequiv
