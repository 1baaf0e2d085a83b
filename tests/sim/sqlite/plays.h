/* Files of plays: text before the first play, then "== what the play shows" and its lines. */
#ifndef TESTS_SIM_SQLITE_PLAYS_H
#define TESTS_SIM_SQLITE_PLAYS_H

#include <stddef.h>

struct play_text {
    char *title;
    char *lines;
};
struct play_file {
    struct play_text *plays;
    size_t count;
    char *memory;
};

/* Of a path relative to the root of the repository; ends the program when it cannot be read. */
struct play_file play_file_read(const char *path);
void play_file_free(struct play_file *file);

#endif
