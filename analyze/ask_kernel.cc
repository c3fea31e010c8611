#include "analyze/ask_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "harness/generate/random_program.h"

namespace secequiv {
namespace {

class Blocks {
 public:
  explicit Blocks(const AskKernelJob& job) : job_(job), random_(job.seed) {}

  [[nodiscard]] std::size_t total() const {
    return job_.inputs.size() + job_.sources.size() * job_.random;
  }

  // Returns the next inputs, or none at the end.
  std::vector<SeccompData> next() {
    if (done_ < job_.inputs.size()) {
      const auto block = std::span(job_.inputs).subspan(done_);
      const auto some = block.first(std::min(kBlock, block.size()));
      done_ += some.size();
      return {some.begin(), some.end()};
    }
    if (done_ == total()) return {};
    const std::size_t made = done_ - job_.inputs.size();
    const std::size_t count = std::min(kBlock, job_.random - made % job_.random);
    done_ += count;
    return random_inputs(random_, job_.sources[made / job_.random].program, count);
  }

 private:
  // The kernel needs about a second for a batch if every call ends a process.
  static constexpr std::size_t kBlock = 16384;

  const AskKernelJob& job_;
  Random random_;
  std::size_t done_ = 0;
};

}  // namespace

Status can_ask(const std::vector<Source>& sources, kernel::Kernel& kernel) {
  RETURN_IF_ERROR(kernel::available(kernel));
  for (const Source& source : sources) {
    if (source.policy && source.program.size() > kMaxInsns)
      return make_error(
          ErrorCode::kRejected, source.title(),
          fmt::format("expected at most {} instructions, found {}; 'secequiv optimize "
                      "{} -o FILE' can write a shorter program",
                      kMaxInsns, source.program.size(), source.name));
    if (auto s = kernel::askable(source.program); !s) {
      s.error().where = source.title();
      return s;
    }
  }
  return Ok{};
}

Result<kernel::KernelReport> ask_kernel(const AskKernelJob& job) {
  std::vector<NamedProgram> programs;
  programs.reserve(job.sources.size());
  for (const Source& source : job.sources) programs.emplace_back(source.title(), source.program);
  Blocks blocks(job);
  kernel::AskOptions options = job.options;
  if (job.progress)
    options.progress = [&](std::size_t done) { job.progress(done, blocks.total()); };
  return kernel::ask(programs, [&] { return blocks.next(); }, options);
}

}  // namespace secequiv
