/* Assertions for programmer errors. Always on, in every build: a broken promise inside the
 * program stops it before it writes a wrong row. Wire data, files and database answers are
 * never asserted; they are validated and refused with an error (status.h, err.h).
 */
#ifndef CORE_BASE_ASSERT_H
#define CORE_BASE_ASSERT_H

/* Prints "file:line: assertion failed: expression" to stderr and aborts. */
_Noreturn void assert_fail(const char *expression, const char *file, int line);

#define ASSERT(expression) ((expression) ? (void)0 : assert_fail(#expression, __FILE__, __LINE__))

#endif
