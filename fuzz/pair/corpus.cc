#include "fuzz/pair/corpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <unordered_set>

#include "fuzz/pair/session.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/coverage/first_input.h"
#include "harness/coverage/state.h"
#include "harness/inputs/case_set.h"

namespace secequiv::pair {
namespace {

namespace fs = std::filesystem;

std::string name_of(std::string_view prefix, std::string_view bytes) {
  return fmt::format("{}{:016x}", prefix, hash_of(bytes));
}

// Returns whether secequiv or libFuzzer named the file. libFuzzer names files by the SHA-1 of their
// content.
bool is_ours(std::string_view name) {
  if (name.starts_with(kSeedPrefix) || name.starts_with(kFindingPrefix)) return true;
  return name.size() == 40 && name.find_first_not_of("0123456789abcdef") == name.npos;
}

// Reads as many bytes of a file as one run uses. A file that another process has just deleted
// counts as empty.
Result<std::string> read_start(const std::string& path) {
  std::string out(kMaxBytes, '\0');
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) return std::string();
  const ssize_t size = fd < 0 ? -1 : ::pread(fd, out.data(), out.size(), 0);
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (size < 0)
    return make_error(ErrorCode::kIo, path, std::string("cannot read: ") + std::strerror(error));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

// Returns the indices of the obligations that `input` meets.
std::vector<std::size_t> met(const Program& program, const std::vector<Obligation>& obligations,
                             const SeccompData& input) {
  CoverageMap coverage(program);
  coverage.run(input);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < obligations.size(); ++i)
    if (coverage.covered(obligations[i])) out.push_back(i);
  return out;
}

}  // namespace

Result<Corpus> read_corpus(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return make_error(ErrorCode::kIo, folder, "cannot use it as a folder: " + error.message());
  Corpus out;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    // A file of size 0 is empty or not on a disk. Reading a file that is not on a disk may never
    // end.
    if (std::error_code ignored; at->is_regular_file(ignored) && at->file_size(ignored) > 0) {
      const std::string name = at->path().filename().string();
      if (!name.starts_with('.')) out.files.push_back(name);
    }
  if (error)
    return make_error(ErrorCode::kIo, folder, "cannot use it as a folder: " + error.message());
  std::ranges::sort(out.files);
  std::unordered_set<SeccompData, detail::InputHash> seen;
  for (const std::string& name : out.files) {
    ASSIGN_OR_RETURN(const auto bytes, read_start((fs::path(folder) / name).string()));
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    for (std::size_t i = 0; i < records_in(bytes.size()); ++i)
      if (const SeccompData input{record({data, bytes.size()}, i)}; seen.insert(input).second)
        out.inputs.push_back(input);
  }
  return out;
}

Status add_input(const std::string& folder, std::string_view prefix, const SeccompData& data,
                 bool flush) {
  const std::string bytes = write_inputs({data});
  const std::string path = (fs::path(folder) / name_of(prefix, bytes)).string();
  std::error_code error;
  if (fs::exists(path, error)) return Ok{};
  return write_file(path, bytes, flush);
}

std::vector<SeccompData> one_per_edge(const Program& program,
                                      const std::vector<SeccompData>& inputs,
                                      std::size_t feasible) {
  const auto obligations = CoverageMap(program).obligations();
  FirstInputs first(program, feasible);
  first.run(inputs);
  const std::vector<std::uint32_t> numbers = first.all();
  std::vector<SeccompData> chosen;
  chosen.reserve(numbers.size());
  for (const std::uint32_t input : numbers) chosen.push_back(inputs[input]);
  // Later inputs may have made earlier ones redundant, so each one is checked again.
  std::vector<std::vector<std::size_t>> meets;
  std::vector<std::size_t> times(obligations.size());
  for (const SeccompData& input : chosen) {
    meets.push_back(met(program, obligations, input));
    for (const std::size_t i : meets.back()) ++times[i];
  }
  std::vector<SeccompData> out;
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const bool needed = std::ranges::any_of(meets[c], [&](std::size_t i) { return times[i] == 1; });
    if (needed) {
      out.push_back(chosen[c]);
    } else {
      for (const std::size_t i : meets[c]) --times[i];
    }
  }
  return out;
}

Status replace_inputs(const std::string& folder, const Corpus& corpus,
                      const std::vector<SeccompData>& kept) {
  std::set<std::string> names;
  for (const SeccompData& data : kept) {
    RETURN_IF_ERROR(add_input(folder, kSeedPrefix, data));
    names.insert(name_of(kSeedPrefix, write_inputs({data})));
  }
  for (const std::string& name : corpus.files) {
    std::error_code error;
    if (names.contains(name) || !is_ours(name)) continue;
    fs::remove(fs::path(folder) / name, error);
    if (error)
      return make_error(ErrorCode::kIo, (fs::path(folder) / name).string(), error.message());
  }
  return Ok{};
}

}  // namespace secequiv::pair
