#include "fuzz/hunt/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "harness/bpf/flow.h"

namespace secequiv::hunt {
namespace {

// Names values in the order of their appearance. Zero keeps its name, because optimizers treat it
// specially.
class Names {
 public:
  explicit Names(char prefix) : prefix_(prefix) {}

  std::string operator()(std::uint32_t value, bool zero_is_special = true) {
    if (value == 0 && zero_is_special) return "0";
    auto at = std::ranges::find(seen_, value);
    if (at == seen_.end()) at = seen_.insert(seen_.end(), value);
    return fmt::format("{}{}", prefix_, at - seen_.begin());
  }

 private:
  char prefix_;
  std::vector<std::uint32_t> seen_;
};

}  // namespace

std::string shape_of(ProgramView program) {
  Names constants('k');
  Names returns('r');
  Names words('w');
  Names scratch('m');
  std::string out;
  for (const Insn& in : program) {
    if (!out.empty()) out += "; ";
    const InsnInfo* info = insn_info(in.code);
    if (info == nullptr) {
      out += "unknown";
      continue;
    }
    out += info->mnemonic;
    switch (info->operand) {
      case Operand::Imm:
        out += ' ';
        out += in.code == kRetK ? returns(in.k, false) : constants(in.k);
        break;
      case Operand::CondImm:
        out += fmt::format(" {} +{} +{}", constants(in.k), in.jt, in.jf);
        break;
      case Operand::CondReg:
        out += fmt::format(" x +{} +{}", in.jt, in.jf);
        break;
      case Operand::Abs:
        out += ' ';
        out += words(in.k, false);
        break;
      case Operand::Mem:
        out += ' ';
        out += scratch(in.k, false);
        break;
      case Operand::Target:
        out += fmt::format(" +{}", in.k);
        break;
      case Operand::Len:
        out += " len";
        break;
      case Operand::Reg:
        out += " x";
        break;
      case Operand::Acc:
        out += " a";
        break;
      default:
        break;
    }
  }
  return out;
}

std::string signature_of(std::string_view detail, std::string_view cause) {
  constexpr std::size_t kMost = 160;
  std::string out;
  bool in_number = false;
  for (const char c : cause.empty() ? detail : cause) {
    // Hexadecimal letters count as digits only within a number, so that words keep their letters.
    const bool digit =
        std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (in_number && (std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == 'x'));
    if (!digit) {
      out += c == '\n' ? ' ' : c;
    } else if (!in_number) {
      out += '#';
    }
    in_number = digit;
    if (out.size() == kMost) break;
  }
  return out;
}

std::string manner_of(FindingKind kind, std::string_view detail, std::string_view cause,
                      std::optional<RefusalRule> rule) {
  if (kind == FindingKind::kCrashed) return signature_of(detail, cause);
  return rule ? std::string(rule_name(*rule)) : "";
}

std::string manner_with_pass(const Finding& finding) {
  return finding.pass + '\n' + manner_of(finding.kind, finding.detail, finding.cause, finding.rule);
}

bool same_manner(const Problem& problem, const Finding& finding) {
  return problem.kind == finding.kind &&
         manner_of(problem.kind, problem.detail, problem.cause, problem.rule) ==
             manner_of(finding.kind, finding.detail, finding.cause, finding.rule);
}

bool has_foreign_value(ProgramView program, const std::optional<Witness>& witness,
                       Sameness sameness) {
  if (!witness) return false;
  const Marks reached = reachable(program);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    const bool returns = in.code == kRetK && same_decision(in.k, witness->after, sameness);
    const bool ends = in.code == kDivX && same_decision(0, witness->after, sameness);  // X = 0
    if (reached[pc] != 0 && (in.code == kRetA || returns || ends)) return false;
  }
  return true;
}

bool groups_by_shape(const Finding& finding) {
  if (!finding.repeated) return false;
  switch (finding.kind) {
    case FindingKind::kDifferent:
    case FindingKind::kRejected:
    case FindingKind::kCacheLoss:
      return true;
    // A crash without a message is identified by its program.
    case FindingKind::kCrashed:
      return finding.cause.empty();
    default:
      return false;
  }
}

std::string group_of(const Finding& finding) {
  std::string kind(finding_name(finding.kind));
  if (groups_by_shape(finding))
    return kind + (finding.pass.empty() ? "" : " in " + finding.pass) + ": " +
           shape_of(finding.subject.before);
  switch (finding.kind) {
    case FindingKind::kCrashed:
    case FindingKind::kGarbage:
    case FindingKind::kRefused:
      return kind + ": " + signature_of(finding.detail, finding.cause);
    case FindingKind::kSlow:
      return kind + ": " + finding.subject.name;
    // The other kinds describe the target as a whole, so one finding of each kind is enough.
    default:
      return kind;
  }
}

}  // namespace secequiv::hunt
