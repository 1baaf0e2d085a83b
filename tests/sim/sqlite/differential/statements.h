#ifndef TESTS_SIM_SQLITE_STATEMENTS_H
#define TESTS_SIM_SQLITE_STATEMENTS_H

enum answer { ANSWER_OK, ANSWER_COUNT, ANSWER_ROWS };

struct statement {
    const char *name; /* of the op (ops.h) */
    enum answer answer;
    const char *sql;
};
extern const struct statement statements[];
extern const int statement_count;

#endif
