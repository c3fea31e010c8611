// A report as a list of cases, each with what was examined, the result, and its place in a file.
// Owns that shape, which JUnit, SARIF and Markdown use (junit.h, sarif.h, markdown.h). It must not
// know any command: each report makes its own cases. A list without failures is a pass; for every
// other verdict, at least one case does not pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/difference.h"
#include "harness/compare/direction.h"
#include "harness/compare/question.h"
#include "harness/compare/verdict.h"
#include "harness/report/rule.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// A file that a program or policy came from.
struct SourceFile {
  std::string path;  // as given; empty: no file (standard input, a command)
  bool raw = false;  // an array of struct sock_filter
  // The line of each instruction, if the file is text and the lines are known.
  std::vector<std::uint32_t> lines;
};

struct ReportedCase {
  // kWarning: a remark that is not a failure.
  enum class State : std::uint8_t { kPass, kWarning, kFail, kUnknown, kSkipped };
  struct Place {
    std::string path;  // empty: no file
    bool raw = false;
    std::optional<std::size_t> pc;      // instruction
    std::optional<std::uint32_t> line;  // from 1
  };
  // An executed instruction and its effect.
  struct Step {
    Place place;
    std::string message;
  };

  std::string kind;  // what was examined: the id of one of case_kinds()
  State state = State::kPass;
  std::string message;      // a sentence
  std::string detail = {};  // more lines for people; may be empty
  std::string name = {};    // distinguishes several cases of a kind; may be empty
  // A place in the second file, if there are two. It is in the first file if only a rule of that
  // file decides.
  std::optional<Place> place = {};
  std::optional<Place> before = {};  // a place in the first file; only with `place`
  std::optional<Witness> witness = {};
  std::vector<std::vector<Step>> traces = {};  // the witness's traces: before, after
  double seconds = 0;
  bool only_stricter = false;  // kFail because of a change that only denies more
};

struct ReportedCases {
  std::string command;  // "check"
  std::string subject;  // "before.bpf, after.bpf"
  Verdict verdict = Verdict::kUnknown;
  int exit_status = 3;
  std::string reason;  // a sentence
  std::vector<ReportedCase> cases;
  std::string direction = {};  // one line with the effect of a difference on callers; may be empty
  Effect effect = Effect::kChanged;  // the direction's effect on callers
  bool completed = true;             // false: an error ended the command
  std::string file = {};             // the file for cases without a place; may be empty
  // For which hosts and containers the answer holds; empty if it does not depend on them.
  std::string holds_for = {};
  std::string limits = {};  // follows the verdict: " for these capabilities ..."; may be empty

  // Returns the verdict's name, or "error" if an error left the command without a verdict.
  [[nodiscard]] std::string_view verdict_text() const {
    const bool none = !completed && exit_status == exit_code(ErrorCode::kUsage);
    return none ? "error" : verdict_name(verdict);
  }
  // Returns the verdict's name with its limits.
  [[nodiscard]] std::string limited_verdict() const { return std::string(verdict_text()) + limits; }
  // Returns the reason, after the verdict's limits if there are any.
  [[nodiscard]] std::string limited_reason() const {
    return limits.empty() ? reason : limited_verdict() + ": " + reason;
  }
};

// Sets the line and the effect; without a direction, the line is empty.
void set_direction(const std::optional<Direction>& direction, Arch host, ReportedCases& out);

// The kinds of cases, for tools that list them. SARIF calls a kind a rule.
struct CaseKind {
  const char* id;
  const char* title;  // the fault, in a few words
  const char* text;   // the meaning of a failure
};
std::span<const CaseKind> case_kinds();

// The files of a command's two sides.
struct SideFiles {
  SourceFile before;
  SourceFile after;
};

// Returns the file in which a verdict about both sides is shown.
std::string file_of(const SideFiles& files);

// Returns kPass for a verdict with exit status 0, kUnknown for an unknown one, else kFail.
ReportedCase::State state_of(Verdict verdict);

// Returns the kind, and the name if there is one.
std::string title_of(const ReportedCase& one);

// Returns "at FILE, line 3, instruction 7", with the known parts only, or "" without a file.
std::string place_text(const ReportedCase& one);

// Returns the place of instruction `pc` in a file, or of the whole file.
ReportedCase::Place place_in(const SourceFile& file, std::optional<std::size_t> pc);

// Makes `one` a case about a witness: its places are where the traces part, and it gets both
// traces.
void show_witness(ReportedCase& one, ProgramView before, ProgramView after, const Witness& witness,
                  const SideFiles& files);

// Sets the place of the case to the deciding rule in a policy's file: the new rule, or the old one
// if no rule matches any more. A side without a policy, or with a policy that has no file, changes
// nothing. A case about two policies loses its traces, because only we have the programs that we
// compiled from them.
void place_by_rules(ReportedCase& one, const DecidingRules& rules);

// Returns a case for each listed region, at most `most`, and one for each change with more regions.
ReportedCases reported(const Difference& difference, const Question& question, Verdict verdict,
                       const std::string& subject, const std::optional<SideFiles>& files,
                       std::size_t most, Arch host);

// Reads "file:12:3", "file:12" or "file:12#/json/pointer", the positions in errors and rules. For
// any other text, the place has no line.
ReportedCase::Place place_of(std::string where);

// Returns the report that the kernel would refuse `subject`, so that nothing else was examined.
ReportedCases refused(const std::string& command, const std::string& subject,
                      const std::string& detail);

// Returns the report of an error that ended a command.
ReportedCases reported(const Error& error, const std::string& command, int exit_status);

// Removes places in files that do not exist, such as outputs of commands and standard input. Tools
// that read reports would try to open them.
ReportedCases with_existing_files(ReportedCases report);

// Adds a case with the verdict, unless the verdict is not a pass and a failing or unknown case
// already shows that.
void conclude(ReportedCases& report);

}  // namespace secequiv
