// A report as a list of cases: what was looked at, what came out, and where in which file. Owns
// that shape and what becomes of each command's report in it, so that JUnit and SARIF (junit.h,
// sarif.h) need know no command. Whatever the verdict, a case says so: a list without failures
// is a pass, and no other list is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/check_report.h"
#include "harness/compare/difference.h"
#include "harness/compare/hunt_report.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// A file that a program or policy came from.
struct SourceFile {
  std::string path;                  // as given; empty: no file (standard input, a command)
  bool raw = false;                  // struct sock_filter after struct sock_filter
  std::vector<std::uint32_t> lines;  // of each instruction, if it is text and they are known
};

struct ReportedCase {
  enum class State : std::uint8_t { kPass, kFail, kUnknown, kSkipped };
  struct Place {
    std::string path;  // empty: no file
    bool raw = false;
    std::optional<std::size_t> pc;      // instruction
    std::optional<std::uint32_t> line;  // from 1
  };
  // An executed instruction, and what it did.
  struct Step {
    Place place;
    std::string message;
  };

  std::string rule;  // what was looked at: an entry of reported_rules()
  State state = State::kPass;
  std::string message;      // a sentence
  std::string detail = {};  // lines, for people; may be empty
  std::string name = {};    // among several of a rule; may be empty
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
  bool completed = true;  // not ended by an error
  std::string file = {};  // that it is about, for cases without a place; may be empty
};

// What can be found, for tools that show lists of rules.
struct ReportedRule {
  const char* id;
  const char* name;  // in a few words
  const char* text;  // what a failure means
};
std::span<const ReportedRule> reported_rules();

// A command's two sides, and which file each is.
struct SideFiles {
  SourceFile before;
  SourceFile after;
};

ReportedCases reported(const CheckReport& report, const std::string& command,
                       const SideFiles& files);

// Of one filter on each side; of stacks, the witness has no place. To be concluded.
ReportedCases reported(const Question& question, const Proof& proof, const std::string& subject,
                       const std::optional<SideFiles>& files);

// A case for each region listed, at most `most` of each change.
ReportedCases reported(const Difference& difference, const Question& question, Verdict verdict,
                       const std::string& subject, const std::optional<SideFiles>& files,
                       std::size_t most, Arch host);

// A case for each finding, and one for all that was tried.
ReportedCases reported(const HuntReport& report);

// "file:12:3" or "file:12", as errors and rules have them; a place without a line if it is neither.
ReportedCase::Place place_of(std::string where);

void add_oracle(ReportedCases& report, const OracleReport& said);

// The kernel would refuse `side`, and nothing else was looked at.
ReportedCases refused(const std::string& command, const std::string& subject,
                      const std::string& detail);

// What ended a command: usage, input, a limit.
ReportedCases reported(const Error& error, const std::string& command, int exit_status);

// Adds a case that says the verdict, unless one that is not kPass or kSkipped does.
void conclude(ReportedCases& report);

}  // namespace secequiv
