#include "harness/import/import_pfc.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/import/oci_rule.h"
#include "harness/import/rule_list.h"
#include "harness/import/token_reader.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::size_t kMaxDepth = 200;            // levels of nested 'if's
constexpr std::size_t kMaxConditions = 1u << 20;  // for all actions together
constexpr std::uint64_t kLowHalf = 0xffffffff;

struct Line {
  std::size_t indent = 0;
  std::string_view text;     // without comment and surrounding blanks
  TokenReader tokens;        // not empty
  std::string_view comment;  // the last comment line before this line; may be empty
};

// Splits `text` into lines that have tokens. Stops after `most` lines.
Result<std::vector<Line>> lines_of(std::string_view text, const std::string& name,
                                   std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::vector<Line> out;
  std::string_view comment;
  for (std::size_t number = 1; !text.empty() && out.size() < most; ++number) {
    const std::string_view line = take_part(text);
    const std::size_t hash = line.find('#');
    TokenReader tokens(name, "$", ".");
    RETURN_IF_ERROR(tokens.add(line, number));
    if (!tokens.empty()) {
      out.push_back(
          {line.find_first_not_of(' '), trimmed(line.substr(0, hash)), std::move(tokens), comment});
      comment = {};
    } else if (hash != std::string_view::npos) {
      comment = trimmed(line.substr(hash + 1));
    }
  }
  return out;
}

struct Condition {
  enum class Subject : std::uint8_t { kArch, kSyscall, kArg, kLow, kHigh };
  enum class Op : std::uint8_t { kEq, kGt, kGe };
  Subject subject = Subject::kArch;
  std::size_t arg = 0;
  Op op = Op::kEq;
  std::optional<std::uint32_t> mask;
  std::uint32_t value = 0;
  bool negated = false;
};

Result<std::uint32_t> take_number(TokenReader& in) {
  const auto value = in.is(Token::Kind::kNumber) ? parse_number(in.peek().text) : std::nullopt;
  if (!value || (*value > kLowHalf && *value < 0xffffffff80000000))
    return in.wrong("a number of 32 bits");
  in.take();
  return static_cast<std::uint32_t>(*value);
}

// Reads "$arch", "$syscall", "$a0", "$a0.hi32" or "$a0.lo32".
Status subject_of(TokenReader& in, Condition& out) {
  static constexpr std::pair<std::string_view, Condition::Subject> kParts[] = {
      {"", Condition::Subject::kArg},
      {".hi32", Condition::Subject::kHigh},
      {".lo32", Condition::Subject::kLow}};
  const std::string_view name = in.done() ? std::string_view() : in.peek().text;
  if (name == "$arch") {
    out.subject = Condition::Subject::kArch;
  } else if (name == "$syscall") {
    out.subject = Condition::Subject::kSyscall;
  } else {
    const bool argument =
        name.size() > 2 && name.starts_with("$a") && name[2] >= '0' && name[2] <= '5';
    const auto part = argument ? std::ranges::find(kParts, name.substr(3),
                                                   [](const auto& each) { return each.first; })
                               : std::end(kParts);
    if (part == std::end(kParts)) return in.wrong("$arch, $syscall or an argument from $a0 to $a5");
    out.arg = static_cast<std::size_t>(name[2] - '0');
    out.subject = part->second;
  }
  in.take();
  return Ok{};
}

// Reads "if ($a0.lo32 & 0x7 == 4)".
Result<Condition> condition_of(TokenReader in) {
  Condition out;
  if (!in.take("if")) return in.wrong("'if'");
  if (!in.take("(")) return in.wrong("'('");
  RETURN_IF_ERROR(subject_of(in, out));
  const bool argument =
      out.subject != Condition::Subject::kArch && out.subject != Condition::Subject::kSyscall;
  if (argument && in.take("&")) {
    ASSIGN_OR_RETURN(auto mask, take_number(in));
    out.mask = mask;
  }
  if (in.take("==")) {
    out.op = Condition::Op::kEq;
  } else if (out.mask) {
    return in.wrong("'==' after a mask");
  } else if (in.take(">=")) {
    out.op = Condition::Op::kGe;
  } else if (in.take(">")) {
    out.op = Condition::Op::kGt;
  } else {
    return in.wrong("'==', '>=' or '>'");
  }
  ASSIGN_OR_RETURN(auto value, take_number(in));
  out.value = value;
  if (!in.take(")")) return in.wrong("')'");
  if (!in.done()) return in.wrong("the end of the line");
  return out;
}

