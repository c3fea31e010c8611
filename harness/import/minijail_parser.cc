#include "harness/import/minijail_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/import/included_file.h"
#include "harness/import/rule_list.h"
#include "harness/seccomp/action.h"

namespace secequiv::minijail {
namespace {

constexpr std::size_t kMaxIncludes = 100;  // for one policy, with all its files
constexpr std::size_t kMaxDepth = 10;      // the compiler's limit; minijail0 allows 2
constexpr std::size_t kMaxParentheses = 64;
constexpr std::size_t kMaxTests = 1u << 18;  // a test counts once for each call of its line

struct NamedAction {
  std::string_view name;
  std::uint32_t action;
};
constexpr NamedAction kMinijailActions[] = {
    {"allow", SECCOMP_RET_ALLOW},
    {"kill", SECCOMP_RET_KILL_THREAD},
    {"kill-thread", SECCOMP_RET_KILL_THREAD},
    {"kill-process", SECCOMP_RET_KILL_PROCESS},
    {"trap", SECCOMP_RET_TRAP},
    {"trace", SECCOMP_RET_TRACE},
    {"log", SECCOMP_RET_LOG},
    {"user-notify", SECCOMP_RET_USER_NOTIF},
};

struct NamedArch {
  std::string_view name;
  std::optional<Arch> arch;  // empty if our tables do not have it
};
// minijail's own names, which differ from ours.
constexpr NamedArch kArches[] = {
    {"arm", Arch::kArm},
    {"arm64", Arch::kAarch64},
    {"ia64", {}},
    {"loong64", {}},
    {"mips", {}},
    {"mips64", Arch::kMips64},
    {"mipsel", {}},
    {"mipsel64", {}},
    {"parisc", {}},
    {"ppc", {}},
    {"ppc64", Arch::kPpc64le},  // minijail uses this name for both byte orders
    {"riscv64", Arch::kRiscv64},
    {"s390", {}},
    {"s390x", Arch::kS390x},
    {"sparc", {}},
    {"sparc64", {}},
    {"x86", Arch::kI386},
    {"x86_64", Arch::kX86_64},
};

// Totals over all files of one policy.
struct Spent {
  std::size_t includes = 0;
  std::size_t tests = 0;
};

class Parser {
 public:
  // `folder` is the policy's folder. Included files must lie below it.
  Parser(const ImportOptions& options, File& out, Spent& spent, std::string folder)
      : options_(options),
        out_(out),
        spent_(spent),
        folder_(std::move(folder)),
        arch_(options.oci.arch) {}

  Status file(std::string_view text, const std::string& name, std::size_t depth) {
    name_ = name;
    depth_ = depth;
    in_ = TokenReader(name, "@", "-@");
    for (std::size_t number = 1; !text.empty(); ++number) {
      std::string_view line = take_part(text);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (const std::size_t comment = line.find('#');
          comment != std::string_view::npos && line.ends_with('\\'))
        return error_at({name_, number, comment + 1},
                        "expected a comment that does not end in '\\', because minijail0 and "
                        "minijail's compiler read it differently");
      RETURN_IF_ERROR(in_.add(line, number));
      if (line.ends_with('\\')) continue;
      RETURN_IF_ERROR(statement());
    }
    return statement();
  }

 private:
  void needs_compiler(std::string what) {
    if (out_.compiler_only) return;
    out_.compiler_only = in_.here();
    out_.compiler_only_what = std::move(what);
  }

  Status statement() {
    if (in_.empty()) return Ok{};
    Status status = any_statement();
    if (status && !in_.done()) status = in_.wrong("the end of the line");
    in_.clear();
    return status;
  }

