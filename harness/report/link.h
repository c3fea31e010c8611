// The link that opens a pair in the page (play/page.js). Owns the address's fragment, as the page
// reads it. It must not know files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/bpf/insn.h"

namespace secequiv {

struct LinkedPair {
  struct Side {
    std::string_view text;  // as the user wrote it; empty: `program` stands for it
    ProgramView program;
  };
  Side before;
  Side after;
  std::string_view same = "raw";
  bool refines = false;
  std::string_view assume = {};
  std::string_view arch = "x86_64";
};

// Returns `base`, the address of the page, with a fragment that contains the pair. Members with
// their defaults do not appear.
std::string link_to(std::string_view base, const LinkedPair& pair);

}  // namespace secequiv
