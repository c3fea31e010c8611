/* Do two seccomp filters make the same decision for every possible system call? This interface
 * offers the analyses of the command line `secequiv` to programs that have filters in memory.
 *
 * Owns the stable C interface of libsecequiv.so. No function throws, aborts, prints or keeps state
 * between calls. Any thread may call any function; only one thread at a time may use a result.
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

/* Increases with each change that breaks programs built with an older header. It is also the number
 * in libsecequiv.so.N. New functions and new members at the end of secequiv_options break nothing.
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

/* The verdict of a result. With SECEQUIV_EQUIVALENT and SECEQUIV_PASS, the property holds. */
enum {
  SECEQUIV_ERROR = 0,      /* bad arguments or input; also the verdict of NULL */
  SECEQUIV_EQUIVALENT = 1, /* proven for all inputs that satisfy the assumption */
  SECEQUIV_PASS = 2,       /* the property holds; with `refines`, the filters still differ */
  SECEQUIV_DIFFERENT = 3,  /* an input shows the difference, and was replayed */
  SECEQUIV_UNKNOWN = 4,    /* time or memory ran out */
  SECEQUIV_REJECTED = 5,   /* the kernel would refuse a program */
  SECEQUIV_FAIL = 6        /* lint: a redundant rule; cache: a lost call; property: violated */
};

/* Which return values count as the same. */
enum {
  SECEQUIV_SAME_RAW = 0,       /* all 32 bits */
  SECEQUIV_SAME_BEHAVIOUR = 1, /* what a process can observe */
  /* What a process can make the kernel do: inputs that differ only in bits that the kernel ignores
     form a class, and the most permissive decisions of classes are compared. For prove and diff
     only. */
  SECEQUIV_SAME_EFFECT = 2
};

/* The engine that proves. */
enum {
  SECEQUIV_ENGINE_DD = 0, /* decision diagrams; beyond their limits the SAT engine, then Z3 */
  SECEQUIV_ENGINE_Z3 = 1,
  SECEQUIV_ENGINE_BOTH = 2, /* decision diagrams and Z3, which must agree */
  SECEQUIV_ENGINE_SAT = 3
};

/* NULL in place of the structure, and 0 or NULL in a member, select the defaults: prove all 32 bits
 * for all inputs. The structure may grow at its end. A library accepts shorter structures than its
 * own, and longer ones if the bytes that it does not know are 0. */
