// A report as a list of cases: what was examined, the result, and where in which file. Owns that
// shape, so that JUnit, SARIF and Markdown (junit.h, sarif.h, markdown.h) need not know any
// command; each report makes its own cases. A list without failures is a pass, and every other
// verdict has a case that fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/difference.h"
#include "harness/compare/question.h"
#include "harness/compare/verdict.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// A file that a program or policy came from.
struct SourceFile {
  std::string path;                  // as given; empty: no file (standard input, a command)
  bool raw = false;                  // struct sock_filter after struct sock_filter
  std::vector<std::uint32_t> lines;  // of each instruction, if it is text and they are known
};

struct ReportedCase {
  // kWarning: worth reading, but no failure.
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
  std::string detail = {};  // lines, for people; may be empty
  std::string name = {};    // among several of a kind; may be empty
  std::optional<Place> place = {};
  std::optional<Witness> witness = {};
  std::vector<std::vector<Step>> traces = {};  // of `witness`: before, after
  double seconds = 0;
};

struct ReportedCases {
  std::string command;  // "check"
  std::string subject;  // "before.bpf, after.bpf"
  Verdict verdict = Verdict::kUnknown;
  int exit_status = 3;
  std::string reason;  // a sentence
  std::vector<ReportedCase> cases;
  std::string direction = {};  // what a difference does to callers, a line; may be empty
  bool completed = true;       // not ended by an error
  std::string file = {};       // that it is about, for cases without a place; may be empty
};

// The kinds of cases, for tools that list them. SARIF calls a kind a rule.
struct CaseKind {
  const char* id;
  const char* name;  // in a few words
  const char* text;  // what a failure means
};
std::span<const CaseKind> case_kinds();

// A command's two sides, and which file each is.
struct SideFiles {
  SourceFile before;
  SourceFile after;
};

// The file that a verdict about both sides is shown in.
std::string file_of(const SideFiles& files);

// kPass, kUnknown for a limit that ran out, else kFail.
ReportedCase::State state_of(Verdict verdict);

// The kind, and the name if there is one.
std::string title_of(const ReportedCase& one);

// "at FILE, line 3, instruction 7", as far as known; empty without a file.
std::string place_text(const ReportedCase& one);

// Instruction `pc` of a file, or the whole file.
ReportedCase::Place place_in(const SourceFile& file, std::optional<std::size_t> pc);

// Makes `one` a case about a witness: where the second program decides, and how both got there.
void show_witness(ReportedCase& one, ProgramView before, ProgramView after, const Witness& witness,
                  const SideFiles& files);

// A case for each region listed, at most `most` of each change.
ReportedCases reported(const Difference& difference, const Question& question, Verdict verdict,
                       const std::string& subject, const std::optional<SideFiles>& files,
                       std::size_t most, Arch host);

// "file:12:3", "file:12" or "file:12#/json/pointer", as errors and rules have them; a place without
// a line if it is neither.
ReportedCase::Place place_of(std::string where);

// The kernel would refuse `subject`, and nothing else was examined.
ReportedCases refused(const std::string& command, const std::string& subject,
                      const std::string& detail);

// The error that ended a command: usage, input, a limit.
ReportedCases reported(const Error& error, const std::string& command, int exit_status);

// Adds a case with the verdict, unless a case that fails or is unknown shows it.
void conclude(ReportedCases& report);

}  // namespace secequiv
