/* The command line: one file a command, one table of commands (main.c). Results go to stdout,
 * trouble to stderr. Exit codes (DESIGN 8): 0 good; 1 a golden, expectation or invariant fell, or
 * ingest refused something; 2 usage, input or scenario error; 3 a dependency is missing, a database
 * is locked, or something was not judged; 4 nondeterminism; 5 internal, or the output could not be
 * written.
 */
#ifndef SIM_CLI_CLI_H
#define SIM_CLI_CLI_H

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METERSIM_VERSION "0.2.0"

enum exit_code { EXIT_GOOD, EXIT_FELL, EXIT_USAGE, EXIT_MISSING, EXIT_UNSTABLE, EXIT_INTERNAL };

struct command {
    const char *name;
    const char *arguments; /* "[PATH...] [--seed N|A..B]" */
    const char *summary;
    enum exit_code (*main)(int argc, char **argv); /* argv[0] is the command's name */
    const char *details;                           /* the options, one a line; may be "" */
};
extern const struct command commands[];
extern const size_t command_count;

enum exit_code command_run(int argc, char **argv);
enum exit_code command_ingest(int argc, char **argv);
enum exit_code command_jobs(int argc, char **argv);
enum exit_code command_query(int argc, char **argv);
enum exit_code command_bench(int argc, char **argv);
enum exit_code command_fmt(int argc, char **argv);
enum exit_code command_doctor(int argc, char **argv);

/* Options come as --name VALUE or --name=VALUE, words in any order; "--" ends options. */
struct option {
    const char *name;   /* "--seed" */
    const char **value; /* where the value goes; NULL for a flag */
    bool *flag;
};
/* Moves what is no option to the front of argv; *words is their number (argv[0] left out, they
 * stand at argv[1..]). Prints the trouble, with the nearest option, and returns EXIT_USAGE. */
enum exit_code options_parse(int argc, char **argv, const struct option *options, size_t count,
                             int *words);

/* "metersim: message" and the hint on stderr. */
void complain(const struct err *err);
/* A usage error: prints it with the command's usage line; returns EXIT_USAGE. */
enum exit_code usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An integer in decimal, whole; false otherwise. */
bool parse_int(const char *text, int64_t *value);

#endif
