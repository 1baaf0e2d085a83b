/* The end of a program that broke its own promise. */
#include "core/base/assert.h"
#include <stdio.h>
#include <stdlib.h>

void assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
    abort();
}
