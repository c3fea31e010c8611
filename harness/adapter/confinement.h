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

// Limits a resource to `most`. Call this in a child before exec; it is safe after vfork.
void lower_limit(decltype(RLIMIT_DATA) resource, rlim_t most);

// Confines child processes. This process makes one object, and every child calls enter(). The
// namespaces live as long as the object.
class Confinement {
 public:
  enum Lack : std::uint8_t {
    kNetwork = 1,       // the network is reachable
    kPrivileges = 2,    // exec of a set-user-ID program gains privileges
    kCapabilities = 4,  // the command keeps this process's capabilities
    kBeyond = 8,        // sockets exist that network namespaces do not separate
  };

  // Finds out in a child process which measures the system permits. From then on, the user's other
  // processes cannot trace this process, and it leaves no core file. Call this once.
  static std::shared_ptr<const Confinement> make();
  ~Confinement();
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  // Confines the calling process. Call this in a child before exec; it is safe after vfork, because
  // it only makes system calls. Returns false if the system refuses a measure that it permitted
  // when make() tried it.
  [[nodiscard]] bool enter() const { return (refused() & ~lack_) == 0; }

  // Returns a sentence for each refused measure.
  [[nodiscard]] const std::vector<std::string>& lacking() const { return lacking_; }

 private:
  Confinement() = default;
  void open_namespaces();
  // Confines the calling process. Returns the `Lack` bits of the measures that the system refused.
  [[nodiscard]] unsigned refused() const;

  int user_ = -1;  // descriptors of the namespaces; -1: none
  int network_ = -1;
  unsigned lack_ = 0;
  // Set if there is no network namespace, so that only the filter blocks the network.
  bool filter_ = false;
  std::vector<std::string> lacking_;
};

}  // namespace secequiv