  Status any_statement() {
    if (in_.is("@include")) return include();
    if (in_.take("@frequency")) {
      if (!in_.is(Token::Kind::kPath)) return in_.wrong("a path");
      out_.notes.push_back(fmt::format("skipped @frequency {} at {}:{}, which affects only speed",
                                       in_.peek().text, name_, in_.peek().line));
      in_.take();
      return Ok{};
    }
    if (in_.is("@default")) {
      needs_compiler("@default");
      out_.default_place = in_.here();
      in_.take();
      const auto given = named_action();
      if (!given || *given == SECCOMP_RET_ALLOW || *given == SECCOMP_RET_LOG ||
          *given == SECCOMP_RET_TRACE)
        return in_.wrong("kill, kill-thread, kill-process, trap or user-notify");
      in_.take();
      out_.default_action = given;
      return Ok{};
    }
    if (in_.is("@denylist"))
      return error_at(in_.here(),
                      "expected a list of allowed calls; lists of denied calls (minijail0 "
                      "--seccomp-bpf-denylist) are not supported");
    return calls();
  }

  Status include() {
    const Place place = in_.here();
    if (depth_ > 0) needs_compiler("@include in an included file");
    in_.take();
    if (!in_.is(Token::Kind::kPath)) return in_.wrong("a path that starts with ./");
    const std::string path = in_.peek().text;
    if (!path.starts_with("./") || !stays_below(path))
      return in_.wrong("a path that starts with ./ and stays below the policy's folder");
    in_.take();
    out_.includes = true;
    if (!options_.read_file)
      return error_at(
          place, "expected a policy in a file, because @include paths are relative to its folder");
    if (depth_ + 1 >= kMaxDepth)
      return error_at(place, fmt::format("includes are nested deeper than {} files", kMaxDepth));
    if (++spent_.includes > kMaxIncludes)
      return error_at(place, fmt::format("the policy includes more than {} files", kMaxIncludes));
    const std::string file = included_file(name_, path);
    if (const std::string why = why_not_included(file, folder_); !why.empty())
      return error_at(place, fmt::format("cannot include {}: {}", file, why));
    const auto text = options_.read_file(file);
    if (!text)
      return error_at(place, fmt::format("cannot include {}: {}", file, text.error().detail));
    return Parser(options_, out_, spent_, folder_).file(without_bom(*text), file, depth_ + 1);
  }

  Status calls() {
    Statement out;
    out.place = in_.here();
    if (in_.is("{")) {
      needs_compiler("several system calls in braces");
      in_.take();
      do {
        RETURN_IF_ERROR(call(out));
      } while (in_.take(","));
      if (!in_.take("}")) return in_.wrong("',' or '}'");
    } else if (auto s = call(out); !s) {
      return s;
    }
    if (!in_.take(":")) return in_.wrong("':'");
    RETURN_IF_ERROR(filters(out));
    if (!out.calls.empty()) out_.statements.push_back(std::move(out));
    return Ok{};
  }

  // Reads a name, with or without [arch=...] after it.
  Status call(Statement& out) {
    if (!in_.is(Token::Kind::kWord)) return in_.wrong("a system call");
    const std::size_t at = in_.position();
    const Token name_token = in_.take();
    if (in_.is("[")) {
      needs_compiler("[arch=...]");
      ASSIGN_OR_RETURN(auto meant, metadata());
      if (!meant) return Ok{};
    }
    const std::string& name = name_token.text;
    const auto nr = syscall_nr(arch_, name);
    if (nr) {
      out.calls.emplace_back(name, *nr);
      return Ok{};
    }
    in_.back_to(at);
    if (name.find('@') != std::string::npos)
      return error_at(
          in_.here(),
          fmt::format(
              "expected a system call, found the group '{}', which only minijail's build defines",
              name));
    return error_at(in_.here(),
                    fmt::format("unknown system call '{}' on {}{}", name, arch_info(arch_).name,
                                did_you_mean(similar_syscalls(arch_, name))));
  }

