#include "harness/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include "harness/base/interrupt.h"
#include "harness/base/text.h"

namespace secequiv {
namespace {

Error io_error(const std::string& path, const char* verb) {
  return make_error(ErrorCode::kIo, path,
                    std::string("cannot ") + verb + ": " + std::strerror(errno));
}

// Returns "; did you mean" and the similar names of files in the folder of `path`, or "" if there
// are none.
std::string similar_files(const std::string& path) {
  constexpr std::size_t kMostLooked = 10000;
  const std::size_t name = path.rfind('/') + 1;
  const std::string folder = path.substr(0, name);
  std::vector<std::string> there;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder.empty() ? "." : folder, error), end;
       !error && it != end && there.size() < kMostLooked; it.increment(error))
    there.push_back(it->path().filename().string());
  std::vector<std::string> near = similar_names(std::string_view(path).substr(name), there);
  for (std::string& one : near) one = printable(std::string(folder).append(one), false);
  return did_you_mean(near);
}

// Waits until a process writes to a FIFO, then makes `fd` blocking again. Reading a named FIFO
// without a writer would block forever, so the wait ends after 5 seconds. A shell's <(command) has
// a path in /dev/fd or /proc and no such limit, because its command may take longer.
Status await_writer(const std::string& path, int fd) {
  constexpr int kMilliseconds = 5000;
  struct stat st{};
  if (::fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && !path.starts_with("/dev/fd/") &&
      !path.starts_with("/proc/")) {
    pollfd one{fd, POLLIN, 0};
    int ready = 0;
    while ((ready = ::poll(&one, 1, kMilliseconds)) < 0 && errno == EINTR) {
    }
    if (ready == 0)
      return make_error(ErrorCode::kIo, path, "nothing was written to this FIFO for 5 seconds");
  }
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return Ok{};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

Status write_descriptor(const std::string& shown, int fd, std::string_view bytes) {
  if (!write_all(fd, bytes)) return io_error(shown, "write");
  return Ok{};
}

Status write_in_place(const std::string& path, int flags, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags);
  if (fd < 0) return io_error(path, "open for writing");
  Status status = write_descriptor(path, fd, bytes);
  if (::close(fd) != 0 && status) return io_error(path, "write");
  return status;
}

// Blocks the signals that would end the process and leave its temporary file behind.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGXFSZ}) sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Follows all symbolic links, so that write_file() replaces their target and not the link. The last
// link may point to a file that does not exist yet.
Result<std::string> behind_links(std::string path) {
  const std::string given = path;
  for (int links = 0; links < 40; ++links) {  // the kernel's limit
    std::string target(PATH_MAX, '\0');
    const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
    if (n < 0) return path;  // `path` is not a link, or does not exist
    target.resize(static_cast<std::size_t>(n));
    const std::size_t folder = target.starts_with('/') ? 0 : path.rfind('/') + 1;
    path.replace(folder, std::string::npos, target);
  }
  errno = ELOOP;
  return io_error(given, "open for writing");
}

}  // namespace

std::string shown_name(const std::string& path) {
  return path == "-" ? "<stdin>" : printable(path, false);
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const bool is_stdin = path == "-";
  const std::string shown = shown_name(path);
  const int fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    Error error = io_error(shown, "open");
    if (errno == ENOENT) error.detail += similar_files(path);
    return error;
  }
  if (!is_stdin)
    if (Status s = await_writer(path, fd); !s) {
      ::close(fd);
      return s.error();
    }
  constexpr std::size_t kChunk = 1 << 16;
  struct stat st{};
  // The kernel reports size 0 for files in /proc. Some of them can only be read in one piece.
  const bool known = ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
  // Room for one byte more than the file has, so that the second read finds its end.
  const std::size_t room = known ? static_cast<std::size_t>(st.st_size) + 1 : kChunk;
  std::string out(std::min(room, limit + 1), '\0');
  std::size_t size = 0;
  Result<std::string> result = std::string();
  for (;;) {
    if (size == out.size()) out.resize(size + kChunk);
    const ssize_t n = ::read(fd, out.data() + size, out.size() - size);
    if (n < 0 && errno == EINTR && !stop_wanted()) continue;
    if (n < 0 && errno == EINTR) {
      result = make_error(ErrorCode::kBudget, shown, "interrupted before the end of the input");
      break;
    }
    if (n < 0) {
      result = io_error(shown, "read");
      break;
    }
    if (n == 0) {
      out.resize(size);
      result = std::move(out);
      break;
    }
    size += static_cast<std::size_t>(n);
    if (size > limit) {
      result =
          make_error(ErrorCode::kIo, shown,
                     "the file is larger than the limit of " + std::to_string(limit) + " bytes");
      break;
    }
  }
  if (!is_stdin) ::close(fd);
  return result;
}

bool can_be_read_again(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed);
}

Status write_file(const std::string& path, std::string_view bytes, bool flush) {
  if (path == "-") return write_descriptor("<stdout>", STDOUT_FILENO, bytes);
  struct stat st{};
  const bool exists = ::stat(path.c_str(), &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) return write_in_place(path, 0, bytes);
  // Standard output or error may already be open on this file, at a position after earlier output.
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (struct stat open{}; exists && ::fstat(fd, &open) == 0 && same_file(open, st))
      return write_descriptor(path, fd, bytes);
  ASSIGN_OR_RETURN(const auto target, behind_links(path));
  // /dev/fd/N leads through /proc, which may show the name of a deleted file.
  struct stat behind{};
  if (exists && (::stat(target.c_str(), &behind) != 0 || !same_file(behind, st)))
    return write_in_place(path, O_TRUNC, bytes);
  const SignalsHeld held;
  std::string temporary = target + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) {
    // The folder may be read-only although the file is writable. Then no temporary file can be
    // created.
    if (exists && (errno == EACCES || errno == EPERM || errno == EROFS))
      return write_in_place(path, O_TRUNC, bytes);
    return io_error(path, "create a temporary file beside it");
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? (st.st_mode & 07777) : (0666 & ~mask);
  const bool written =
      write_all(fd, bytes) && ::fchmod(fd, mode) == 0 && (!flush || ::fsync(fd) == 0);
  if (!written || ::close(fd) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
    Error error = io_error(path, "write");
    if (!written) ::close(fd);
    ::unlink(temporary.c_str());
    return error;
  }
  return Ok{};
}

}  // namespace secequiv
