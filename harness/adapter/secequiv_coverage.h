/* Collects the edges that this program reaches, so that a served adapter can answer requests of
 * kind R (PROTOCOL.md). Clang must build the code under test with
 * -fsanitize-coverage=inline-8bit-counters; otherwise there are no edges. This file is valid C and
 * C++. Owns the numbers of edges. It must not know frames, nor any other part of the harness. */
#ifndef SECEQUIV_COVERAGE_H
#define SECEQUIV_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Several files may include this one. */
#if defined(__clang__)
#define SECEQUIV_EDGE_CODE __attribute__((weak, used, no_sanitize("coverage")))
#else
#define SECEQUIV_EDGE_CODE __attribute__((weak, used))
#endif

enum { SECEQUIV_MOST_EDGES = 1 << 20, SECEQUIV_MOST_MODULES = 256 };

struct secequiv_edges {
  struct {
    uint8_t* start; /* counters: one byte for each edge */
    uint8_t* stop;
    uint32_t first; /* the number of the first edge */
  } modules[SECEQUIV_MOST_MODULES];
  size_t module_count;
  uint32_t edge_count;
};
__attribute__((weak)) struct secequiv_edges secequiv_edges;

/* The linker defines these bounds of the executable's counters if there are any. */
extern uint8_t __start___sancov_cntrs[] __attribute__((weak, visibility("hidden")));
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak, visibility("hidden")));

SECEQUIV_EDGE_CODE void __sanitizer_cov_8bit_counters_init(uint8_t* start, uint8_t* stop);
SECEQUIV_EDGE_CODE void secequiv_add_edges(uint8_t* start, uint8_t* stop);
SECEQUIV_EDGE_CODE uint32_t secequiv_edge_count(void);
SECEQUIV_EDGE_CODE size_t secequiv_take_edges(uint32_t* out, size_t room);

/* Adds the counters of a module once. */
void secequiv_add_edges(uint8_t* start, uint8_t* stop) {
  struct secequiv_edges* all = &secequiv_edges;
  for (size_t i = 0; i < all->module_count; ++i)
    if (all->modules[i].start == start) return;
  if (start == stop || all->module_count == SECEQUIV_MOST_MODULES ||
      (size_t)(stop - start) > SECEQUIV_MOST_EDGES - all->edge_count)
    return;
  all->modules[all->module_count].start = start;
  all->modules[all->module_count].stop = stop;
  all->modules[all->module_count++].first = all->edge_count;
  all->edge_count += (uint32_t)(stop - start);
}

/* Instrumented code calls this function. If a sanitizer's runtime is linked, the code calls the
 * empty function of that runtime instead. */
void __sanitizer_cov_8bit_counters_init(uint8_t* start, uint8_t* stop) {
  secequiv_add_edges(start, stop);
}

/* Returns the number of edges, which is 0 without the flag. */
uint32_t secequiv_edge_count(void) {
  if (__start___sancov_cntrs != NULL)
    secequiv_add_edges(__start___sancov_cntrs, __stop___sancov_cntrs);
  return secequiv_edges.edge_count;
}

/* Stores the numbers of at most `room` edges that were reached since the last call. Returns their
 * count. Precondition: secequiv_edge_count() was called. */
size_t secequiv_take_edges(uint32_t* out, size_t room) {
  struct secequiv_edges* all = &secequiv_edges;
  size_t count = 0;
  for (size_t i = 0; i < all->module_count; ++i) {
    uint32_t edge = all->modules[i].first;
    for (uint8_t* at = all->modules[i].start; at < all->modules[i].stop; ++at, ++edge) {
      if (*at != 0 && count < room) out[count++] = edge;
      *at = 0;
    }
  }
  return count;
}

#ifdef __cplusplus
}
#endif

#endif