  // Reads the metadata in brackets. Returns whether it selects our architecture.
  Result<bool> metadata() {
    bool meant = true;
    std::vector<std::string> keys;
    in_.take();
    do {
      if (!in_.is(Token::Kind::kWord)) return in_.wrong("a key");
      const std::string key = in_.peek().text;
      if (std::ranges::find(keys, key) != keys.end())
        return in_.wrong("a key that is given only once");
      if (key != "arch") return in_.wrong("'arch'");
      keys.push_back(key);
      in_.take();
      if (!in_.take("=")) return in_.wrong("'='");
      meant = false;
      do {
        if (!in_.is(Token::Kind::kWord)) return in_.wrong("an architecture");
        const auto named = std::ranges::find(kArches, in_.peek().text, &NamedArch::name);
        if (named == std::end(kArches))
          return in_.wrong("an architecture as minijail names it (x86, x86_64, arm, arm64, ...)");
        meant = meant || named->arch == arch_;
        in_.take();
      } while (in_.take(","));
    } while (in_.take(";"));
    if (!in_.take("]")) return in_.wrong("',' or ']'");
    return meant;
  }

  Status filters(Statement& out) {
    if (!in_.is("{")) return filter(out);
    needs_compiler("filters in braces");
    in_.take();
    do {
      RETURN_IF_ERROR(filter(out));
    } while (in_.take(","));
    return in_.take("}") ? Status(Ok{}) : Status(in_.wrong("',' or '}'"));
  }

  Status filter(Statement& out) {
    Filter one;
    if (in_.done()) return in_.wrong("an action or an expression");
    one.place = in_.here();
    if (is_argument()) {
      ASSIGN_OR_RETURN(auto expression, disjunction(out.calls.size()));
      one.expression = std::move(expression);
      if (!in_.is(";")) {
        out.filters.push_back(std::move(one));
        return Ok{};
      }
      in_.take();
    }
    if (!in_.is("return") && !in_.is("1") && !in_.is("allow")) needs_compiler("this action");
    if (one.expression && !in_.is("return")) needs_compiler("an action after an expression");
    ASSIGN_OR_RETURN(auto given, action());
    one.action = given;
    out.filters.push_back(std::move(one));
    return Ok{};
  }

  [[nodiscard]] std::optional<std::uint32_t> named_action() const {
    const auto known =
        in_.done() ? std::end(kMinijailActions)
                   : std::ranges::find(kMinijailActions, in_.peek().text, &NamedAction::name);
    if (known == std::end(kMinijailActions)) return std::nullopt;
    return known->action;
  }

  Result<std::uint32_t> action() {
    if (const auto given = named_action()) {
      in_.take();
      return *given;
    }
    if (in_.is(Token::Kind::kNumber) && parse_unsigned(in_.peek().text) == 1) {
      in_.take();
      return SECCOMP_RET_ALLOW;
    }
    if (!in_.take("return"))
      return in_.wrong(
          "an expression (argN ...), 'return ERRNO' or an action: 1, allow, kill, "
          "kill-process, kill-thread, trap, trace, log, user-notify");
    if (in_.done()) return in_.wrong("an errno");
    const std::size_t at = in_.position();
    ASSIGN_OR_RETURN(auto value, single_constant());
    if (value > SECCOMP_RET_DATA) {
      in_.back_to(at);
      return in_.wrong("an errno from 0 to 65535");
    }
    return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(value);
  }

  [[nodiscard]] bool is_argument() const {
    return in_.is(Token::Kind::kWord) && in_.peek().text.size() > 3 &&
           in_.peek().text.starts_with("arg") &&
           std::isdigit(static_cast<unsigned char>(in_.peek().text[3])) != 0;
  }

  // Reads an expression. `calls` is the number of system calls that it applies to.
  Result<Rule> disjunction(std::size_t calls) {
    std::vector<Rule> clauses;
    do {
      std::vector<Rule> atoms;
      do {
        spent_.tests += std::max<std::size_t>(calls, 1);
        if (spent_.tests > kMaxTests) return in_.wrong(fmt::format("at most {} tests", kMaxTests));
        ASSIGN_OR_RETURN(auto one, atom());
        atoms.push_back(std::move(one));
      } while (in_.take("&&"));
      clauses.push_back(all_of(std::move(atoms)));
    } while (in_.take("||"));
    return any_of(std::move(clauses));
  }

