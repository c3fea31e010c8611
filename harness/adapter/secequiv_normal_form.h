/* Reads the policies that secequiv sends to compilers under test: numbers only, and each rule as
 * alternatives of conjunctions (harness/adapter/PROTOCOL.md). Owns the reader, which is one file
 * for C and C++ and needs nothing else. It must not know how policies are compiled. */
#ifndef SECEQUIV_NORMAL_FORM_H
#define SECEQUIV_NORMAL_FORM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum secequiv_op {
  SECEQUIV_EQ,
  SECEQUIV_NE,
  SECEQUIV_GT,
  SECEQUIV_GE,
  SECEQUIV_LT,
  SECEQUIV_LE,
  SECEQUIV_MASKED_EQ /* field & mask == value */
};
enum { SECEQUIV_INSTRUCTION_POINTER = 6 }; /* the field after the six arguments */

/* An unsigned test of a field or its low 32 bits. Except for MASKED_EQ, the mask is all ones. */
struct secequiv_condition {
  int field, bits;
  enum secequiv_op op;
  uint64_t mask, value;
};
/* All conditions must hold. A conjunction without conditions always holds. */
struct secequiv_conjunction {
  struct secequiv_condition* conditions;
  size_t count;
};
/* Matches a call if at least one conjunction holds. An empty conjunction is the only one. */
struct secequiv_rule {
  uint32_t action, audit, nr;
  struct secequiv_conjunction* any_of;
  size_t count;
};
struct secequiv_arch {
  uint32_t audit; /* AUDIT_ARCH_* */
  int big_endian;
};
/* All system calls from `first` to `last`. */
struct secequiv_range {
  uint32_t audit, first, last, action;
};
struct secequiv_call {
  uint32_t audit, nr;
};
/* The first matching range decides, then the first matching rule. */
struct secequiv_policy {
  uint32_t default_action, bad_arch_action;
  struct secequiv_arch* arches;
  struct secequiv_range* ranges;
  struct secequiv_call* hot; /* frequent calls */
  struct secequiv_rule* rules;
  size_t arch_count, range_count, hot_count, rule_count;
};

/* The functions and types up to secequiv_free_policy are not for callers. */

struct secequiv_reader_ {
  const char *at, *end;
  int failed;
};

static inline void secequiv_blank_(struct secequiv_reader_* r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
    ++r->at;
}

static inline int secequiv_take_(struct secequiv_reader_* r, const char* text) {
  const size_t size = strlen(text);
  secequiv_blank_(r);
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0) return 0;
  r->at += size;
  return 1;
}

static inline void secequiv_expect_(struct secequiv_reader_* r, const char* text) {
  if (!secequiv_take_(r, text)) r->failed = 1;
}

static inline uint64_t secequiv_number_(struct secequiv_reader_* r, uint64_t most) {
  uint64_t value = 0;
  secequiv_blank_(r);
  if (r->at == r->end || *r->at < '0' || *r->at > '9') r->failed = 1;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at) {
    const uint64_t digit = (uint64_t)(*r->at - '0');
    if (digit > most || value > (most - digit) / 10) r->failed = 1;
    value = value * 10 + digit;
  }
  return value;
}

static inline void secequiv_skip_text_(struct secequiv_reader_* r) {
  secequiv_expect_(r, "\"");
  while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' && r->end - r->at > 1 ? 2 : 1;
  secequiv_expect_(r, "\"");
}

static inline int secequiv_word_(struct secequiv_reader_* r, const char* const* words, int count) {
  for (int i = 0; i < count; ++i)
    if (secequiv_take_(r, words[i])) return i;
  r->failed = 1;
  return 0;
}

/* Makes room for another element, which is cleared, and returns the list. */
static inline void* secequiv_add_(struct secequiv_reader_* r, void* list, size_t* count,
                                  size_t size) {
  if ((*count & (*count - 1)) == 0) { /* full: the room doubles */
    void* more = realloc(list, (*count == 0 ? 1 : 2 * *count) * size);
    if (more == NULL) {
      r->failed = 1;
      return list;
    }
    list = more;
  }
  memset((char*)list + (*count)++ * size, 0, size);
  return list;
}

