/* Text as JSON. */
#ifndef SIM_BASE_JSON_H
#define SIM_BASE_JSON_H

#include <stdio.h>

/* A JSON string with quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
void json_write_text(FILE *out, const char *text);

#endif
