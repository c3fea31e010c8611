// The report of `prove` about two filters or stacks of filters. Owns the values of that report and
// its three forms: text, JSON and cases. It must not prove anything (analyze/prove.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/direction.h"
#include "harness/compare/oracle_report.h"
#include "harness/compare/proof.h"
#include "harness/report/describe.h"
#include "harness/report/pair_notes.h"
#include "harness/report/reported.h"
#include "harness/report/side.h"

namespace secequiv {

// Files with which others can check a proof without trusting this program.
struct CertificateReport {
  struct File {
    std::string name;
    std::string text;
  };
  std::string directory;    // the folder that gets the files
  std::vector<File> files;  // empty: there is no certificate
  std::string reason;       // why a certificate is missing; empty if it exists
  int failed = 0;           // the exit status if the proof succeeded without a certificate; else 0
  double seconds = 0;       // time spent on the certificate
};

// Returns lines with the files and the scripts that check them, or with the reason.
std::string certificate_text(const CertificateReport& report, Sameness sameness);
void describe(Fields<CertificateReport::File>& file);
void describe(Fields<CertificateReport>& report);

// A filter that the kernel refuses. No proof is attempted then.
struct Rejection {
  std::string name;
  std::string detail;
  std::string where = {};  // the name with the place of the refused instruction; empty: the name
};

// It can be moved but not copied, because `question` refers to its programs.
struct ProveReport {
  std::string subject;             // "before.bpf, after.bpf"
  std::vector<SideReport> before;  // newest first
  std::vector<SideReport> after;
  std::optional<SideFiles> files;      // empty for stacks
  std::optional<Rejection> rejection;  // if set, no proof was attempted
  Question question;                   // refers to the programs of `before` and `after`
  Proof proof;
  std::optional<Direction> direction;  // for the witness, with the proof's values of names
  DecidingRules rules = {};            // rules that decide the witness; empty if names have values
  Arch host = Arch::kX86_64;           // for names
  std::optional<OracleReport> oracle;
  std::optional<CertificateReport> certificate;
  PairNotes notes = {};
  bool all_traces = false;  // whether the text shows traces of two policies, too

  ProveReport() = default;
  ProveReport(ProveReport&&) = default;
  ProveReport& operator=(ProveReport&&) = default;
  ProveReport(const ProveReport&) = delete;
  ProveReport& operator=(const ProveReport&) = delete;
  ~ProveReport() = default;

  // Returns kRejected for a rejection, kFail if the oracle contradicts our interpreter, otherwise
  // the proof's verdict. A success becomes kUnknown if the proof had to be about the whole profiles
  // but covers only parts of them.
  [[nodiscard]] Verdict verdict() const;
  // Returns the exit status of the verdict, or of a missing certificate.
  [[nodiscard]] int exit_status() const;
};

// The parts of this report that the report about a property shares.
std::string rejection_text(const Rejection& rejection);
ReportedCases rejected(const std::string& command, const Rejection& rejection);
// Returns a line with the values of names for the witness, or "".
std::string values_text(const ProveReport& report);
// Returns a line that states in what sense the witness is the smallest. `loosened` is what is the
// most permissive in a witness that shows a gain: "change".
std::string minimal_text(const ProveReport& report,
                         std::string_view loosened = "most permissive change");

// Returns the text; its last line is the verdict. With `brief` it omits the lines about the oracle
// and the certificate. It ends with a newline.
std::string prove_text(const ProveReport& report, bool brief = false);

void describe(Fields<ProveReport>& report);

ReportedCases reported(const ProveReport& report);

}  // namespace secequiv
