#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/lint.h"
#include "cli/output.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/compare/hunt_report.h"

namespace secequiv::cli {
namespace {

// Each switch has no default, so a new code without an explanation does not compile. Past the last
// code the functions return nothing, which ends the lists below.

std::string_view about(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "The command line names something that does not exist, or options that exclude each "
             "other. Nothing was read or written. The message names the option and what was "
             "expected; `secequiv COMMAND --help` lists all options.";
    case ErrorCode::kIo:
      return "A file could not be read or written: it does not exist, may not be opened, is not a "
             "regular file, exceeds the size limit, or the disk is full. A failed output leaves "
             "the old file unchanged. Check the path in the message and its permissions.";
    case ErrorCode::kParse:
      return "An input is malformed. The message has the line or the offset, what was expected and "
             "what was found. If the form was detected wrong, name it with --from.";
    case ErrorCode::kPolicy:
      return "A policy can be read but is invalid: it names an unknown system call or variable, "
             "has an empty any_of, or contradicts itself about a call. Guessing its meaning would "
             "be worse than refusing it. The message gives the place as a JSON pointer.";
    case ErrorCode::kRejected:
      return "The kernel would refuse to install this program (EINVAL), so there is nothing to "
             "compare. The message names the rule and the instruction; `secequiv --explain RULE` "
             "explains the rule. Any other answer would be about a filter that never runs.";
    case ErrorCode::kBudget:
      return "Time, diagram nodes or memory ran out before there was an answer. This is neither a "
             "pass nor a failure. Raise --timeout and --max-memory, or narrow the inputs with "
             "--assume.";
    case ErrorCode::kUnavailable:
      return "This machine, or the rights of this process, do not permit the request: seccomp, "
             "ptrace, BPF or a program that is not installed. The answer is unknown. Run the "
             "command where it is permitted, or leave out the option that needs it.";
    case ErrorCode::kAdapter:
      return "A command, served command or plugin under test crashed, hung, used up its memory or "
             "printed something that is not a program. The finding is about that code, not about a "
             "filter. The message quotes its last output; --request-timeout and --request-memory "
             "set its limits, and --no-sandbox leaves it the network and its privileges.";
    case ErrorCode::kInternal:
      return "Two parts of this tool contradict each other, for example a proof and an input that "
             "refutes it. Then no answer about the filters can be trusted. Please report it with "
             "the inputs: it is always a bug in this tool.";
  }
  return {};
}

std::string_view about(RefusalRule rule) {
  switch (rule) {
    case RefusalRule::kLength:
      return "A filter has 1 to 4096 instructions (BPF_MAXINSNS). A longer unoptimized program is "
             "still analysed, but the optimized one has to fit. Optimize it, or split the policy "
             "into two stacked filters.";
    case RefusalRule::kUnknownCode:
      return "The instruction's code does not exist in classic BPF (chk_code_allowed in "
             "net/core/filter.c). Often the input has another form: big endian, eBPF, or "
             "truncated. Look at it with `secequiv dis`, and try --big-endian or --from.";
    case RefusalRule::kDivByZero:
      return "The program divides by the constant 0. The kernel refuses it at installation, "
             "because it could only end the process. Remove the division; a divisor in X may be 0, "
             "which returns 0 (KILL_THREAD) at run time.";
    case RefusalRule::kShiftRange:
      return "The program shifts by the constant 32 or more. Processors disagree about the result, "
             "so the kernel refuses it. Shift by 0 to 31; a shift by X uses its lowest five bits.";
    case RefusalRule::kMemIndex:
      return "The program loads or stores a scratch word that does not exist: the words are M[0] "
             "to M[15]. Its author ran out of scratch words or computed the index wrong.";
    case RefusalRule::kJumpRange:
      return "A jump leads past the last instruction. Conditional jumps reach 255 instructions "
             "ahead, and the kernel checks both targets, even of a branch that is never taken. "
             "Often a pass removed instructions and did not correct earlier offsets.";
    case RefusalRule::kAncillary:
      return "The program loads from the area of ancillary data (SKF_AD_OFF and above) at an "
             "offset without a meaning. Socket filters have such data, seccomp filters do not. "
             "Load offsets 0 to 60 instead.";
    case RefusalRule::kLastNotRet:
      return "The last instruction is not a RET, so execution could run past the end of the "
             "program. End the program with `ret`, whatever precedes it.";
    case RefusalRule::kMemUnset:
      return "The program may read a scratch word before it is written on some path "
             "(check_load_and_stores). The kernel's analysis is simple: it also counts paths that "
             "no input takes. Store to the word at the start of the program, or on each path that "
             "leads to the load.";
    case RefusalRule::kLoadOffset:
      return "A load does not read one 32-bit word of struct seccomp_data: offsets are multiples "
             "of 4 from 0 to 60. The words of arguments start at 16, those of the instruction "
             "pointer at 8.";
    case RefusalRule::kNotSeccomp:
      return "The instruction is classic BPF for socket filters, but seccomp refuses it "
             "(seccomp_check_filter): MOD, IND and MSH loads, and loads of bytes and half words. "
             "Perhaps a compiler for packet filters made the program. Use loads of words, and AND "
             "instead of MOD by a power of two.";
  }
  return {};
}

std::string_view about(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "Every check passed: no input that was run shows a difference, each required proof "
             "succeeded, and each edge is covered or infeasible. The report states which parts "
             "were proven and which were only tried. Exit status 0.";
    case Verdict::kEquivalent:
      return "Both filters provably return the same for every input, under the assumptions that "
             "the report states. `--certificate` writes a proof that others can check. Exit status "
             "0.";
    case Verdict::kFail:
      return "A check failed, and the report shows how: an input on which the filters differ, an "
             "edge that no input reached, or a call that the kernel no longer answers from its "
             "cache. Exit status 1. Start with the witness, an input that shows the failure.";
    case Verdict::kDifferent:
      return "There is an input on which the filters return different values; it was run through "
             "both. Exit status 1. `secequiv diff` lists all such inputs, and `prove --refines` "
             "decides whether the second filter is only ever stricter.";
    case Verdict::kUnknown:
      return "A limit ran out, something was not permitted, or the run was interrupted before "
             "there was an answer. It never counts as a pass: exit status 3. Raise --timeout and "
             "--max-memory, narrow the inputs with --assume, or try the other --engine.";
    case Verdict::kRejected:
      return "The kernel would refuse to install one of the filters. The report names the filter, "
             "the rule and the instruction; `secequiv --explain RULE` explains the rule. Exit "
             "status 4.";
    case Verdict::kCrashed:
      return "A command under test crashed, hung or answered nonsense. The report quotes its last "
             "output. Exit status 5.";
  }
  return {};
}

