/* Compares overlay and PostgreSQL; exit 1 when a play differs. Usage: below, and README.md. */
#include "tests/sim/sqlite/differential/differential.h"
#include "tests/sim/sqlite/plays.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_play(const struct play *play)
{
    for (size_t i = 0; i < play->count; i++) {
        const struct turn *turn = &play->turns[i];
        char op[64];
        op_print(&turn->op, op);
        printf("%4zu %c %s%s: %s", i, 'a' + turn->actor, turn->resumes ? "goes on: " : "", op,
               turn->result);
        if (turn->granted)
            printf(" (grants %x)", turn->granted);
        printf("\n");
    }
}

/* Every play of the files on PostgreSQL alone: are the transcripts true? */
static unsigned long check_files(int count, char **paths)
{
    static struct play play;
    unsigned long plays = 0, different = 0;
    for (int i = 0; i < count; i++) {
        struct play_file file = play_file_read(paths[i]);
        for (size_t j = 0; j < file.count; j++) {
            char explanation[512];
            if (!play_read(file.plays[j].lines, &play))
                continue;
            plays++;
            if (postgres_replay(&play, false, explanation, sizeof explanation))
                continue;
            different++;
            printf("%s: %s: %s\n", paths[i], file.plays[j].title, explanation);
        }
        play_file_free(&file);
    }
    printf("%lu plays of %d files, %lu differ\n", plays, count, different);
    return different;
}

static unsigned long check_seeds(unsigned long first, unsigned long last, int only_mix)
{
    static struct play play;
    unsigned long turns = 0, waits = 0, deadlocks = 0, different = 0;
    for (unsigned long seed = first; seed <= last; seed++) {
        char explanation[512];
        int mix = only_mix >= 0 ? only_mix : (int)(seed % MIX_COUNT);
        play_overlay(seed, mix, &play);
        for (size_t i = 0; i < play.count; i++) {
            waits += play.turns[i].waits;
            deadlocks += strcmp(play.turns[i].result, "40P01") == 0;
        }
        turns += play.count;
        if (postgres_replay(&play, true, explanation, sizeof explanation))
            continue;
        different++;
        printf("seed %lu, mix %s: %s\n", seed, mix_name(mix), explanation);
        if (first == last)
            print_play(&play);
    }
    printf("seeds %lu..%lu: %lu turns, %lu waits, %lu deadlocks; %lu plays differ\n", first, last,
           turns, waits, deadlocks, different);
    return different;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: differential CONNINFO FIRST_SEED LAST_SEED [MIX]\n"
                        "       differential CONNINFO plays FILE...\n");
        return 2;
    }
    postgres_open(argv[1]);
    unsigned long different;
    if (strcmp(argv[2], "plays") == 0)
        different = check_files(argc - 3, argv + 3);
    else
        different = check_seeds(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10),
                                argc > 4 ? atoi(argv[4]) : -1);
    postgres_close();
    return different > 0;
}