  Result<Rule> atom() {
    if (!is_argument() || in_.peek().text.size() != 4 || in_.peek().text[3] > '5')
      return in_.wrong("an argument, arg0 to arg5");
    const auto field = static_cast<std::size_t>(in_.peek().text[3] - '0');
    in_.take();
    static constexpr std::pair<std::string_view, Matcher::Op> kSigns[] = {
        {"==", Matcher::Op::kEq},
        {"!=", Matcher::Op::kNe},
        {"<", Matcher::Op::kLt},
        {"<=", Matcher::Op::kLe},
        {">", Matcher::Op::kGt},
        {">=", Matcher::Op::kGe},
        {"in", Matcher::Op::kBitsAllowlist},
        {"&", Matcher::Op::kAny}};
    const auto sign = in_.done() ? std::end(kSigns)
                                 : std::ranges::find(kSigns, in_.peek().text,
                                                     [](const auto& each) { return each.first; });
    if (sign == std::end(kSigns)) return in_.wrong("an operator: == != < <= > >= & in");
    in_.take();
    ASSIGN_OR_RETURN(auto constant, value(0));
    Matcher m;
    m.low_half = narrow();
    if (sign->second == Matcher::Op::kAny) return masked_ne(field, constant, 0, m.low_half);
    m.op = sign->second;
    (m.op == Matcher::Op::kBitsAllowlist ? m.mask : m.value) = constant;
    return test_of(field, m);
  }

  [[nodiscard]] bool narrow() const { return arch_info(arch_).bits == 32; }
  [[nodiscard]] std::uint64_t most() const {
    return narrow() ? 0xffffffff : std::numeric_limits<std::uint64_t>::max();
  }

  // Reads constants joined by '|'.
  Result<std::uint64_t> value(std::size_t depth) {
    if (depth > kMaxParentheses)
      return in_.wrong(fmt::format("at most {} parentheses", kMaxParentheses));
    std::uint64_t out = 0;
    do {
      const bool complement = in_.take("~");
      Result<std::uint64_t> one = std::uint64_t{0};
      if (in_.take("(")) {
        one = value(depth + 1);
        if (one && !in_.take(")")) return in_.wrong("')' or '|'");
      } else {
        one = single_constant();
      }
      if (!one) return one;
      out |= complement ? ~*one & most() : *one;
    } while (in_.take("|"));
    return out;
  }

  Result<std::uint64_t> single_constant() {
    if (in_.done()) return in_.wrong("a constant");
    const Token& token = in_.peek();
    if (token.kind == Token::Kind::kWord) {
      const auto named = constant_value(arch_, token.text);
      if (!named) return in_.wrong("a number or the name of a known constant");
      in_.take();
      return *named & most();
    }
    if (token.kind != Token::Kind::kNumber) return in_.wrong("a constant");
    const auto number = number_of(token.text);
    // On 32-bit ABIs negative numbers must fit in 32 bits.
    const bool negative = token.text[0] == '-';
    if (!number || (!negative && *number > most()) ||
        (negative && narrow() && ~*number > 0x7fffffff && *number != 0))
      return in_.wrong(narrow() ? "a number of 32 bits" : "a number of 64 bits");
    in_.take();
    return *number & most();
  }

  // Follows strtol with base 0: 010 is 8.
  static std::optional<std::uint64_t> number_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    if (digits.size() < 2 || digits[0] != '0' || digits[1] == 'x' || digits[1] == 'X')
      return parse_number(text);
    std::uint64_t value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '7' || value > std::numeric_limits<std::uint64_t>::max() >> 3)
        return std::nullopt;
      value = value << 3 | static_cast<std::uint64_t>(c - '0');
    }
    if (!negative) return value;
    if (value > std::uint64_t{1} << 63) return std::nullopt;
    return ~value + 1;
  }

  const ImportOptions& options_;
  File& out_;
  Spent& spent_;
  std::string folder_;
  Arch arch_;
  std::string name_;
  std::size_t depth_ = 0;
  TokenReader in_{"", "", ""};
};

}  // namespace

Result<File> parse(std::string_view text, const std::string& name, const ImportOptions& options) {
  File out;
  Spent spent;
  RETURN_IF_ERROR(Parser(options, out, spent, folder_of(name)).file(text, name, 0));
  return out;
}

}  // namespace secequiv::minijail
