// Declares the options for reading policies, which commands share.
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/values.h"
#include "harness/base/file.h"
#include "harness/import/capabilities.h"

namespace secequiv::cli {
void Options::add_import(Command& command) {
  command.add_option("--arch", arch, "Use this architecture for policies and for __NR_ names in C")
      ->check(architecture())
      ->shows_default();
  add_profile(command);
}

void Options::add_profile(Command& command) {
  command
      .add_option(
          "--cap", capabilities,
          "Grant capabilities to an OCI profile's container: names, ALL, DOCKER; repeatable")
      ->delimiter(',')
      ->check([](std::string& name) {
        name = capability_name(name);
        return capability_problem(name);
      });
  command
      .add_option("--kernel-version", kernel,
                  "Read OCI profiles for a host with this kernel version")
      ->check([](const std::string& version) { return kernel_version_problem(version); })
      ->shows_default();
  command.add_option(
      "--libseccomp", libseccomp,
      "Use the filter that this library makes of an OCI profile; 'none': ask no library");
  command
      .add_option("--runtime", runtimes,
                  "Container runtimes that have to load an OCI profile (default: all); repeatable")
      ->delimiter(',')
      ->check(one_of({kRuntimeNames.begin(), kRuntimeNames.end()}));
  command.add_option(
      "--filter", filter,
      "Select the filter with this name from a seccompiler file with several filters");
  command.add_flag(
      "--strict-names", strict_names,
      "Treat an unknown name (call, key, architecture, ...) as an error, not a warning");
}

OciOptions Options::oci() const {
  return OciOptions{arch_from_name(arch).value_or(Arch::kX86_64),
                    granted_capabilities(capabilities), kernel, runtimes_named(runtimes)};
}

ImportOptions Options::import() const {
  // Files that a policy includes are inputs, although the command line does not name them.
  const auto read = [sub = declared_by,
                     files = included](const std::string& path) -> Result<std::string> {
    files->push_back(path);
    if (sub != nullptr) RETURN_IF_ERROR(keep_outputs_off(*sub, path));
    return read_file(path);
  };
  return ImportOptions{oci(), filter, read};
}

}  // namespace secequiv::cli