// Reads "action ERRNO(1);".
Result<std::uint32_t> action_of_line(TokenReader in) {
  if (!in.take("action")) return in.wrong("'action'");
  const std::size_t first = in.position();
  std::string text;
  while (!in.done() && !in.is(";")) text += in.take().text;
  if (!in.take(";")) return in.wrong("';'");
  if (!in.done()) return in.wrong("the end of the line");
  if (text == "NOTIFY") return SECCOMP_RET_USER_NOTIF;
  if (text == "KILL") return SECCOMP_RET_KILL_THREAD;
  const auto action = parse_action(text);
  in.back_to(first);
  if (!action) return in.wrong("an action: ALLOW, ERRNO(1), KILL_PROCESS, ...");
  return *action;
}

// Collects the tests of the halves of one argument. All of them must hold.
class Halves {
 public:
  explicit Halves(std::size_t field) : field_(field) {}

  void add(const Condition& c) {
    const bool high = c.subject == Condition::Subject::kHigh;
    if (c.op == Condition::Op::kEq) return equal(c, high);
    Matcher m;
    // The negation of > is <=, and the negation of >= is <.
    const bool above = c.op == Condition::Op::kGt;
    if (c.negated) {
      m.op = above ? Matcher::Op::kLe : Matcher::Op::kLt;
    } else {
      m.op = above ? Matcher::Op::kGt : Matcher::Op::kGe;
    }
    m.low_half = !high;
    m.value = c.value;
    if (high) m.value = m.value << 32 | (above ? kLowHalf : 0);
    rules_.push_back(test_of(field_, m));
  }

  [[nodiscard]] std::vector<Rule> rules() && {
    if (mask_ != 0) {
      Matcher m;
      m.low_half = mask_ <= kLowHalf;
      m.op = Matcher::Op::kMaskedEq;
      m.mask = mask_;
      m.value = value_;
      if (mask_ == (m.low_half ? kLowHalf : std::numeric_limits<std::uint64_t>::max())) {
        m.op = Matcher::Op::kEq;
        m.mask = 0;
      }
      rules_.insert(rules_.begin(), test_of(field_, m));
    }
    return std::move(rules_);
  }

 private:
  void equal(const Condition& c, bool high) {
    std::uint64_t mask = c.mask.value_or(static_cast<std::uint32_t>(kLowHalf));
    std::uint64_t value = c.value;
    if (high) {
      mask <<= 32;
      value <<= 32;
    }
    if (c.negated) {
      rules_.push_back(masked_ne(field_, mask, value, !high));
    } else if ((mask & mask_) == 0 && (value & ~mask) == 0) {
      mask_ |= mask;
      value_ |= value;
    } else {
      Matcher m;
      m.op = Matcher::Op::kMaskedEq;
      m.mask = mask;
      m.value = value;
      rules_.push_back(test_of(field_, m));
    }
  }

  std::size_t field_;
  std::uint64_t mask_ = 0;
  std::uint64_t value_ = 0;
  std::vector<Rule> rules_;
};

// Returns whether `nr` is libseccomp's pseudo number for a call that the architecture lacks. Such
// numbers appear in the text but in no program.
bool is_pseudo(std::uint32_t nr) { return nr >= 0x80000000 && nr != 0xffffffff; }

class PfcImporter {
 public:
  PfcImporter(std::vector<Line> lines, const std::string& name)
      : lines_(std::move(lines)), name_(name) {}

  Result<Import> import() {
    if (lines_.empty())
      return make_error(ErrorCode::kParse, name_, "expected 'if ($arch == N)', found nothing");
    std::optional<std::uint32_t> bad_arch;
    PositionRef bad_arch_position;
    while (at_ < lines_.size()) {
      if (bad_arch) return wrong("nothing after the last action");
      if (lines_[at_].tokens.is("action")) {
        ASSIGN_OR_RETURN(const auto action, action_of_line(lines_[at_].tokens));
        bad_arch = action;
        bad_arch_position = position("invalid architecture");
        ++at_;
        continue;
      }
      RETURN_IF_ERROR(architecture());
    }
    if (!bad_arch || !default_)
      return error_at(lines_.back().tokens.here(),
                      "expected the action for other architectures, found the end");
    Policy& policy = out_.policy;
    policy.default_action = *default_;
    policy.bad_arch_action = *bad_arch;
    policy.bad_arch_position = std::move(bad_arch_position);
    refuse_x32(policy);
    policy.rule_sets = std::move(rules_).rule_sets();
    return std::move(out_);
  }