/* Reads an object with exactly these members; `member(r, into, i)` reads the value of the i-th. */
static inline void secequiv_object_(struct secequiv_reader_* r, void* into,
                                    const char* const* names, int count,
                                    void (*member)(struct secequiv_reader_*, void*, int)) {
  uint64_t seen = 0;
  secequiv_expect_(r, "{");
  do {
    const int i = secequiv_word_(r, names, count);
    if ((seen >> i & 1) != 0) r->failed = 1;
    secequiv_expect_(r, ":");
    if (!r->failed) member(r, into, i);
    seen |= (uint64_t)1 << i;
  } while (!r->failed && secequiv_take_(r, ","));
  secequiv_expect_(r, "}");
  if (seen != ((uint64_t)1 << count) - 1) r->failed = 1;
}

/* Reads a list and returns it; `item(r, element)` reads each element of `size` bytes. */
static inline void* secequiv_list_(struct secequiv_reader_* r, size_t* count, size_t size,
                                   void (*item)(struct secequiv_reader_*, void*)) {
  void* list = NULL;
  secequiv_expect_(r, "[");
  if (r->failed || secequiv_take_(r, "]")) return list;
  do {
    list = secequiv_add_(r, list, count, size);
    if (!r->failed) item(r, (char*)list + (*count - 1) * size);
  } while (!r->failed && secequiv_take_(r, ","));
  secequiv_expect_(r, "]");
  return list;
}

static inline void secequiv_condition_(struct secequiv_reader_* r, void* into, int member) {
  static const char* const kOps[] = {"\"eq\"", "\"ne\"", "\"gt\"",       "\"ge\"",
                                     "\"lt\"", "\"le\"", "\"masked_eq\""};
  struct secequiv_condition* out = (struct secequiv_condition*)into;
  switch (member) {
    case 0:
      out->field = (int)secequiv_number_(r, SECEQUIV_INSTRUCTION_POINTER);
      break;
    case 1:
      out->bits = (int)secequiv_number_(r, 64);
      if (out->bits != 32 && out->bits != 64) r->failed = 1;
      break;
    case 2:
      out->op = (enum secequiv_op)secequiv_word_(r, kOps, 7);
      break;
    case 3:
      out->mask = secequiv_number_(r, UINT64_MAX);
      break;
    default:
      out->value = secequiv_number_(r, UINT64_MAX);
  }
}

static inline void secequiv_read_condition_(struct secequiv_reader_* r, void* into) {
  static const char* const kNames[] = {"\"field\"", "\"bits\"", "\"op\"", "\"mask\"", "\"value\""};
  const struct secequiv_condition* out = (const struct secequiv_condition*)into;
  secequiv_object_(r, into, kNames, 5, secequiv_condition_);
  if (out->bits == 32 && ((out->mask | out->value) >> 32) != 0) r->failed = 1;
}

static inline void secequiv_read_conjunction_(struct secequiv_reader_* r, void* into) {
  struct secequiv_conjunction* out = (struct secequiv_conjunction*)into;
  out->conditions = (struct secequiv_condition*)secequiv_list_(
      r, &out->count, sizeof *out->conditions, secequiv_read_condition_);
}

static inline void secequiv_rule_(struct secequiv_reader_* r, void* into, int member) {
  struct secequiv_rule* out = (struct secequiv_rule*)into;
  uint32_t* const numbers[] = {&out->action, &out->audit, &out->nr};
  if (member < 3)
    *numbers[member] = (uint32_t)secequiv_number_(r, UINT32_MAX);
  else
    out->any_of = (struct secequiv_conjunction*)secequiv_list_(r, &out->count, sizeof *out->any_of,
                                                               secequiv_read_conjunction_);
}

static inline void secequiv_read_rule_(struct secequiv_reader_* r, void* into) {
  static const char* const kNames[] = {"\"action\"", "\"audit\"", "\"nr\"", "\"any_of\""};
  secequiv_object_(r, into, kNames, 4, secequiv_rule_);
}

