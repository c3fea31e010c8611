// Finds entries of constant tables. It must not know what they contain.
#pragma once

#include <functional>

namespace secequiv {

// Returns the first entry that satisfies the condition, or nullptr. (The iterators of an array are
// pointers only in some C++ libraries.)
template <class Table, class Condition>
constexpr const auto* entry_if(const Table& table, const Condition& condition) {
  for (const auto& entry : table)
    if (std::invoke(condition, entry)) return &entry;
  return static_cast<decltype(&*table.begin())>(nullptr);
}

// Returns the first entry whose `member` equals the value, or nullptr.
template <class Table, class Value, class Member>
constexpr const auto* entry_of(const Table& table, const Value& value, const Member& member) {
  return entry_if(table, [&](const auto& entry) { return std::invoke(member, entry) == value; });
}

}  // namespace secequiv
