# cmake -D INPUT=file -D OUTPUT=file.cc -P embed.cmake: the file's bytes as the default policy's text.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
file(WRITE ${OUTPUT}.new "#include \"harness/cli/common.h\"

namespace secequiv::cli {
namespace {
constexpr char kBytes[] = {${bytes}};
}  // namespace

std::string_view default_policy_text() { return {kBytes, sizeof kBytes}; }

}  // namespace secequiv::cli
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