struct secequiv_options {
  size_t size;             /* sizeof(struct secequiv_options) */
  uint32_t same;           /* prove, diff and actions only */
  uint32_t refines;        /* 1: prove that `after` is never more permissive. prove only */
  uint32_t engine;         /* prove only */
  uint32_t any_length;     /* 1: accept more than 4096 instructions. validate only */
  double timeout_seconds;  /* 0: 60 */
  uint64_t max_memory_mib; /* 0: 1024 */
  uint64_t max_regions;    /* regions shown in total; 0: 20. diff and reach only */
  const char* assume;      /* ignore all other inputs: "nr in {read, write}". prove and diff only */
  const char* arch;        /* the host's architecture, for names; NULL: "x86_64" */
  /* Only parse and lint use the members below. */
  const char* form;         /* "raw", "raw-be", "asm", "ddd", "c"; NULL: detected */
  const char* kernel;       /* the host's kernel version, for OCI profiles; NULL: "6.1" */
  const char* capabilities; /* granted to the container, for OCI profiles: "CAP_BPF,CAP_CHOWN",
                             * "ALL" or "DOCKER"; the prefix CAP_ is optional */
  const char* filter;       /* name of the filter in a seccompiler file with several */
  /* "policy" (our own), "oci", "seccompiler", "minijail", "minijail-compiler", "pfc"; NULL:
   * detected. "minijail" reads a policy as minijail0 does, "minijail-compiler" as
   * compile_seccomp_policy.py does. */
  const char* policy_format;
};
#ifdef __cplusplus
#define SECEQUIV_OPTIONS_INIT \
  {sizeof(struct secequiv_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#else
#define SECEQUIV_OPTIONS_INIT {.size = sizeof(struct secequiv_options)}
#endif

/* A report, an error, or a program. NULL means that memory ran out; every function treats NULL as a
 * result with SECEQUIV_ERROR. */
typedef struct secequiv_result secequiv_result;

/* Return the running library's SECEQUIV_ABI_VERSION, and its version, like "0.1.0". */
SECEQUIV_API uint32_t secequiv_abi_version(void);
SECEQUIV_API const char* secequiv_version(void);

/* Reads a program in any form (raw bytes, bpf_asm text, decimals, C initializers), or reads a
 * policy and compiles it without optimization: our JSON, an OCI profile, seccompiler's JSON,
 * minijail's text, or libseccomp's pseudo filter code. Messages use `name`, which may be NULL; a
 * name that begins with '<' does not name a file. The verdict is SECEQUIV_PASS, with the program,
 * even if the kernel would refuse the program. */
SECEQUIV_API secequiv_result* secequiv_parse(const void* bytes, size_t length, const char* name,
                                             const struct secequiv_options* options);

/* The functions named secequiv_*_parsed do the same as those without this ending, on results of
 * secequiv_parse. Their messages name the lines of files. The verdict is SECEQUIV_ERROR if a result
 * has no program. */

/* Decides whether the two filters are equivalent for all inputs or, with `refines`, whether `after`
 * is never more permissive. The programs may be longer than the kernel accepts. */
SECEQUIV_API secequiv_result* secequiv_prove(const struct sock_filter* before, size_t before_length,
                                             const struct sock_filter* after, size_t after_length,
                                             const struct secequiv_options* options);
SECEQUIV_API secequiv_result* secequiv_prove_parsed(const secequiv_result* before,
                                                    const secequiv_result* after,
                                                    const struct secequiv_options* options);

/* Decides whether the filter has a property for all inputs: SECEQUIV_PASS or SECEQUIV_FAIL, with
 * the violated clauses and an input for each in the message and the document. `property` is a name
 * of the library, such as "no-ptrace", or clauses, such as "refused: ptrace\nallowed: read"; see
 * docs/reference/prove.md. Of the options for prove, `same` and `refines` do not apply. */
SECEQUIV_API secequiv_result* secequiv_prove_property(const struct sock_filter* program,
                                                      size_t length, const char* property,
                                                      const struct secequiv_options* options);
SECEQUIV_API secequiv_result* secequiv_prove_property_parsed(
    const secequiv_result* program, const char* property, const struct secequiv_options* options);

/* Finds every difference between the two. The verdict is SECEQUIV_EQUIVALENT or
 * SECEQUIV_DIFFERENT. */
SECEQUIV_API secequiv_result* secequiv_diff(const struct sock_filter* before, size_t before_length,
                                            const struct sock_filter* after, size_t after_length,
                                            const struct secequiv_options* options);
SECEQUIV_API secequiv_result* secequiv_diff_parsed(const secequiv_result* before,
                                                   const secequiv_result* after,
                                                   const struct secequiv_options* options);

/* Runs the program on the 64 bytes of a struct seccomp_data, in this machine's byte order. The
 * verdict is SECEQUIV_PASS, and secequiv_result_value gives the return value. */
SECEQUIV_API secequiv_result* secequiv_evaluate(const struct sock_filter* program, size_t length,
                                                const void* seccomp_data, size_t data_size,
                                                const struct secequiv_options* options);

/* Checks whether the kernel would accept the program: SECEQUIV_PASS or SECEQUIV_REJECTED. */
SECEQUIV_API secequiv_result* secequiv_validate(const struct sock_filter* program, size_t length,
                                                const struct secequiv_options* options);

/* The functions below analyse filters. Their JSON documents are those of the commands of the same
 * name. Their verdict is SECEQUIV_PASS unless their comment states another one. */

/* Finds out why the filter decides as it does about the 64 bytes of a struct seccomp_data. */
SECEQUIV_API secequiv_result* secequiv_why(const struct sock_filter* program, size_t length,
                                           const void* seccomp_data, size_t data_size,
                                           const struct secequiv_options* options);
SECEQUIV_API secequiv_result* secequiv_why_parsed(const secequiv_result* program,
                                                  const void* seccomp_data, size_t data_size,
                                                  const struct secequiv_options* options);

/* Finds the action of each system call, with conditions if it depends on arguments. */
SECEQUIV_API secequiv_result* secequiv_actions(const struct sock_filter* program, size_t length,
                                               const struct secequiv_options* options);

/* Counts the inputs that reach each instruction and outcome, or (for one `instruction`) divides the
 * inputs that reach it into regions. */
#define SECEQUIV_ALL_INSTRUCTIONS SIZE_MAX
SECEQUIV_API secequiv_result* secequiv_reach(const struct sock_filter* program, size_t length,
                                             size_t instruction,
                                             const struct secequiv_options* options);

/* Computes how many instructions one or two filters (`after` may be NULL) execute for each system
 * call. `profile` states how often each call is made: the output of strace -c, lines "name calls",
 * or JSON. NULL counts each call of options.arch once. */
SECEQUIV_API secequiv_result* secequiv_cost(const struct sock_filter* before, size_t before_length,
                                            const struct sock_filter* after, size_t after_length,
                                            const char* profile,
                                            const struct secequiv_options* options);

/* Finds the calls that the kernel answers from its cache, and those that `after` (may be NULL)
 * loses. The verdict is SECEQUIV_PASS, or SECEQUIV_FAIL if a call is lost. */
SECEQUIV_API secequiv_result* secequiv_cache(const struct sock_filter* before, size_t before_length,
                                             const struct sock_filter* after, size_t after_length,
                                             const struct secequiv_options* options);

/* Finds redundant and doubtful rules of a policy, which it reads as secequiv_parse does. The
 * verdict is SECEQUIV_PASS, or SECEQUIV_FAIL if a rule is redundant or, with `strict`, doubtful. */
SECEQUIV_API secequiv_result* secequiv_lint(const void* bytes, size_t length, const char* name,
                                            int strict, const struct secequiv_options* options);

/* The functions below turn a result of secequiv_parse into something else. The message of their
 * result is this text alone, without notes. Their JSON document is NULL unless there was an error.
 * The verdict is SECEQUIV_UNKNOWN if the text is right for only one meaning of a container profile:
 * libseccomp does not keep the order of entries with different actions. */

/* Writes the program in a form, as the command `dis` does: "asm" (NULL: this one), "ddd" or "c". Of
 * the options, only `arch` applies; NULL names no system calls of an untested architecture. */
SECEQUIV_API secequiv_result* secequiv_disassemble(const secequiv_result* program, const char* form,
                                                   const struct secequiv_options* options);

/* Turns the filter back into a policy, which is proven to make the same decisions. `form` is
 * "policy" (NULL: this one), "normal-form", "oci" or "text". The verdict is SECEQUIV_UNKNOWN if a
 * limit is reached, and SECEQUIV_ERROR if no policy can express the filter. */
SECEQUIV_API secequiv_result* secequiv_lift(const secequiv_result* program, const char* form,
                                            const struct secequiv_options* options);

/* Optimizes the filter with the built-in passes, and proves that the result makes the same
 * decisions. secequiv_result_program gives the optimized program; the message is its text, and the
 * notes list what the passes changed. The verdict is SECEQUIV_UNKNOWN if the proof reaches a limit.
 */
SECEQUIV_API secequiv_result* secequiv_optimize(const secequiv_result* program,
                                                const struct secequiv_options* options);

/* Writes the HTML page of `diff --html` about two results of secequiv_parse: a whole document with
 * its style and scripts. It also shows both programs and the steps of inputs that differ, but not
 * its origin. The verdict is that of secequiv_diff. */
SECEQUIV_API secequiv_result* secequiv_diff_page(const secequiv_result* before,
                                                 const secequiv_result* after,
                                                 const struct secequiv_options* options);

/* These functions return the parts of a result. The result owns everything that they return. */
SECEQUIV_API int secequiv_result_verdict(const secequiv_result* result);
/* Returns 1 for SECEQUIV_EQUIVALENT and SECEQUIV_PASS, else 0. */
SECEQUIV_API int secequiv_result_holds(const secequiv_result* result);
/* Returns the command line's text for people; each line ends with a line break. Never NULL. */
SECEQUIV_API const char* secequiv_result_message(const secequiv_result* result);
/* Returns the JSON document of the command of the same name (evaluate: `run`), or of an error. NULL
 * for a parsed program. */
SECEQUIV_API const char* secequiv_result_json(const secequiv_result* result);
/* Returns 1 if an input shows a difference. Then it stores the input's 64 bytes of struct
 * seccomp_data, in this machine's byte order, and the return values of both filters for it. Any
 * pointer may be NULL. */
SECEQUIV_API int secequiv_result_witness(const secequiv_result* result, void* seccomp_data,
                                         uint32_t* before, uint32_t* after);
/* Returns 1 if a program was evaluated, and stores its return value. */
SECEQUIV_API int secequiv_result_value(const secequiv_result* result, uint32_t* value);
/* Returns the parsed program, or NULL if there is none, and stores its number of instructions. */
SECEQUIV_API const struct sock_filter* secequiv_result_program(const secequiv_result* result,
                                                               size_t* length);
/* Returns 1 if the parsed input was a policy. */
SECEQUIV_API int secequiv_result_is_policy(const secequiv_result* result);
/* Returns notes for people, one in each line: what parsing a policy left out, and what a proof or a
 * difference does not cover. The message contains them, too. Never NULL. */
SECEQUIV_API const char* secequiv_result_notes(const secequiv_result* result);
SECEQUIV_API void secequiv_result_free(secequiv_result* result);

#ifdef __cplusplus
}
#endif

#endif