std::string_view about(RedundantRule::Kind kind) {
  switch (kind) {
    case RedundantRule::Kind::kUnmatchable:
      return "No input matches the rule, because its conditions contradict each other, for example "
             "an argument that has to be both 1 and 2. It costs instructions and looks like a "
             "protection that does not exist. Check whether any_of was meant instead of all_of, or "
             "whether a mask is wrong.";
    case RedundantRule::Kind::kShadowed:
      return "Earlier rule sets decide everything that the rule matches, so it never decides. If "
             "it is stricter than they are, the policy allows what its author meant to deny. Move "
             "it forward, or remove it.";
    case RedundantRule::Kind::kRedundant:
      return "Without the rule the policy provably decides the same for every input. The rule may "
             "come from an older version, or its conditions may be wrong. Remove it, or find out "
             "what it was meant to add.";
    case RedundantRule::Kind::kDuplicate:
      return "An earlier alternative is the same, so this one decides nothing. Often it was copied "
             "and never changed. Compare the two, then remove one.";
  }
  return {};
}

std::string_view about(DoubtfulRule::Kind kind) {
  switch (kind) {
    case DoubtfulRule::Kind::kInconsistent:
      return "Some alternatives of a rule check an argument and others do not. That is legal, but "
             "an alternative that forgot the check accepts any value. Add the check, or write "
             "{\"ge\": 0} to state that any value is meant. It counts only with --strict.";
    case DoubtfulRule::Kind::kMatchAll:
      return "An alternative of a rule checks nothing, so the rule matches every call and the "
             "other alternatives have no effect. Remove this alternative or the others. It counts "
             "only with --strict.";
  }
  return {};
}

