// What a command under test may not do: use the network, gain or keep privileges, fill the disk.
// Owns how that is set up (namespaces and a seccomp filter, or a filter alone) and which of it is
// not permitted here. It must not know what is run.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace secequiv {

// In a child before exec, also one of vfork: no more of a resource than `most`.
void lower_limit(decltype(RLIMIT_DATA) resource, rlim_t most);

// Made once, entered by every child. Its namespaces live as long as it does.
class Confinement {
 public:
  enum Lack : std::uint8_t {
    kNetwork = 1,       // there is a network
    kPrivileges = 2,    // exec of a set-user-ID program gains privileges
    kCapabilities = 4,  // it keeps capabilities of this process
    kBeyond = 8,        // there are sockets that network namespaces do not separate
  };

  // Tries in a child of its own what is permitted. From then on other processes of the user cannot
  // trace this one, and it leaves no core. To be called once.
  static std::shared_ptr<const Confinement> make();
  ~Confinement();
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  // In a child before exec, also one of vfork: makes system calls, and nothing else. False if
  // something is refused that was permitted when this was made.
  [[nodiscard]] bool enter() const { return (refused() & ~lack_) == 0; }

  // A sentence for each thing that is not permitted here; empty if all is.
  [[nodiscard]] const std::vector<std::string>& lacking() const { return lacking_; }

 private:
  Confinement() = default;
  void open_namespaces();
  // Enters; a set of `Lack`.
  [[nodiscard]] unsigned refused() const;

  int user_ = -1;  // namespaces; -1: none of its own
  int network_ = -1;
  unsigned lack_ = 0;
  bool filter_ = false;  // the filter stands alone, without a network namespace
  std::vector<std::string> lacking_;
};

}  // namespace secequiv
