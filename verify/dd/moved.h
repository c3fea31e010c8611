// Moves the conditions of a set from some words to other words, and drops conditions. Owns these
// two operations. It must not know what the words mean.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "verify/dd/space.h"

namespace secequiv::dd {

// Returns the inputs that become an input of `set` if some values of these bits are chosen.
NodeId for_some(Space& space, NodeId set, const Diagrams::Levels& bits);
// The same for whole words; `words` has a bit for each word.
NodeId for_some(Space& space, NodeId set, std::uint32_t words);

// Returns the words that the function tests.
std::uint32_t tested_words(const Space& space, NodeId function);

// Maps each word to the word that gets its conditions.
using WordMap = std::array<std::uint32_t, SeccompData::kWords>;

// Returns the inputs whose words, read through the map, form an input of `set`.
NodeId moved(Space& space, NodeId set, const WordMap& to);

}  // namespace secequiv::dd