std::string_view about(FindingKind kind) {
  switch (kind) {
    case FindingKind::kDifferent:
      return "The code under test returned a filter that decides differently from its input; the "
             "input that shows it was run through both. Fix this bug first: a denied call may be "
             "allowed. The report names the stored file and the command that replays it.";
    case FindingKind::kRejected:
      return "The kernel accepts the input but would refuse the output. Installing the output "
             "fails, often only for some policies. `secequiv validate` on the stored file names "
             "the rule.";
    case FindingKind::kCrashed:
      return "The code under test ended with a signal, a panic or a status other than 0. The "
             "report quotes its last output. The stored input reproduces the crash.";
    case FindingKind::kHung:
      return "There was no answer within --request-timeout. The code may be slow, or may never "
             "end. The stored input reproduces it.";
    case FindingKind::kExhausted:
      return "The code exceeded its memory (--request-memory) or the size limit of an answer. The "
             "stored input is small, so it should not need that much.";
    case FindingKind::kGarbage:
      return "The code ended normally, but its output is neither a program nor a frame of the "
             "protocol. The message shows where reading stopped. Write messages to standard error.";
    case FindingKind::kRefused:
      return "The code refused a program that the kernel accepts, or a valid policy. If that is "
             "intended, exit status 77 reports `unsupported`, which is only counted.";
    case FindingKind::kSlow:
      return "The time grows far faster than the input: several inputs of a growing family were "
             "timed. A long policy would take minutes or hours.";
    case FindingKind::kCacheLoss:
      return "Linux allows some calls by number alone, from a bitmap, without running the filter. "
             "With the new filter it has to run the filter for a call that it answered from the "
             "bitmap before. Decisions are the same, but each such call is slower. `--allow "
             "cache-loss` only reports it.";
    case FindingKind::kGrew:
      return "The answer has more instructions than the input. That is allowed but worth knowing. "
             "Perhaps the code optimizes for another goal, or not at all.";
    case FindingKind::kNondeterministic:
      return "The same request got two answers. Both may be right, but builds cannot be "
             "reproduced, and findings come and go. Look for hash tables, addresses and threads.";
    case FindingKind::kNotIdempotent:
      return "The same optimizer can optimize its output further. It stops before its fixpoint, or "
             "its passes undo each other.";
  }
  return {};
}

// Every value of an enumeration, from 0 until there is none.
template <class Code, class Name>
void add_all(std::vector<Explanation>& out, std::string_view kind, Name name) {
  for (int i = 0; !about(static_cast<Code>(i)).empty(); ++i)
    out.push_back({kind, name(static_cast<Code>(i)), about(static_cast<Code>(i))});
}

// Words in lines of at most 100 columns, `indent` before each.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > 100) {
      out += fmt::format("{}{}\n", indent, line);
      line.clear();
    }
    line += line.empty() ? std::string(word) : fmt::format(" {}", word);
  }
  return out + fmt::format("{}{}\n", indent, line);
}

}  // namespace

std::vector<Explanation> explanations() {
  std::vector<Explanation> out;
  add_all<ErrorCode>(out, "error", error_name);
  add_all<Verdict>(out, "verdict", verdict_name);
  add_all<RefusalRule>(out, "rule", rule_name);
  add_all<RedundantRule::Kind>(out, "lint",
                               [](RedundantRule::Kind kind) { return lint_name(kind); });
  add_all<DoubtfulRule::Kind>(out, "lint", [](DoubtfulRule::Kind kind) { return lint_name(kind); });
  add_all<FindingKind>(out, "finding", finding_name);
  return out;
}

int explain(const std::string& code) {
  const std::vector<Explanation> all = explanations();
  std::string text;
  std::vector<std::string_view> codes;
  for (const Explanation& one : all) {
    codes.push_back(one.code);
    if (code.empty())
      text += fmt::format("{:<8} {:<16} {}\n", one.kind, one.code,
                          one.text.substr(0, one.text.find(". ") + 1));
    else if (one.code == code)
      text += fmt::format("{} ({})\n{}", one.code, one.kind, wrapped(one.text, "  "));
  }
  if (!text.empty()) return print(text);
  std::ranges::sort(codes);
  const auto repeated = std::ranges::unique(codes);
  codes.erase(repeated.begin(), repeated.end());
  return report(
      make_error(
          ErrorCode::kUsage, "--explain",
          fmt::format("no report contains the word '{}'{}; `secequiv --explain` lists all words",
                      code, did_you_mean(similar_names(code, codes)))),
      Options{});
}

}  // namespace secequiv::cli
