// This build writes no certificates.
#include "verify/certificate/certificate.h"

namespace secequiv::certificate {
namespace {

Error none() {
  return make_error(ErrorCode::kUnavailable, {}, "certificates are not in this build",
                    Subject::kCertificate);
}

}  // namespace

Status supported(const Question&) { return none(); }
std::optional<File> condition_file(const Question&) { return std::nullopt; }
Result<std::vector<File>> by_cases(const Question&, const Limits&) { return none(); }
Result<std::vector<File>> by_formula(const Question&, const Limits&) { return none(); }

}  // namespace secequiv::certificate
