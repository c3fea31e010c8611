// Owns building, starting and fuzzing one version of the code under test. It must not know which
// versions are tried.
#pragma once

#include <string>

#include "cli/fuzz_target.h"
#include "harness/report/prove.h"

namespace secequiv::cli {

struct VersionOptions {
  Options options;
  FuzzTargetOptions fuzz;  // its target contains {version}
  FuzzEffort effort;
  std::string build;  // a command; empty: none
};

class RunningVersion {
 public:
  explicit RunningVersion(const VersionOptions& given) : given_(given) {}

  // Builds and starts a version, as BisectTools::start describes.
  Result<std::string> start(const std::string& version);
  // Fuzzes the version until its first failure, as BisectTools::hunt describes.
  Result<HuntReport> hunt(const Finding* only);
  // Starts a version again. Returns the certificate that its answer to the subject is right.
  // Precondition: no evaluator is under test.
  CertificateReport certify(const std::string& version, const HuntSubject& subject);

 private:
  const VersionOptions& given_;
  FuzzTargetOptions fuzz_;  // as in given_, for this version
  OpenTarget target_;
};

}  // namespace secequiv::cli