static inline void secequiv_arch_(struct secequiv_reader_* r, void* into, int member) {
  static const char* const kTruths[] = {"false", "true"};
  struct secequiv_arch* out = (struct secequiv_arch*)into;
  if (member == 0)
    secequiv_skip_text_(r);
  else if (member == 1)
    out->audit = (uint32_t)secequiv_number_(r, UINT32_MAX);
  else
    out->big_endian = secequiv_word_(r, kTruths, 2);
}

static inline void secequiv_read_arch_(struct secequiv_reader_* r, void* into) {
  static const char* const kNames[] = {"\"name\"", "\"audit\"", "\"big_endian\""};
  secequiv_object_(r, into, kNames, 3, secequiv_arch_);
}

/* Ranges and calls consist of 32-bit numbers only. */
static inline void secequiv_word32_(struct secequiv_reader_* r, void* into, int member) {
  ((uint32_t*)into)[member] = (uint32_t)secequiv_number_(r, UINT32_MAX);
}

static inline void secequiv_read_range_(struct secequiv_reader_* r, void* into) {
  static const char* const kNames[] = {"\"audit\"", "\"first\"", "\"last\"", "\"action\""};
  secequiv_object_(r, into, kNames, 4, secequiv_word32_);
}

static inline void secequiv_read_call_(struct secequiv_reader_* r, void* into) {
  static const char* const kNames[] = {"\"audit\"", "\"nr\""};
  secequiv_object_(r, into, kNames, 2, secequiv_word32_);
}

static inline void secequiv_policy_(struct secequiv_reader_* r, void* into, int member) {
  struct secequiv_policy* out = (struct secequiv_policy*)into;
  switch (member) {
    case 0:
      if (secequiv_number_(r, UINT32_MAX) != 1) r->failed = 1;
      break;
    case 1:
      secequiv_skip_text_(r);
      break;
    case 2:
      out->default_action = (uint32_t)secequiv_number_(r, UINT32_MAX);
      break;
    case 3:
      out->bad_arch_action = (uint32_t)secequiv_number_(r, UINT32_MAX);
      break;
    case 4:
      out->arches = (struct secequiv_arch*)secequiv_list_(r, &out->arch_count, sizeof *out->arches,
                                                          secequiv_read_arch_);
      break;
    case 5:
      out->ranges = (struct secequiv_range*)secequiv_list_(
          r, &out->range_count, sizeof *out->ranges, secequiv_read_range_);
      break;
    case 6:
      out->hot = (struct secequiv_call*)secequiv_list_(r, &out->hot_count, sizeof *out->hot,
                                                       secequiv_read_call_);
      break;
    default:
      out->rules = (struct secequiv_rule*)secequiv_list_(r, &out->rule_count, sizeof *out->rules,
                                                         secequiv_read_rule_);
  }
}

/* Releases a policy's memory. */
static inline void secequiv_free_policy(struct secequiv_policy* policy) {
  for (size_t i = 0; i < policy->rule_count; ++i) {
    for (size_t j = 0; j < policy->rules[i].count; ++j) free(policy->rules[i].any_of[j].conditions);
    free(policy->rules[i].any_of);
  }
  free(policy->rules);
  free(policy->hot);
  free(policy->ranges);
  free(policy->arches);
  memset(policy, 0, sizeof *policy);
}

/* Reads the `size` bytes of `text`. Returns 0 for success; the caller then releases the policy.
 * Otherwise it returns 1 plus the offset at which the text is not a policy in normal form. */
static inline size_t secequiv_read_policy(const char* text, size_t size,
                                          struct secequiv_policy* policy) {
  static const char* const kNames[] = {
      "\"normal_form\"", "\"name\"", "\"default_action\"", "\"bad_arch_action\"", "\"arches\"",
      "\"ranges\"",      "\"hot\"",  "\"rules\""};
  struct secequiv_reader_ reader = {text, text + size, 0};
  memset(policy, 0, sizeof *policy);
  secequiv_object_(&reader, policy, kNames, 8, secequiv_policy_);
  secequiv_blank_(&reader);
  if (reader.at != reader.end || policy->arch_count == 0) reader.failed = 1;
  if (!reader.failed) return 0;
  secequiv_free_policy(policy);
  return 1 + (size_t)(reader.at - text);
}

#ifdef __cplusplus
}
#endif

#endif
