// The report of `prove` about two filters or stacks of filters. Owns the values of that report and
// its three forms: text, JSON and cases. It must not prove anything (analyze/prove.h).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/direction.h"
#include "harness/compare/oracle_report.h"
#include "harness/compare/proof.h"
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
  std::string reason;       // why a certificate is missing; empty if none is
  int failed = 0;           // the exit status if one is missing for a proof that succeeded; or 0
  double seconds = 0;       // spent on making them
};

// A filter that the kernel refuses, so that nothing can be proven about it.
struct Rejection {
  std::string name;
  std::string detail;
};

// Moving it keeps `question` valid, copying would not.
struct ProveReport {
  std::string subject;             // "before.bpf, after.bpf"
  std::vector<SideReport> before;  // newest first
  std::vector<SideReport> after;
  std::optional<SideFiles> files;      // nothing for stacks
  std::optional<Rejection> rejection;  // if not empty, nothing was proven
  Question question;                   // about the programs of `before` and `after`
  Proof proof;
  std::optional<Direction> direction;  // with a witness; for the proof's values of the names
  Arch host = Arch::kX86_64;           // for names
  std::optional<OracleReport> oracle;
  std::optional<CertificateReport> certificate;

  ProveReport() = default;
  ProveReport(ProveReport&&) = default;
  ProveReport& operator=(ProveReport&&) = default;
  ProveReport(const ProveReport&) = delete;
  ProveReport& operator=(const ProveReport&) = delete;
  ~ProveReport() = default;

  // kRejected; kFail if the oracle contradicts our interpreter; else the proof's.
  [[nodiscard]] Verdict verdict() const;
  // That of the verdict, or of a missing certificate.
  [[nodiscard]] int exit_status() const;
};

// The verdict last; `brief` leaves out what the oracle and the certificate add. Ends with a
// newline.
std::string prove_text(const ProveReport& report, bool brief = false);

nlohmann::ordered_json to_json(const ProveReport& report);  // schema "secequiv.prove/2"

ReportedCases reported(const ProveReport& report);

}  // namespace secequiv
