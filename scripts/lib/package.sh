# shellcheck shell=bash
# Owns the list of files that the Debian package must contain. Other scripts source this file.

PACKAGE_FILES=(bin/secequiv include/secequiv.h lib/libsecequiv.so lib/libsecequiv.so.1 lib/cmake/secequiv/secequivConfig.cmake
  lib/cmake/secequiv/secequivConfigVersion.cmake lib/cmake/secequiv/secequivFunctions.cmake lib/cmake/secequiv/secequivTargets.cmake
  lib/cmake/secequiv/secequivToFile.cmake lib/pkgconfig/secequiv.pc
  share/man/man1/secequiv.1 share/man/man1/secequiv-prove.1 share/bash-completion/completions/secequiv share/zsh/site-functions/_secequiv
  share/fish/vendor_completions.d/secequiv.fish share/doc/secequiv/LICENSE)
PACKAGE_NEEDS=(libc6 libstdc++6 libfmt libgmp libz3)

# package_complete FILE.deb: prints the path if nothing is missing.
package_complete() {
  local contents depends wanted missing=0
  contents=$(dpkg-deb --contents "$1" | awk '{ print $6 }')
  depends=$(dpkg-deb --field "$1" Depends)
  for wanted in "${PACKAGE_FILES[@]}"; do
    grep -qxF "./usr/$wanted" <<<"$contents" || {
      printf 'package: /usr/%s is missing\n' "$wanted" >&2
      missing=1
    }
  done
  for wanted in "${PACKAGE_NEEDS[@]}"; do
    [[ ", $depends" == *", $wanted"* ]] || {
      printf 'package: it does not depend on %s, only on: %s\n' "$wanted" "$depends" >&2
      missing=1
    }
  done
  [ "$missing" = 0 ] && printf '%s\n' "$1"
}
