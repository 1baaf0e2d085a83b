/* The model's tables against a store's, row by row, through the store's own Dump queries. */
#ifndef TESTS_SIM_REF_COMPARE_H
#define TESTS_SIM_REF_COMPARE_H

#include "core/store/store.h"
#include "sim/ref/ref.h"

/* Empty when every table is equal; otherwise the first difference, as two lines of text. */
const char *compare_tables(struct ref *ref, struct store *store);

#endif
