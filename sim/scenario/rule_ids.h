/* The rules that a scenario may cite. Generated from core/CONTRACT.md at build, in its order. */
#ifndef SIM_SCENARIO_RULE_IDS_H
#define SIM_SCENARIO_RULE_IDS_H

#include <stddef.h>

extern const char *const rule_ids[];
extern const size_t rule_id_count;

#endif
