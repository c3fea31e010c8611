#include "harness/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace secequiv::base_file_test {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "secequiv-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name)) << bytes;
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_))
      out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }

  fs::path folder_;
};

// Runs `body` while descriptor `fd` refers to the file `path`.
template <class Body>
void with_redirected(int fd, const std::string& path, int flags, Body body) {
  const int saved = ::dup(fd);
  const int file = ::open(path.c_str(), flags, 0600);
  ASSERT_GE(file, 0);
  ::dup2(file, fd);
  ::close(file);
  body();
  ::dup2(saved, fd);
  ::close(saved);
}

TEST_F(FileTest, ReadsEveryByte) {
  const std::string bytes("a\0b\r\n\xff", 6);
  put("x", bytes);
  const auto read = read_file(path("x"));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, bytes);
}

TEST_F(FileTest, ReadsMoreThanOneBuffer) {
  const std::string bytes(200001, 'z');
  put("x", bytes);
  const auto read = read_file(path("x"));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, bytes);
}

TEST_F(FileTest, MissingFileIsAnIoError) {
  const auto read = read_file(path("absent"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kIo);
  EXPECT_EQ(read.error().text(), path("absent") + ": cannot open: No such file or directory");
}

TEST_F(FileTest, ErrorForMissingFileSuggestsSimilarNames) {
  put("before.asm", "x");
  put("other", "x");
  const auto result = read_file(path("befor.asm"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(), path("befor.asm") +
                                       ": cannot open: No such file or directory; did you mean " +
                                       path("before.asm") + "?");
  EXPECT_EQ(read_file(path("befor.asm/x")).error().text().find("did you mean"), std::string::npos);
}

TEST_F(FileTest, FifoIsReadAfterAWriterAppears) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::thread writer([&] {
    const int fd = ::open(path("fifo").c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::write(fd, "text", 4), 4);
    ::close(fd);
  });
  const auto result = read_file(path("fifo"));
  writer.join();
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(*result, "text");
}

#ifdef SECEQUIV_FULL_TESTS
TEST_F(FileTest, FifoWithoutWriterTimesOut) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const auto result = read_file(path("fifo"));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text().find("nothing was written"), std::string::npos);
}
#endif

TEST_F(FileTest, ReadingADirectoryFails) {
  const auto read = read_file(folder_);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kIo);
  EXPECT_EQ(read.error().text(), folder_.string() + ": cannot read: Is a directory");
}

TEST_F(FileTest, LimitIsTheLargestSizeAccepted) {
  put("x", std::string(100, 'z'));
  EXPECT_TRUE(read_file(path("x"), 100));
  const auto read = read_file(path("x"), 99);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kIo);
  EXPECT_EQ(read.error().text(), path("x") + ": the file is larger than the limit of 99 bytes");
}

TEST_F(FileTest, EndlessInputHitsTheSizeLimit) {
  const auto read = read_file("/dev/zero");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().detail, "the file is larger than the limit of 16777216 bytes");
}

TEST_F(FileTest, FilesOfUnknownSizeAreReadWhole) {
  const std::string name = "/proc/sys/kernel/pid_max";  // the kernel reports size 0
  ASSERT_EQ(std::filesystem::file_size(name), 0u);
  std::ifstream file(name);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  const auto read = read_file(name);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, expected);
  EXPECT_GT(read->size(), 1u);
}

TEST_F(FileTest, DashIsStandardInput) {
  put("in", "from stdin");
  with_redirected(STDIN_FILENO, path("in"), O_RDONLY, [] {
    const auto read = read_file("-");
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, "from stdin");
  });
  with_redirected(STDIN_FILENO, folder_, O_RDONLY, [] {
    const auto read = read_file("-");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().where, "<stdin>");
  });
}

TEST_F(FileTest, WritesANewFile) {
  const std::string bytes("a\0b", 3);
  const auto status = write_file(path("new"), bytes);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(*read_file(path("new")), bytes);
  EXPECT_EQ(entries(), std::vector<std::string>{"new"}) << "the temporary file must be gone";
}

TEST_F(FileTest, NewFilesFollowTheUmask) {
  const mode_t old = ::umask(027);
  EXPECT_TRUE(write_file(path("new"), "x"));
  EXPECT_EQ(::umask(old), 027u) << "the umask must be left as it was";
  EXPECT_EQ(fs::status(path("new")).permissions(), fs::perms(0640));
}

TEST_F(FileTest, ReplacingKeepsPermissions) {
  put("old", "before");
  for (const auto mode : {0600, 0751, 0444}) {
    fs::permissions(path("old"), fs::perms(mode));
    ASSERT_TRUE(write_file(path("old"), "after"));
    EXPECT_EQ(fs::status(path("old")).permissions(), fs::perms(mode));
  }
  EXPECT_EQ(*read_file(path("old")), "after");
}

TEST_F(FileTest, ReplacingIsAtomic) {
  put("old", "before, and longer than what follows");
  const int reader = ::open(path("old").c_str(), O_RDONLY);
  ASSERT_TRUE(write_file(path("old"), "after"));
  // A process that has the old file open still reads all of its old content.
  char buffer[64];
  const ssize_t n = ::read(reader, buffer, sizeof buffer);
  ::close(reader);
  EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(n)),
            "before, and longer than what follows");
  EXPECT_EQ(*read_file(path("old")), "after");
}

TEST_F(FileTest, FailedWriteLeavesNoFiles) {
  put("plain", "kept");
  for (const std::string& target : {path("absent/out"), path("plain/out")}) {
    const auto status = write_file(target, "x");
    ASSERT_FALSE(status) << target;
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
    EXPECT_EQ(status.error().where, target);
    EXPECT_TRUE(status.error().detail.starts_with("cannot ")) << status.error().detail;
  }
  EXPECT_EQ(entries(), std::vector<std::string>{"plain"});
  EXPECT_EQ(*read_file(path("plain")), "kept");
}

