#include "harness/kernel/acceptance.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "harness/kernel/child.h"
#include "harness/kernel/uapi.h"

namespace secequiv::kernel {
namespace {

// SharedAnswers are errno values, and this is not an errno value.
constexpr int kUnasked = -1;

// Memory that a child writes and this process reads.
class SharedAnswers {
 public:
  explicit SharedAnswers(std::size_t count) : bytes_(count * sizeof(int)) {
    void* memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    answers_ = {static_cast<int*>(memory), count};
    for (int& answer : answers_) answer = kUnasked;
  }
  ~SharedAnswers() {
    if (!answers_.empty()) ::munmap(answers_.data(), bytes_);
  }
  SharedAnswers(const SharedAnswers&) = delete;
  SharedAnswers& operator=(const SharedAnswers&) = delete;
  [[nodiscard]] std::span<int> all() const { return answers_; }

 private:
  std::size_t bytes_;
  std::span<int> answers_;
};

// Every kernel accepts this program. If it is refused, seccomp() itself is refused.
const Insn kShortest = {0x06, 0, 0, 0};  // ret #0

// Runs in the child. A listener needs a descriptor, and the limit permits none. So no filter is
// ever installed, and the kernel answers EMFILE for a program that it accepts.
void ask(std::span<const ProgramView> programs, std::span<int> answers) {
  const rlimit none = {0, 0};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::setrlimit(RLIMIT_NOFILE, &none) != 0)
    return;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const ProgramView program = programs[i];
    if (program.size() > std::numeric_limits<unsigned short>::max()) {
      answers[i] = EINVAL;  // sock_fprog cannot hold this length
      continue;
    }
    sock_fprog filter = fprog_of(program);
    const long done =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    answers[i] = done >= 0 ? 0 : errno;
    if (done >= 0) return;  // the filter is installed, so later answers cannot be trusted
  }
}

}  // namespace

Result<std::vector<bool>> accepts(std::span<const Program> programs) {
  if (programs.empty()) return std::vector<bool>{};
  std::vector<ProgramView> asked = {{&kShortest, 1}};
  asked.insert(asked.end(), programs.begin(), programs.end());
  const SharedAnswers answers(asked.size());
  if (answers.all().empty())
    return unavailable("kernel", "there is no memory for the answers", errno);
  const pid_t pid = ::fork();
  if (pid == -1)
    return unavailable("kernel", "a process for the requests cannot be started", errno);
  if (pid == 0) {
    ask(asked, answers.all());
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) == -1 && errno == EINTR) {
  }
  std::vector<bool> out;
  out.reserve(programs.size());
  if (const int plainest = answers.all().front(); plainest == EINVAL)
    return unavailable("kernel", "seccomp is not permitted here: every program is refused",
                       plainest);
  for (const int answer : answers.all().subspan(1)) {
    if (answer != EMFILE && answer != EINVAL)
      return unavailable("kernel", "seccomp is not permitted here",
                         answer == kUnasked ? EPERM : answer);
    out.push_back(answer == EMFILE);
  }
  return out;
}

}  // namespace secequiv::kernel
