/* Inside sim/scenario: how statements become text again.
 *
 * A statement is put together from words. Between two words stands a space (put), or a place where
 * the line may break (option), or must (line); behind a time stands the column at which a block of
 * events is aligned (align). Once a statement is whole, print.c lays it out.
 */
#ifndef SIM_SCENARIO_PRINTER_H
#define SIM_SCENARIO_PRINTER_H

#include "sim/scenario/scenario.h"

struct printer {
    const struct scenario *scenario;
    struct arena *arena;
    char *text; /* all that is printed so far, then the statement in hand */
    size_t size;
    size_t capacity;
    size_t statement; /* where the statement in hand begins */
    char gap;         /* what stands before the next word; 0: nothing */
    bool no_memory;
};

void printer_put(struct printer *printer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The next word may stand on a new line. */
void printer_option(struct printer *printer);
/* The next word stands on a new line, indented. */
void printer_line(struct printer *printer);
/* The next word stands in the column of the block. */
void printer_align(struct printer *printer);

/* No gap before the next word. */
void printer_join(struct printer *printer);
/* A space before the next word again. */
void printer_part(struct printer *printer);

void printer_put_text(struct printer *printer, struct bytes text);   /* "..." */
void printer_put_string(struct printer *printer, const char *text);  /* "..." */
void printer_put_value(struct printer *printer, struct bytes value); /* - GET "a b" */
void printer_put_number(struct printer *printer, double number);
void printer_put_double(struct printer *printer, double number); /* never read as an integer: 1.0 */
void printer_put_hex(struct printer *printer, struct bytes bytes); /* "0aff" */
void printer_put_duration(struct printer *printer, int64_t ns);    /* with '-' below 0 */
void printer_put_moment(struct printer *printer, struct moment moment);
void printer_put_request(struct printer *printer, const struct scenario_request *request);
void printer_put_partition(struct printer *printer, struct scenario_partition partition);
const char *printer_tenant(const struct printer *printer, int tenant);

/* Each puts one statement, without its comment. */
void print_header(struct printer *printer, const struct scenario_item *item);
void print_declaration(struct printer *printer, const struct scenario_item *item);
void print_event(struct printer *printer, const struct scenario_event *event);
void print_fault(struct printer *printer, const struct scenario_fault *fault);
void print_expect(struct printer *printer, const struct scenario_expect *expect);
/* The expectation without its answer. */
void print_expected(struct printer *printer, const struct scenario_expect *expect);
void print_sends(struct printer *printer, const struct scenario_event *event);

#endif
