#include "harness/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace secequiv {
namespace {

Error io_error(const std::string& path, const char* verb) {
  return make_error(ErrorCode::kIo, path,
                    std::string("cannot ") + verb + ": " + std::strerror(errno));
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

Status write_in_place(const std::string& path, int fd, std::string_view bytes) {
  if (!write_all(fd, bytes)) return io_error(path, "write");
  return Ok{};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const bool is_stdin = path == "-";
  const std::string shown = is_stdin ? "<stdin>" : path;
  const int fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(shown, "open");
  std::string out;
  char buffer[1 << 16];
  Result<std::string> result = std::string();
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      result = io_error(shown, "read");
      break;
    }
    if (n == 0) {
      result = std::move(out);
      break;
    }
    if (out.size() + static_cast<std::size_t>(n) > limit) {
      result = make_error(ErrorCode::kIo, shown,
                          "larger than the limit of " + std::to_string(limit) + " bytes");
      break;
    }
    out.append(buffer, static_cast<std::size_t>(n));
  }
  if (!is_stdin) ::close(fd);
  return result;
}

Status write_file(const std::string& path, std::string_view bytes) {
  if (path == "-") return write_in_place("<stdout>", STDOUT_FILENO, bytes);
  struct stat st{};
  if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return io_error(path, "open for writing");
    Status status = write_in_place(path, fd, bytes);
    ::close(fd);
    return status;
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return io_error(path, "create a temporary file beside it");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = st.st_nlink != 0 ? (st.st_mode & 07777) : (0666 & ~mask);
  const bool written = write_all(fd, bytes) && ::fchmod(fd, mode) == 0 && ::fsync(fd) == 0;
  if (!written || ::close(fd) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = io_error(path, "write");
    if (!written) ::close(fd);
    ::unlink(temporary.c_str());
    return error;
  }
  return Ok{};
}

}  // namespace secequiv
