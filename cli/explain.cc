#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/lint.h"
#include "cli/common.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/compare/hunt_report.h"

namespace secequiv::cli {
namespace {

// Each function is a switch without a default: a new code without an explanation does not compile.
// Behind the last code it returns nothing, which ends the lists below.

std::string_view about(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "The command line asks for something that does not exist or does not go together. "
             "Nothing was read or written. The message names the option and what was expected; "
             "`secequiv COMMAND --help` lists what there is.";
    case ErrorCode::kIo:
      return "A file could not be read or written: it is not there, may not be opened, is no "
             "regular file, is larger than the limit, or the disk is full. An output that failed "
             "leaves the old file as it was. Look at the path in the message, and at its rights.";
    case ErrorCode::kParse:
      return "The text or the bytes of an input are not well formed. The message has the line or "
             "the offset, what was expected and what was found. If the form was guessed wrong, "
             "name it with --from.";
    case ErrorCode::kPolicy:
      return "A policy can be read but means nothing: it names a system call or a variable that "
             "does not exist, has an empty any_of, or says two things of one call. A policy that "
             "was guessed at would be worse than none. The message has the place as a JSON "
             "pointer.";
    case ErrorCode::kRejected:
      return "The kernel would refuse to install this program (EINVAL), so there is nothing to "
             "compare. The message names the rule and the instruction; `secequiv --explain RULE` "
             "says more of it. Every other answer about such a program would be about a filter "
             "that never runs.";
    case ErrorCode::kBudget:
      return "Time, diagram nodes or memory ran out before there was an answer. This is no pass "
             "and no failure. Allow more with --timeout and --max-memory, or narrow the question "
             "with --assume.";
    case ErrorCode::kUnavailable:
      return "This machine, or the rights of this process, do not permit what was asked: seccomp, "
             "ptrace, BPF or a program that is not installed. The answer is unknown, not yes. Run "
             "it where it is permitted, or leave out the option that needs it.";
    case ErrorCode::kAdapter:
      return "A command, served command or plugin under test crashed, hung, used up its memory or "
             "answered what is no program. That is a finding about the command, not about a "
             "filter. The message has its last words; --request-timeout and --request-memory are "
             "its limits, and --no-sandbox leaves it the network and its privileges.";
    case ErrorCode::kInternal:
      return "Two parts of this tool contradict each other, such as a proof and an input that "
             "refutes it. No answer about the filters can be trusted then. Please report it with "
             "the inputs: it is always a bug here.";
  }
  return {};
}

std::string_view about(RefusalRule rule) {
  switch (rule) {
    case RefusalRule::kLength:
      return "A filter has 1 to 4096 instructions (BPF_MAXINSNS). An unoptimized program may be "
             "longer and is still analysed; the optimized one has to fit. Optimize it, or split "
             "the policy into two filters that are stacked.";
    case RefusalRule::kUnknownCode:
      return "The instruction's code is none of classic BPF (chk_code_allowed in "
             "net/core/filter.c). "
             "Often the input is not what it was taken for: big endian, eBPF, or cut off. Look at "
             "it with `secequiv dis`, and try --big-endian or --from.";
    case RefusalRule::kDivByZero:
      return "A division by the constant 0. The kernel refuses it when the filter is installed, as "
             "it could only end the process. Remove the division; a divisor in X may be 0, which "
             "returns 0 (KILL_THREAD) at run time.";
    case RefusalRule::kShiftRange:
      return "A shift by the constant 32 or more. Processors disagree about its result, so the "
             "kernel refuses it. Shift by 0 to 31; a shift by X uses its lowest five bits.";
    case RefusalRule::kMemIndex:
      return "A load or store of a scratch word that does not exist: there are M[0] to M[15]. "
             "Whoever wrote the program ran out of scratch words or computed the index wrong.";
    case RefusalRule::kJumpRange:
      return "A jump leads behind the last instruction. Conditional jumps reach 255 instructions "
             "ahead and the kernel checks both targets, also of a branch that is never taken. "
             "Often instructions were removed and the offsets before them not corrected.";
    case RefusalRule::kAncillary:
      return "A load from the area of ancillary data (SKF_AD_OFF and above) at an offset that has "
             "no meaning. Socket filters have such data, seccomp filters have none. Load offsets 0 "
             "to 60 instead.";
    case RefusalRule::kLastNotRet:
      return "The last instruction is not a RET, so execution could run out of the program. End "
             "the program with `ret`, whatever stands before it.";
    case RefusalRule::kMemUnset:
      return "A scratch word may be read before it was written on some path "
             "(check_load_and_stores). "
             "The kernel's analysis is simple: a path that no input takes counts as well. Store to "
             "the word at the program's start, or on each path that leads to the load.";
    case RefusalRule::kLoadOffset:
      return "A load that is not of one 32-bit word of struct seccomp_data: offsets are multiples "
             "of 4 from 0 to 60. Words of arguments start at 16, the instruction pointer's at 8.";
    case RefusalRule::kNotSeccomp:
      return "The instruction is classic BPF, which socket filters may use, and seccomp refuses it "
             "(seccomp_check_filter): MOD, IND and MSH loads, loads of bytes and half words. A "
             "compiler for packet filters may have made the program. Write it with words, and "
             "MOD by a power of two with AND.";
  }
  return {};
}

std::string_view about(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "Every obligation is met: nothing that was run differs, what is to be proven is "
             "proven, "
             "and each edge is covered or infeasible. The report says which parts were proven and "
             "which only tried. Exit status 0.";
    case Verdict::kEquivalent:
      return "Proven: both filters return the same for every input, within what the report says "
             "was "
             "assumed. `--certificate` leaves a proof that others can check. Exit status 0.";
    case Verdict::kFail:
      return "An obligation is violated, and the report shows how: an input on which the filters "
             "differ, an edge that no input reached, a call that lost its place in the kernel's "
             "cache. Exit status 1. Start with the witness, an input that shows it.";
    case Verdict::kDifferent:
      return "There is an input on which the filters return different values; it was run through "
             "both. Exit status 1. `secequiv diff` lists all such inputs, and `prove --refines` "
             "says "
             "whether the second filter is only ever stricter.";
    case Verdict::kUnknown:
      return "A limit ran out, something was not permitted, or the run was interrupted, before "
             "there was an answer. It is never counted as a pass: exit status 3. Give more with "
             "--timeout and --max-memory, ask a smaller question with --assume, or try the other "
             "--engine.";
    case Verdict::kRejected:
      return "The kernel would refuse to install one of the filters. The report says which, by "
             "what "
             "rule and at which instruction; `secequiv --explain RULE` says more. Exit status 4.";
    case Verdict::kCrashed:
      return "A command under test crashed, hung or answered nonsense. Its last words are in the "
             "report. Exit status 5.";
  }
  return {};
}

