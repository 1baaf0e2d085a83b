/* The same random plays on the overlay and on PostgreSQL 15, step by step (README.md).
 *
 * The overlay goes first: its scheduler picks by the seed, and every step is written down.
 * PostgreSQL then does the same steps in the same order, each backend stopped while it waits, and
 * must give the same results, waits, grants and SQLSTATEs.
 */
#ifndef TESTS_SIM_SQLITE_DIFFERENTIAL_H
#define TESTS_SIM_SQLITE_DIFFERENTIAL_H

#include "tests/sim/sqlite/ops.h"

#define ACTORS    4
#define STEPS_MAX 1024

/* One turn of one actor: it starts an op, or goes on after a wait. */
struct turn {
    int actor;
    bool resumes;
    bool waits; /* else it is done and result counts */
    struct op op;
    unsigned granted; /* actors whose wait this turn ended, one bit each */
    char result[512];
};

struct play {
    struct turn turns[STEPS_MAX];
    size_t count;
};

/* mix: which ops are drawn, 0..MIX_COUNT-1. */
#define MIX_COUNT 7
const char *mix_name(int mix);
/* Plays seed on the overlay and writes down the turns, the waits it ends among them. */
void play_overlay(uint64_t seed, int mix, struct play *play);

/* The turns that a transcript (stage.h) tells of; false for one that a database cannot play. */
bool play_read(const char *lines, struct play *play);

/* conninfo: of a private cluster; the schema is created. */
void postgres_open(const char *conninfo);
/* Replays; false when PostgreSQL did something else, said in explanation. random: the play starts
 * from the rows of random plays, else from the empty schema of plays in files. */
bool postgres_replay(const struct play *play, bool random, char *explanation, size_t size);
void postgres_close(void);

#endif
