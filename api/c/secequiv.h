/* Do two seccomp filters make the same decision for every possible system call? The question of
 * the command line `secequiv` for programs that have filters in memory.
 *
 * Owns the stable C interface of libsecequiv.so. Nothing here throws, aborts, prints or keeps state
 * between calls; any function may be called from any thread, a result from one thread at a time.
 *
 *   struct secequiv_options options = SECEQUIV_OPTIONS_INIT;
 *   secequiv_result *r = secequiv_prove(before, before_length, after, after_length, &options);
 *   if (!secequiv_result_holds(r)) fputs(secequiv_result_message(r), stderr);
 *   secequiv_result_free(r);
 */
#ifndef SECEQUIV_H
#define SECEQUIV_H

#include <stddef.h>
#include <stdint.h>

/* Increases with a change that breaks programs built with an older header; also the number in
 * libsecequiv.so.N. New functions and new members at the end of secequiv_options do not break any.
 */
#define SECEQUIV_ABI_VERSION 1

#if defined(__GNUC__)
#define SECEQUIV_API __attribute__((visibility("default")))
#else
#define SECEQUIV_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* linux/filter.h: 8 bytes, { uint16_t code; uint8_t jt, jf; uint32_t k; }. Arrays of it need not be
 * aligned. */
struct sock_filter;

/* The verdict of a result. Only SECEQUIV_EQUIVALENT and SECEQUIV_PASS are good news. */
enum {
  SECEQUIV_ERROR = 0,      /* bad arguments or input; also the verdict of NULL */
  SECEQUIV_EQUIVALENT = 1, /* proven for all inputs that the assumption leaves */
  SECEQUIV_PASS = 2,       /* holds; prove with `refines`: holds, but the two are not the same */
  SECEQUIV_DIFFERENT = 3,  /* an input shows the difference; it was run */
  SECEQUIV_UNKNOWN = 4,    /* time or memory ran out */
  SECEQUIV_REJECTED = 5,   /* the kernel would refuse a program */
  SECEQUIV_FAIL = 6        /* lint found redundant rules; cache: calls are lost */
};

/* Which return values count as the same. */
enum {
  SECEQUIV_SAME_RAW = 0,      /* all 32 bits */
  SECEQUIV_SAME_BEHAVIOUR = 1 /* what a process can observe */
};

/* The engine that proves. */
enum {
  SECEQUIV_ENGINE_DD = 0, /* decision diagrams, Z3 when their limits are reached */
  SECEQUIV_ENGINE_Z3 = 1,
  SECEQUIV_ENGINE_BOTH = 2 /* both, which must agree */
};

/* NULL in place of the structure, and 0 or NULL in a member, select the defaults: prove all 32 bits
 * for all inputs. The structure may grow at its end: a library accepts shorter ones than its own,
 * and longer ones if the bytes that it does not know are 0. */
