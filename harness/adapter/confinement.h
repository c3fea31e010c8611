// Keeps a command under test from using the network, gaining or keeping privileges, and filling the
// disk. Owns the setup (namespaces and a seccomp filter, or a filter alone) and the list of
// measures that the system refuses. It must not know what runs.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace secequiv {

// Limits a resource to `most`. Called in a child (vfork, too) before exec.
void lower_limit(decltype(RLIMIT_DATA) resource, rlim_t most);

// Made once, entered by every child. Its namespaces live as long as it does.
class Confinement {
 public:
  enum Lack : std::uint8_t {
    kNetwork = 1,       // the network is reachable
    kPrivileges = 2,    // exec of a set-user-ID program gains privileges
    kCapabilities = 4,  // the command keeps this process's capabilities
    kBeyond = 8,        // sockets exist that network namespaces do not separate
  };

  // Tries in a child process what the system permits. From then on the user's other processes
  // cannot trace this one, and it leaves no core. Called once.
  static std::shared_ptr<const Confinement> make();
  ~Confinement();
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  // Called in a child (vfork, too) before exec: only makes system calls. False if the system
  // refuses something that it permitted before.
  [[nodiscard]] bool enter() const { return (refused() & ~lack_) == 0; }

  // A sentence for each refused measure; empty if there is none.
  [[nodiscard]] const std::vector<std::string>& lacking() const { return lacking_; }

 private:
  Confinement() = default;
  void open_namespaces();
  // Enters; a set of `Lack`.
  [[nodiscard]] unsigned refused() const;

  int user_ = -1;  // namespaces; -1: none
  int network_ = -1;
  unsigned lack_ = 0;
  bool filter_ = false;  // the filter stands alone, without a network namespace
  std::vector<std::string> lacking_;
};

}  // namespace secequiv
