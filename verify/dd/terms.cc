#include "verify/dd/terms.h"

#include <algorithm>
#include <tuple>

namespace secequiv::dd {

void Terms::clear() {
  nodes_.resize(std::tuple_size_v<InputWords>, Node{Kind::kInput, 0, 0});
  if (++stamp_ != 0) return;
  std::ranges::fill(table_, Slot{});
  stamp_ = 1;
}

Terms::Word Terms::intern(Kind kind, std::uint32_t a, std::uint32_t b) {
  const Node node{kind, a, b};
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(node) & mask;
  for (; table_[at].stamp == stamp_; at = (at + 1) & mask) {
    const Node& known = nodes_[table_[at].word];
    if (known.kind == kind && known.a == a && known.b == b) return table_[at].word;
  }
  const Word out = append(node);
  table_[at] = {stamp_, out};
  if (nodes_.size() * 2 > table_.size()) grow();
  return out;
}

void Terms::grow() {
  table_.assign(table_.size() * 4, Slot{});
  const std::size_t mask = table_.size() - 1;
  for (Word word = 0; word < nodes_.size(); ++word) {
    if (nodes_[word].kind == Kind::kInput || nodes_[word].kind == Kind::kUnknown) continue;
    std::size_t at = hash(nodes_[word]) & mask;
    while (table_[at].stamp == stamp_) at = (at + 1) & mask;
    table_[at] = {stamp_, word};
  }
}

}  // namespace secequiv::dd
