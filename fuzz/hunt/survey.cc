#include "fuzz/hunt/survey.h"

namespace secequiv::hunt {
namespace {

constexpr std::uint64_t kEnough = 8;  // unsupported subjects of a class

}  // namespace

void Survey::count(std::vector<ShapeRow>& rows, const Recent& one) {
  for (const std::uint16_t index : one.classes) {
    ++rows[index].count;
    rows[index].unsupported += one.supported ? 0 : 1;
  }
}

void Survey::add(std::vector<std::uint16_t> classes) {
  // Answers arrive in batches of any size. They count only after a whole window.
  if (total_ % kWindow == 0)
    while (recent_.size() > kWindow) {
      count(rows_, recent_.front());
      ++all_.count;
      all_.unsupported += recent_.front().supported ? 0 : 1;
      recent_.pop_front();
    }
  ++total_;
  recent_.push_back({std::move(classes)});
}

void Survey::unsupported(std::uint64_t number) {
  const std::uint64_t first = total_ - recent_.size() + 1;
  if (number >= first && number <= total_) recent_[number - first].supported = false;
}

bool Survey::never_supported(std::size_t index) const {
  const ShapeRow& row = rows_[index];
  return row.unsupported >= kEnough && row.unsupported == row.count;
}

std::uint64_t Survey::share(const ShapeRow& row) {
  return row.count == 0 ? 0 : 1000 * (row.count - row.unsupported) / row.count;
}
std::uint64_t Survey::supported_of_1000(std::size_t index) const { return share(rows_[index]); }
std::uint64_t Survey::supported_of_1000() const { return share(all_); }

std::vector<ShapeRow> Survey::rows() const {
  std::vector<ShapeRow> out = rows_;
  for (const Recent& one : recent_) count(out, one);
  return out;
}

}  // namespace secequiv::hunt
