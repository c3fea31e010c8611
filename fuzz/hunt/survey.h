// Counts which classes of programs or policies a hunt sent, and which of them the code under test
// did not support. Owns these counts. It must not know how subjects are described.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "harness/compare/hunt_report.h"

namespace secequiv::hunt {

// A hunt learns from answers only at the end of each window of this many trials. It makes at most
// this many subjects before it examines the answer to the first of them.
inline constexpr std::uint64_t kWindow = 64;

class Survey {
 public:
  void add_class(std::string group, std::string name) {
    rows_.push_back({std::move(group), std::move(name), 0, 0});
  }
  // Counts the next subject, which has these classes.
  void add(std::vector<std::uint16_t> classes);
  // Replaces the classes of the last subject, which was changed before it was sent.
  void change(std::vector<std::uint16_t> classes) { recent_.back().classes = std::move(classes); }
  // Notes that the code under test did not support the subject with this number, counted from 1.
  void unsupported(std::uint64_t number);
  // Returns whether a class had earlier subjects, none of which was supported. Uses only answers
  // that every run knows at this subject, so that a seed gives the same subjects.
  [[nodiscard]] bool never_supported(std::size_t index) const;

  // Returns how many earlier subjects per 1000 were supported, in a class or in all. Uses the same
  // answers as never_supported().
  [[nodiscard]] std::uint64_t supported_of_1000(std::size_t index) const;
  [[nodiscard]] std::uint64_t supported_of_1000() const;

  // Returns all counts.
  [[nodiscard]] std::vector<ShapeRow> rows() const;

 private:
  struct Recent {
    std::vector<std::uint16_t> classes;
    bool supported = true;
  };
  static void count(std::vector<ShapeRow>& rows, const Recent& one);
  static std::uint64_t share(const ShapeRow& row);

  std::vector<ShapeRow> rows_;  // for subjects that are not recent
  ShapeRow all_;                // the row for all classes together
  std::deque<Recent> recent_;
  std::uint64_t total_ = 0;  // subjects
};

}  // namespace secequiv::hunt