 private:
  // Returns the position of the current line.
  [[nodiscard]] PositionRef position(const char* path) const {
    const Place here = lines_[at_].tokens.here();
    return {std::make_shared<const RulePosition>(RulePosition{here.file, here.line, path})};
  }

  [[nodiscard]] Error wrong(std::string_view expected) const {
    const Line& line = lines_[std::min(at_, lines_.size() - 1)];
    return error_at(line.tokens.here(),
                    fmt::format("expected {}, found '{}'", expected, line.text.substr(0, 60)));
  }

  // The comment "filter for arch x32 (3221225534)" distinguishes x32 from x86_64. Without the
  // comment, a second block for the same value is x32.
  [[nodiscard]] std::optional<Arch> arch_of(const Line& line, std::uint32_t audit) const {
    constexpr std::string_view kHead = "filter for arch ";
    std::string_view comment = line.comment;
    if (comment.starts_with(kHead)) {
      comment.remove_prefix(kHead.size());
      if (const auto arch = arch_from_name(comment.substr(0, comment.find(' ')));
          arch && arch_info(*arch).audit == audit)
        return arch;
    }
    const bool again = audit == AUDIT_ARCH_X86_64 && out_.policy.has_arch(Arch::kX86_64);
    return again ? Arch::kX32 : arch_from_data(audit, 0);
  }

  Status architecture() {
    const Line& line = lines_[at_];
    if (!line.tokens.is("if")) return wrong("'if ($arch == N)' or 'action NAME;'");
    ASSIGN_OR_RETURN(const auto condition, condition_of(line.tokens));
    if (condition.subject != Condition::Subject::kArch || condition.op != Condition::Op::kEq)
      return wrong("'if ($arch == N)' or 'action NAME;'");
    const auto arch = arch_of(line, condition.value);
    if (!arch) return wrong("a known architecture");
    if (out_.policy.has_arch(*arch)) return wrong("an architecture that is listed only once");
    out_.policy.arches.push_back(*arch);
    arch_ = *arch;
    ++at_;
    has_default_ = false;
    path_.clear();
    RETURN_IF_ERROR(block(line.indent, 0, std::numeric_limits<std::uint32_t>::max(), std::nullopt));
    if (has_default_) return Ok{};
    return error_at(line.tokens.here(), "expected a default action in this 'if'");
  }

  // Reads all lines that are indented deeper than `indent`. They apply to numbers from `low` to
  // `high`, or only to `nr` if it is given.
  Status block(std::size_t indent, std::uint32_t low, std::uint32_t high,
               std::optional<std::uint32_t> nr) {
    if (++depth_ > kMaxDepth) return wrong(fmt::format("at most {} levels", kMaxDepth));
    while (at_ < lines_.size() && lines_[at_].indent > indent) {
      const Line& line = lines_[at_];
      if (line.tokens.is("action")) {
        ASSIGN_OR_RETURN(const auto action, action_of_line(line.tokens));
        RETURN_IF_ERROR(acts(action, low, high, nr));
        ++at_;
        continue;
      }
      static constexpr std::string_view kWhat =
          "'if ($syscall == N)', 'if ($aN.hi32 == N)' or 'action NAME;'";
      if (!line.tokens.is("if")) return wrong(kWhat);
      ASSIGN_OR_RETURN(const auto condition, condition_of(line.tokens));
      if (condition.subject == Condition::Subject::kArch) return wrong(kWhat);
      const auto found = condition.subject == Condition::Subject::kSyscall
                             ? of_number(condition, line.indent, low, high, nr)
                             : of_argument(condition, line.indent, low, high, nr);
      if (!found) return found;
    }
    --depth_;
    return Ok{};
  }

