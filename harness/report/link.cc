#include "harness/report/link.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>

#include "harness/bpf/text.h"

namespace secequiv {
namespace {

std::string base64url(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t kept = 0;
  int bits = 0;
  for (const char c : bytes) {
    kept = kept << 8 | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out += kDigits[kept >> (bits - 6) & 63];
  }
  if (bits > 0) out += kDigits[kept << (6 - bits) & 63];
  return out;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.'))
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string side_text(const LinkedPair::Side& side) {
  return side.text.empty() ? "r." + base64url(write_program(side.program, Form::kRaw))
                           : "t." + base64url(side.text);
}

}  // namespace

std::string link_to(std::string_view base, const LinkedPair& pair) {
  std::string out =
      fmt::format("{}#before={}&after={}", base, side_text(pair.before), side_text(pair.after));
  if (pair.same != "raw") out += fmt::format("&same={}", pair.same);
  if (pair.refines) out += "&refines=true";
  if (!pair.assume.empty()) out += "&assume=" + percent_encoded(pair.assume);
  if (pair.arch != "x86_64") out += fmt::format("&arch={}", pair.arch);
  return out;
}

}  // namespace secequiv
