// Helpers for the tests of this folder: the paths of the programs that they run, and small filters.
// Owns these helpers, which need GoogleTest. It must not know real adapters.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/adapter/open.h"

namespace secequiv {

// Returns the path of a program that CMake builds for these tests, in the folder SECEQUIV_SUBJECTS.
inline std::string subject(const std::string& name) { return SECEQUIV_SUBJECTS "/" + name; }

inline AdapterOptions quick_options(double seconds = 5) {
  AdapterOptions options;
  options.limits.seconds = seconds;
  options.plugin_host = subject("plugin_host");
  return options;
}

inline Program returns(std::uint32_t k) { return {Insn{kRetK, 0, 0, k}}; }

// Returns a program that makes tests/odd_server.c misbehave in the way that `how` names.
inline Program odd(const std::string& how) {
  Program out(5, Insn{});
  out[0].code = 0xdead;
  std::memcpy(out.data() + 1, how.data(), std::min<std::size_t>(how.size(), 31));
  return out;
}

// Returns a policy without rules.
inline Policy small_policy(const std::string& name) {
  Policy out;
  out.name = name;
  out.arches = {Arch::kX86_64};
  return out;
}

template <class T>
T opened(Result<T> result) {
  EXPECT_TRUE(result) << result.error().text();
  return std::move(*result);
}

// A folder that is TMPDIR during a test. In a shell, its name needs quotes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = testing::TempDir() + "it's a $folder XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
    ::setenv("TMPDIR", path_.c_str(), 1);
  }
  ~TemporaryFolder() {
    ::unsetenv("TMPDIR");
    std::filesystem::remove_all(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(path_); }
  // Returns the process ID in a file that a command wrote.
  [[nodiscard]] pid_t number(const std::string& name) const {
    pid_t value = 0;
    std::ifstream(path(name)) >> value;
    EXPECT_GT(value, 0) << name;
    return value;
  }

 private:
  std::string path_;
};

// Waits up to five seconds for the process to end. Returns whether it did.
inline bool is_gone(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos || text[end + 2] == 'Z') return true;
    ::usleep(10000);
  }
  return false;
}

}  // namespace secequiv
