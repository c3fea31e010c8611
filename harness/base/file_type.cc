#include "harness/base/file_type.h"

#include <cstddef>

namespace secequiv {
namespace {

using namespace std::string_view_literals;

struct FileType {
  std::string_view magic;
  std::string_view name;
  std::size_t offset = 0;
};

constexpr FileType kTypes[] = {
    {"\x7f"
     "ELF"sv,
     "an ELF file (a compiled program or eBPF object)"},
    {"\x1f\x8b"sv, "a gzip archive"},
    {"BZh91AY&SY"sv, "a bzip2 archive"},
    {"\xfd"
     "7zXZ\0"sv,
     "an xz archive"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd archive"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
    {"PK\x03\x04"sv, "a zip archive"},
    {"ustar"sv, "a tar archive", 257},
    {"!<arch>\n"sv, "an ar archive (a static library or Debian package)"},
    {"\x89PNG\r\n"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"GIF87a"sv, "a GIF image"},
    {"GIF89a"sv, "a GIF image"},
    {"%PDF-"sv, "a PDF document"},
    {"SQLite format 3\0"sv, "an SQLite database"},
    {"\xd4\xc3\xb2\xa1"sv, "a packet capture"},
    {"BC\xc0\xde"sv, "LLVM bitcode"},
    {"\xff\xfe"sv, "UTF-16 text, not UTF-8"},
    {"\xfe\xff"sv, "UTF-16 text, not UTF-8"},
    {"<!DOCTYPE"sv, "an HTML page"},
    {"<?xml"sv, "an XML document"},
};

}  // namespace

std::string_view known_file_type(std::string_view bytes) {
  for (const FileType& type : kTypes)
    if (bytes.size() >= type.offset && bytes.substr(type.offset).starts_with(type.magic))
      return type.name;
  return {};
}

}  // namespace secequiv
