#include "harness/seccomp/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "harness/seccomp/arch.h"
#include "harness/seccomp/vector_text.h"

namespace secequiv {
namespace {

using detail::split;
using detail::split_blanks;
using detail::vector_number;

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

constexpr std::array kRules = {
    RefusalRule::kLength,     RefusalRule::kUnknownCode, RefusalRule::kDivByZero,
    RefusalRule::kShiftRange, RefusalRule::kMemIndex,    RefusalRule::kJumpRange,
    RefusalRule::kAncillary,  RefusalRule::kLastNotRet,  RefusalRule::kMemUnset,
    RefusalRule::kLoadOffset, RefusalRule::kNotSeccomp};

Error malformed(std::string detail) { return make_error(ErrorCode::kParse, "", std::move(detail)); }

Result<std::uint64_t> number(std::string_view text, std::uint64_t max) {
  const auto value = vector_number(text, max);
  if (!value)
    return malformed(fmt::format("expected a number from 0 to {:#x}, found '{}'", max, text));
  return *value;
}

Result<std::uint32_t> number32(std::string_view text) {
  ASSIGN_OR_RETURN(auto value, number(text, kMax32));
  return static_cast<std::uint32_t>(value);
}

Result<SeccompData> words_input(std::string_view text) {
  const auto parts = split(text, ',');
  SeccompData data;
  if (parts.size() != SeccompData::kWords)
    return malformed(fmt::format("words= needs 16 words, found {}", parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ASSIGN_OR_RETURN(auto word, number32(parts[i]));
    data.words[i] = word;
  }
  return data;
}

// The format is little endian for every architecture: the low half of a 64-bit field comes first.
Result<SeccompData> fields_input(std::map<std::string_view, std::string_view>& given) {
  SeccompData data;
  data.set_arch(AUDIT_ARCH_X86_64);
  if (given.contains("nr")) {
    ASSIGN_OR_RETURN(auto nr, number32(given["nr"]));
    data.set_nr(nr);
  }
  if (given.contains("arch")) {
    ASSIGN_OR_RETURN(auto arch, number32(given["arch"]));
    data.set_arch(arch);
  }
  if (given.contains("ip")) {
    ASSIGN_OR_RETURN(auto ip, number(given["ip"], kMax64));
    data.set_field(kIpField, ip, Endian::kLittle);
  }
  if (given.contains("args")) {
    const auto parts = split(given["args"], ',');
    if (parts.size() > kArgCount)
      return malformed(fmt::format("args= takes at most 6 values, found {}", parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ASSIGN_OR_RETURN(auto arg, number(parts[i], kMax64));
      data.set_field(static_cast<int>(i), arg, Endian::kLittle);
    }
  }
  return data;
}

}  // namespace

Result<VectorRun> parse_run(std::string_view value) {
  const std::size_t arrow = value.find("->");
  if (arrow == std::string_view::npos) return malformed("expected '-> VALUE'");
  ASSIGN_OR_RETURN(auto expected, number32(trimmed(value.substr(arrow + 2))));
  std::map<std::string_view, std::string_view> given;
  for (const std::string_view field : split_blanks(value.substr(0, arrow))) {
    const std::size_t equals = field.find('=');
    const std::string_view name = field.substr(0, equals);
    static constexpr std::array<std::string_view, 5> kFields = {"nr", "arch", "ip", "args",
                                                                "words"};
    if (equals == std::string_view::npos || std::ranges::find(kFields, name) == kFields.end())
      return malformed(fmt::format("unknown field '{}'", field));
    if (!given.emplace(name, field.substr(equals + 1)).second)
      return malformed(fmt::format("field '{}' is given twice", name));
  }
  if (given.contains("words") && given.size() != 1)
    return malformed("words= cannot be combined with other fields");
  ASSIGN_OR_RETURN(auto input,
                   given.contains("words") ? words_input(given["words"]) : fields_input(given));
  return VectorRun{0, input, expected};
}

namespace {

Result<std::optional<Refusal>> parse_accept(std::string_view value) {
  const auto words = split_blanks(value);
  if (words.size() == 1 && words[0] == "yes") return std::optional<Refusal>();
  if (words.size() != 4 || words[0] != "no" || words[2] != "at")
    return malformed(fmt::format("expected 'yes' or 'no RULE at PC', found '{}'", value));
  const auto rule = std::ranges::find(kRules, words[1], [](RefusalRule r) { return rule_name(r); });
  if (rule == kRules.end()) return malformed(fmt::format("unknown rule '{}'", words[1]));
  ASSIGN_OR_RETURN(auto pc, number32(words[3]));
  return std::optional(Refusal{*rule, pc});
}

Result<VectorSame> parse_same(std::string_view value) {
  const auto words = split_blanks(value);
  if (words.size() != 4 || (words[0] != "raw" && words[0] != "behaviour") ||
      (words[3] != "yes" && words[3] != "no"))
    return malformed(fmt::format("expected 'raw|behaviour A B yes|no', found '{}'", value));
  ASSIGN_OR_RETURN(auto a, number32(words[1]));
  ASSIGN_OR_RETURN(auto b, number32(words[2]));
  return VectorSame{0, words[0] == "raw" ? Sameness::kRaw : Sameness::kBehaviour, a, b,
                    words[3] == "yes"};
}

class FileReader {
 public:
  FileReader(std::string_view text, const std::string& file)
      : file_(file), lines_(split(text, '\n')) {}

  Result<std::vector<Vector>> read() {
    for (index_ = 0; index_ < lines_.size(); ++index_) {
      const std::size_t line = index_ + 1;
      if (auto s = item(lines_[index_]); !s) {
        Error error = s.error();
        if (error.where.empty()) error.where = fmt::format("{}:{}", file_, line);
        return error;
      }
    }
    RETURN_IF_ERROR(finish());
    if (vectors_.empty())
      return make_error(ErrorCode::kParse, file_ + ":1", "no vector in this file");
    return std::move(vectors_);
  }

 private:
  Status item(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') return Ok{};
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      return malformed(fmt::format("expected 'key: value', found '{}'", line));
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "vector") return begin(value);
    if (vectors_.empty())
      return malformed(fmt::format("expected 'vector:' first, found '{}'", line));
    Vector& vector = vectors_.back();
    if (key == "program") return program(value);
    if (key == "run") {
      ASSIGN_OR_RETURN(auto run, parse_run(value));
      vector.runs.push_back(run);
      vector.runs.back().line = index_ + 1;
      return Ok{};
    }
    if (key == "accept") {
      if (vector.has_accept) return malformed("expected at most one 'accept:' in a vector");
      ASSIGN_OR_RETURN(auto refusal, parse_accept(value));
      vector.has_accept = true;
      vector.refusal = refusal;
      return Ok{};
    }
    if (key == "same") {
      ASSIGN_OR_RETURN(auto same, parse_same(value));
      vector.sames.push_back(same);
      vector.sames.back().line = index_ + 1;
      return Ok{};
    }
    return malformed(fmt::format("unknown key '{}'", key));
  }

  Status begin(std::string_view name) {
    RETURN_IF_ERROR(finish());
    if (name.empty()) return malformed("a vector needs a name");
    if (std::ranges::find(vectors_, name, &Vector::name) != vectors_.end())
      return malformed(fmt::format("vector '{}' is defined twice", name));
    Vector vector;
    vector.file = file_;
    vector.line = index_ + 1;
    vector.name = name;
    vectors_.push_back(std::move(vector));
    return Ok{};
  }

  Status program(std::string_view value) {
    if (!value.empty()) return malformed("expected nothing after 'program:' on its line");
    const std::size_t first = index_ + 1;
    std::size_t end = first;
    while (end < lines_.size() && trimmed(lines_[end]) != "end" &&
           !lines_[end].starts_with("vector:"))
      ++end;
    if (end == lines_.size() || trimmed(lines_[end]) != "end")
      return malformed("'program:' without 'end'");
    ASSIGN_OR_RETURN(
        auto read,
        detail::vector_program(std::span(lines_).subspan(first, end - first), first + 1, file_));
    vectors_.back().programs.push_back(std::move(read));
    index_ = end;
    return Ok{};
  }

  // Checks the rules that concern a vector as a whole.
  Status finish() const {
    if (vectors_.empty()) return Ok{};
    const Vector& v = vectors_.back();
    std::string wrong;
    if (v.runs.empty() && v.sames.empty() && !v.has_accept)
      wrong = "expected at least one of run, accept and same";
    if (v.has_accept && v.programs.size() != 1)
      wrong = fmt::format("accept needs one program, found {}", v.programs.size());
    if (!v.runs.empty() && v.programs.empty()) wrong = "run needs a program";
    if (!v.runs.empty() && v.refusal) wrong = "a refused program cannot be run";
    if (!v.programs.empty() && v.runs.empty() && !v.has_accept) wrong = "nothing uses the program";
    if (wrong.empty()) return Ok{};
    return make_error(ErrorCode::kParse, fmt::format("{}:{}", file_, v.line),
                      fmt::format("vector '{}': {}", v.name, wrong));
  }

  const std::string& file_;
  std::vector<std::string_view> lines_;
  std::size_t index_ = 0;
  std::vector<Vector> vectors_;
};

std::string verdict(const std::optional<Refusal>& refusal) {
  return refusal ? fmt::format("no {} at {}", rule_name(refusal->rule), refusal->pc) : "yes";
}

}  // namespace

Result<std::vector<Vector>> parse_vectors(std::string_view text, const std::string& file) {
  if (const auto at = detail::first_not_utf8(text))
    return make_error(ErrorCode::kParse, file + ":1", fmt::format("not UTF-8 at byte {}", *at));
  return FileReader(text, file).read();
}

std::vector<std::string> check_vector(const Vector& vector) {
  std::vector<std::string> failures;
  const auto expect = [&](std::size_t line, const std::string& expected, const std::string& got) {
    if (expected != got)
      failures.push_back(fmt::format("{}:{}: {}: expected {}, got {}", vector.file, line,
                                     vector.name, expected, got));
  };
  if (vector.has_accept) {
    expect(vector.line, verdict(vector.refusal), verdict(refusal_of(vector.programs[0])));
  } else {
    for (const Program& program : vector.programs)
      expect(vector.line, "yes", verdict(refusal_of(program, LengthRule::kUnlimited)));
  }
  if (failures.empty()) {
    const std::vector<ProgramView> stack(vector.programs.begin(), vector.programs.end());
    for (const VectorRun& r : vector.runs)
      expect(r.line, fmt::format("{:#010x}", r.expected),
             fmt::format("{:#010x}", run_stack(stack, r.input)));
  }
  for (const VectorSame& same : vector.sames)
    expect(same.line, same.expected ? "yes" : "no",
           same_decision(same.a, same.b, same.sameness) ? "yes" : "no");
  return failures;
}

}  // namespace secequiv