struct secequiv_options {
  size_t size; /* sizeof(struct secequiv_options) */
  uint32_t same;
  uint32_t refines;        /* 1: prove that `after` is never more permissive. prove only */
  uint32_t engine;         /* prove only */
  uint32_t any_length;     /* 1: more than 4096 instructions are accepted. validate only */
  double timeout_seconds;  /* 0: 60 */
  uint64_t max_memory_mib; /* 0: 1024 */
  uint64_t max_regions;    /* of each change, 0: 20. diff and reach only */
  const char* assume;      /* only these inputs count: "arch == x86_64 && nr in {read, write}" */
  const char* arch;        /* of the host, for names: "x86_64" if NULL */
  /* The members below: parse and lint only. */
  const char* form;         /* "raw", "raw-be", "asm", "ddd", "c"; by content if NULL */
  const char* kernel;       /* of the host, for OCI profiles: "6.1" if NULL */
  const char* capabilities; /* granted to the container, for OCI profiles: "CAP_BPF,CAP_CHOWN" */
  const char* filter;       /* which, by name, of several filters in one file of seccompiler's */
  /* "policy" (our own), "oci", "seccompiler", "minijail", "minijail-compiler", "pfc"; by content if
   * NULL. minijail's text has two readings: minijail0's and compile_seccomp_policy.py's. */
  const char* policy_format;
};
#ifdef __cplusplus
#define SECEQUIV_OPTIONS_INIT \
  {sizeof(struct secequiv_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#else
#define SECEQUIV_OPTIONS_INIT {.size = sizeof(struct secequiv_options)}
#endif

/* A report, an error, or a program. NULL means that there was no memory for one; every function
 * takes it as SECEQUIV_ERROR. */
typedef struct secequiv_result secequiv_result;

/* The running library: its SECEQUIV_ABI_VERSION, and its version, "0.1.0". */
SECEQUIV_API uint32_t secequiv_abi_version(void);
SECEQUIV_API const char* secequiv_version(void);

/* A program in any form (raw bytes, bpf_asm text, decimals, C initializers), or a policy, which is
 * compiled without optimization: ours, an OCI profile or seccompiler's (JSON), minijail's text,
 * libseccomp's pseudo filter code. `name` stands for it in messages; may be NULL. SECEQUIV_PASS,
 * with the program, even if the kernel would refuse it. */
SECEQUIV_API secequiv_result* secequiv_parse(const void* bytes, size_t length, const char* name,
                                             const struct secequiv_options* options);

/* Are the two the same, or does `after` refine `before`, for all inputs? A program may be longer
 * than the kernel takes. */
SECEQUIV_API secequiv_result* secequiv_prove(const struct sock_filter* before, size_t before_length,
                                             const struct sock_filter* after, size_t after_length,
                                             const struct secequiv_options* options);

/* Finds every difference between the two: SECEQUIV_EQUIVALENT or SECEQUIV_DIFFERENT. */
SECEQUIV_API secequiv_result* secequiv_diff(const struct sock_filter* before, size_t before_length,
                                            const struct sock_filter* after, size_t after_length,
                                            const struct secequiv_options* options);

/* Runs the program on the 64 bytes of a struct seccomp_data, in this machine's byte order:
 * SECEQUIV_PASS, with secequiv_result_value. */
SECEQUIV_API secequiv_result* secequiv_evaluate(const struct sock_filter* program, size_t length,
                                                const void* seccomp_data, size_t data_size,
                                                const struct secequiv_options* options);

/* Would the kernel accept it? SECEQUIV_PASS or SECEQUIV_REJECTED. */
SECEQUIV_API secequiv_result* secequiv_validate(const struct sock_filter* program, size_t length,
                                                const struct secequiv_options* options);

/* The functions below analyse filters; their documents are those of the commands of the same name.
 * SECEQUIV_PASS unless said otherwise. */

/* Why the filter decides as it does about the 64 bytes of a struct seccomp_data. */
SECEQUIV_API secequiv_result* secequiv_why(const struct sock_filter* program, size_t length,
                                           const void* seccomp_data, size_t data_size,
                                           const struct secequiv_options* options);

/* Which system calls get which action, whatever their arguments are. */
SECEQUIV_API secequiv_result* secequiv_actions(const struct sock_filter* program, size_t length,
                                               const struct secequiv_options* options);

/* Which inputs reach each instruction; or one instruction, with regions of inputs. */
#define SECEQUIV_ALL_INSTRUCTIONS SIZE_MAX
SECEQUIV_API secequiv_result* secequiv_reach(const struct sock_filter* program, size_t length,
                                             size_t instruction,
                                             const struct secequiv_options* options);

/* How many instructions one filter executes for each system call, or two (`after` may be NULL).
 * `profile`: how often each call is made (what strace -c prints, lines "name calls", or JSON);
 * NULL: each call of options.arch once. */
SECEQUIV_API secequiv_result* secequiv_cost(const struct sock_filter* before, size_t before_length,
                                            const struct sock_filter* after, size_t after_length,
                                            const char* profile,
                                            const struct secequiv_options* options);

/* Which calls the kernel answers from its cache, and which of them `after` (may be NULL) loses:
 * SECEQUIV_PASS, or SECEQUIV_FAIL if any is lost. */
SECEQUIV_API secequiv_result* secequiv_cache(const struct sock_filter* before, size_t before_length,
                                             const struct sock_filter* after, size_t after_length,
                                             const struct secequiv_options* options);

/* Redundant and doubtful rules of a policy, which is read as secequiv_parse reads it:
 * SECEQUIV_PASS, or SECEQUIV_FAIL if a rule is redundant or, with `strict`, doubtful. */
SECEQUIV_API secequiv_result* secequiv_lint(const void* bytes, size_t length, const char* name,
                                            int strict, const struct secequiv_options* options);

/* The parts of a result; what they return belongs to it. */
SECEQUIV_API int secequiv_result_verdict(const secequiv_result* result);
/* 1 for SECEQUIV_EQUIVALENT and SECEQUIV_PASS. */
SECEQUIV_API int secequiv_result_holds(const secequiv_result* result);
/* The command line's text for people: lines, each with a line break. Never NULL. */
SECEQUIV_API const char* secequiv_result_message(const secequiv_result* result);
/* The JSON document of the command of the same name (evaluate: `run`), or of an error; NULL for a
 * parsed program. */
SECEQUIV_API const char* secequiv_result_json(const secequiv_result* result);
/* 1 if an input shows a difference: its 64 bytes of struct seccomp_data, in this
 * machine's byte order, and what the two return for it. Any pointer may be NULL. */
SECEQUIV_API int secequiv_result_witness(const secequiv_result* result, void* seccomp_data,
                                         uint32_t* before, uint32_t* after);
/* 1 if a program was evaluated: what it returned. */
SECEQUIV_API int secequiv_result_value(const secequiv_result* result, uint32_t* value);
/* The program that was parsed and how many instructions it has; NULL if there is none. */
SECEQUIV_API const struct sock_filter* secequiv_result_program(const secequiv_result* result,
                                                               size_t* length);
/* 1 if what was parsed was a policy. */
SECEQUIV_API int secequiv_result_is_policy(const secequiv_result* result);
SECEQUIV_API void secequiv_result_free(secequiv_result* result);

#ifdef __cplusplus
}
#endif

#endif