std::string_view about(IdleRule::Kind kind) {
  switch (kind) {
    case IdleRule::Kind::kUnmatchable:
      return "No input matches the rule: its conditions contradict each other, such as an argument "
             "that is to be both 1 and 2. It costs instructions and reads as a protection that is "
             "not there. Check whether all_of was meant to be any_of, or a mask is wrong.";
    case IdleRule::Kind::kShadowed:
      return "Rule sets before it decide everything that it matches, so it never does. If it is "
             "stricter than those, the policy allows what its author denies. Move it forward, or "
             "remove it.";
    case IdleRule::Kind::kRedundant:
      return "Without the rule the policy decides the same for every input; this is proven. It may "
             "be left from an older version, or have a mistake in its conditions. Remove it, or "
             "find out what it was to add.";
    case IdleRule::Kind::kDuplicate:
      return "The same alternative stands before it. It decides nothing. Often it was copied and "
             "was to be changed: compare the two, then remove one.";
  }
  return {};
}

std::string_view about(DoubtfulRule::Kind kind) {
  switch (kind) {
    case DoubtfulRule::Kind::kInconsistent:
      return "Some alternatives of a rule check an argument and others do not. That is legal, but "
             "where one forgets it, any value passes. Add the check, or write {\"ge\": 0} to say "
             "that any value is meant. It counts with --strict only.";
    case DoubtfulRule::Kind::kMatchAll:
      return "An alternative of a rule checks nothing, so the rule matches every call and the "
             "other "
             "alternatives do not matter. Remove either it or the others. It counts with --strict "
             "only.";
  }
  return {};
}

std::string_view about(FindingKind kind) {
  switch (kind) {
    case FindingKind::kDifferent:
      return "What is under test returned a filter that decides otherwise than its input, shown by "
             "an input that was run through both. This is the bug to fix first: a denied call may "
             "be allowed. The stored file and the line to replay it are in the report.";
    case FindingKind::kRejected:
      return "The kernel accepts the input and would refuse what came back. Installing it fails, "
             "often only for some policies. `secequiv validate` on the stored file names the rule.";
    case FindingKind::kCrashed:
      return "What is under test ended by a signal, a panic or a status other than 0. Its last "
             "words "
             "are in the report. The stored input makes it do so again.";
    case FindingKind::kHung:
      return "There was no answer within --request-timeout. It may be slow, or never end. The "
             "stored input shows it.";
    case FindingKind::kExhausted:
      return "Memory (--request-memory) or the limit of an answer's size ran out. The stored input "
             "is small, so that is more than it should need.";
    case FindingKind::kGarbage:
      return "It ended well, but what it wrote is no program or no frame of the protocol. The "
             "message says where reading stopped. Messages belong on standard error.";
    case FindingKind::kRefused:
      return "It refused a program that the kernel accepts, or a policy that means something. If "
             "that is intended, exit status 77 says `unsupported` and is only counted.";
    case FindingKind::kSlow:
      return "Its time grows far faster than its input: several inputs of a growing family were "
             "timed. A long policy would take minutes or hours.";
    case FindingKind::kCacheLoss:
      return "Linux allows some calls by number alone, from a bitmap, without running the filter; "
             "with the new filter it must run it for a call where it need not before. Decisions "
             "are the same, each such call is slower. `--allow cache-loss` makes it a note.";
    case FindingKind::kGrew:
      return "The answer has more instructions than the input. That is allowed and worth knowing: "
             "somebody optimizes for something else, or not at all.";
    case FindingKind::kNondeterministic:
      return "The same question got two answers. Both may be right, but builds cannot be "
             "reproduced "
             "and findings come and go. Look for hash tables, addresses and threads.";
    case FindingKind::kNotIdempotent:
      return "What came back can be optimized further by the same optimizer. It stops before its "
             "fixpoint, or its passes undo each other.";
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
  add_all<IdleRule::Kind>(out, "lint", [](IdleRule::Kind kind) { return lint_name(kind); });
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
  return report(make_error(ErrorCode::kUsage, "--explain",
                           fmt::format("nothing is called '{}'{}; `secequiv --explain` lists them",
                                       code, did_you_mean(similar_names(code, codes)))),
                Options{});
}

}  // namespace secequiv::cli