  // Skips the current line and returns true if it is the 'else' of an 'if' at `indent`.
  bool is_else(std::size_t indent) {
    if (at_ >= lines_.size() || lines_[at_].indent != indent || !lines_[at_].tokens.is("else"))
      return false;
    ++at_;
    return true;
  }

  Status of_number(const Condition& c, std::size_t indent, std::uint32_t low, std::uint32_t high,
                   std::optional<std::uint32_t> nr) {
    constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
    if (nr) return wrong("no test of the system call within another one");
    if (c.op == Condition::Op::kEq) {
      ++at_;
      const bool reached = c.value >= low && c.value <= high;
      // A number outside the range makes the block unreachable, so its content has no effect.
      RETURN_IF_ERROR(reached ? block(indent, low, high, c.value) : block(indent, 1, 0, c.value));
      if (at_ < lines_.size() && lines_[at_].indent == indent && lines_[at_].tokens.is("else"))
        return wrong("no 'else' here");
      return Ok{};
    }
    // From here on, the condition means "at least `bound`".
    const bool none = c.op == Condition::Op::kGt && c.value == kMax;
    const std::uint32_t bound = c.op == Condition::Op::kGt && !none ? c.value + 1 : c.value;
    if (none) return wrong("a number below 2^32-1");
    ++at_;
    RETURN_IF_ERROR(block(indent, std::max(low, bound), high, nr));
    if (!is_else(indent)) return Ok{};
    if (bound == 0) return block(indent, 1, 0, nr);
    return block(indent, low, std::min(high, bound - 1), nr);
  }

  Status of_argument(const Condition& c, std::size_t indent, std::uint32_t low, std::uint32_t high,
                     std::optional<std::uint32_t> nr) {
    const bool halves = arch_info(arch_).bits == 64;
    if (!nr) return wrong("arguments within 'if ($syscall == N)'");
    if (halves == (c.subject == Condition::Subject::kArg))
      return wrong(halves ? "'.hi32' or '.lo32'" : "an argument of 32 bits");
    path_.push_back(c);
    ++at_;
    RETURN_IF_ERROR(block(indent, low, high, nr));
    if (is_else(indent)) {
      path_.back().negated = true;
      RETURN_IF_ERROR(block(indent, low, high, nr));
    }
    path_.pop_back();
    return Ok{};
  }

  Status acts(std::uint32_t action, std::uint32_t low, std::uint32_t high,
              std::optional<std::uint32_t> nr) {
    if (has_default_) return wrong("nothing after the default action");
    if (!nr) {
      if (low != 0 || high != std::numeric_limits<std::uint32_t>::max())
        return wrong("'if ($syscall == N)', because a policy has no actions for ranges of numbers");
      if (default_.value_or(action) != action)
        return wrong("one default action for all architectures");
      if (!default_) out_.policy.default_position = position("default");
      default_ = action;
      has_default_ = true;
      return Ok{};
    }
    if (low > high || is_pseudo(*nr)) return Ok{};
    conditions_ += path_.size() + 1;
    if (conditions_ > kMaxConditions)
      return wrong(fmt::format("at most {} conditions", kMaxConditions));
    std::vector<Rule> all;
    for (std::size_t arg = 0; arg < static_cast<std::size_t>(kArgCount); ++arg) {
      Halves halves(arg);
      for (const Condition& c : path_)
        if (c.arg == arg) halves.add(c);
      for (Rule& rule : std::move(halves).rules()) all.push_back(std::move(rule));
    }
    const Place here = lines_[at_].tokens.here();
    rules_.add(arch_, *nr, positioned(all_of(std::move(all)), {here.file, here.line}), action);
    return Ok{};
  }

  std::vector<Line> lines_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t conditions_ = 0;
  Arch arch_ = Arch::kX86_64;
  std::vector<Condition> path_;
  std::optional<std::uint32_t> default_;
  bool has_default_ = false;
  RuleList rules_;
  Import out_;
};

}  // namespace

bool is_pfc(std::string_view text) {
  auto lines = lines_of(text.substr(0, 4096), {}, 1);
  if (!lines || lines->empty()) return false;
  TokenReader& first = lines->front().tokens;
  return first.take("if") && first.take("(") && first.is("$arch");
}

Result<Import> import_pfc(std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(auto lines, lines_of(text, name));
  return PfcImporter(std::move(lines), name).import();
}

}  // namespace secequiv