TEST_F(FileTest, FailedReplacementKeepsTheOldFile) {
  // The name is so long that no temporary file can be created beside it.
  const std::string name(250, 'n');
  put(name, "kept");
  const auto status = write_file(path(name), "lost");
  ASSERT_FALSE(status);
  EXPECT_EQ(*read_file(path(name)), "kept");
  EXPECT_EQ(entries(), std::vector<std::string>{name});
}

TEST_F(FileTest, RunningOutOfSpaceKeepsTheOldFileAndRemovesTheTemporaryOne) {
  put("old", "kept");
  // A limit on the size of files simulates a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto status = write_file(path("old"), std::string(2000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), path("old") + ": cannot write: File too large");
  EXPECT_EQ(*read_file(path("old")), "kept");
  EXPECT_EQ(entries(), std::vector<std::string>{"old"});
}

TEST_F(FileTest, SignalLeavesNoTemporaryFile) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGINT, SIG_DFL);  // a shell ignores it for commands in the background
      const std::string bytes(1 << 20, 'x');
      while (write_file(path("out"), bytes)) {
      }
      ::_exit(1);
    }
    ::usleep(static_cast<useconds_t>(2000 + 500 * round));
    ::kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
    for (const std::string& name : entries()) EXPECT_EQ(name, "out");
  }
}

TEST_F(FileTest, WritingOverADirectoryFails) {
  fs::create_directory(path("folder"));
  const auto status = write_file(path("folder"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), path("folder") + ": cannot open for writing: Is a directory");
}

TEST_F(FileTest, SpecialFilesAreWrittenInPlace) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  const auto status = write_file(path("pipe"), "through");
  ASSERT_TRUE(status) << status.error().text();
  char buffer[16];
  EXPECT_EQ(::read(reader, buffer, sizeof buffer), 7);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(FileTest, WritingFollowsSymbolicLinks) {
  put("old", "before");
  fs::create_directory(path("folder"));
  fs::create_symlink("folder/two", path("one"));
  fs::create_symlink("../old", path("folder/two"));
  ASSERT_TRUE(write_file(path("one"), "after"));
  EXPECT_TRUE(fs::is_symlink(path("one")) && fs::is_symlink(path("folder/two")));
  EXPECT_EQ(*read_file(path("old")), "after");
  fs::create_symlink("folder/new", path("dangling"));
  ASSERT_TRUE(write_file(path("dangling"), "made"));
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
  EXPECT_EQ(*read_file(path("folder/new")), "made");
  fs::create_symlink("circle", path("circle"));
  const auto status = write_file(path("circle"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(),
            path("circle") + ": cannot open for writing: Too many levels of symbolic links");
  fs::create_symlink("/dev/null", path("null"));
  ASSERT_TRUE(write_file(path("null"), "x"));
  EXPECT_TRUE(fs::is_symlink(path("null")));
}

TEST_F(FileTest, ALinkToStandardOutputIsNotReplaced) {
  put("log", "first ");
  // A bug would replace this link, not the real /dev/stdout.
  fs::create_symlink("/dev/stdout", path("link"));
  std::fflush(stdout);
  with_redirected(STDOUT_FILENO, path("log"), O_WRONLY | O_APPEND, [&] {
    EXPECT_TRUE(write_file(path("link"), "second "));
    EXPECT_TRUE(write_file("-", "third"));
  });
  EXPECT_EQ(*read_file(path("log")), "first second third");
  EXPECT_EQ(entries(), (std::vector<std::string>{"link", "log"}));
}

// A command may write a report to the file that already has its other output or its warnings.
TEST_F(FileTest, AFileThatIsStandardOutputOrErrorKeepsItsEarlierText) {
  for (const auto& [stream, fd] : {std::pair(stdout, STDOUT_FILENO), {stderr, STDERR_FILENO}}) {
    put("log", "first ");
    std::fflush(stream);
    with_redirected(fd, path("log"), O_WRONLY | O_APPEND,
                    [&] { EXPECT_TRUE(write_file(path("log"), "second")); });
    EXPECT_EQ(*read_file(path("log")), "first second") << "descriptor " << fd;
  }
}

TEST_F(FileTest, WritableFileInReadOnlyFolderIsWrittenInPlace) {
  put("old", "before, and longer than what follows");
  fs::permissions(folder_, fs::perms(0555));
  fs::permissions(path("old"), fs::perms(0666));
  // Root may write to every folder, so the test drops to another user.
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const auto status = write_file(path("old"), "after");
  const auto absent = write_file(path("new"), "x");
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(folder_, fs::perms(0755));
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(*read_file(path("old")), "after");
  EXPECT_FALSE(absent);
  EXPECT_EQ(entries(), std::vector<std::string>{"old"});
}

TEST_F(FileTest, WritingToAFullDeviceFails) {
  const auto status = write_file("/dev/full", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), "/dev/full: cannot write: No space left on device");
}

TEST_F(FileTest, DashIsStandardOutput) {
  std::fflush(stdout);
  with_redirected(STDOUT_FILENO, path("out"), O_WRONLY | O_CREAT,
                  [] { EXPECT_TRUE(write_file("-", "to stdout")); });
  EXPECT_EQ(*read_file(path("out")), "to stdout");
  with_redirected(STDOUT_FILENO, "/dev/full", O_WRONLY, [] {
    const auto status = write_file("-", "x");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().where, "<stdout>");
  });
}

}  // namespace
}  // namespace secequiv::base_file_test
