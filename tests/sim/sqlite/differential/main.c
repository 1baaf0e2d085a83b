/* usage: differential CONNINFO FIRST_SEED LAST_SEED [MIX]   exit 1 when a play differs */
#include "tests/sim/sqlite/differential/differential.h"
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: differential CONNINFO FIRST_SEED LAST_SEED [MIX]\n");
        return 2;
    }
    static struct play play;
    unsigned long first = strtoul(argv[2], NULL, 10);
    unsigned long last = strtoul(argv[3], NULL, 10);
    unsigned long turns = 0, waits = 0, deadlocks = 0, different = 0;
    postgres_open(argv[1]);
    for (unsigned long seed = first; seed <= last; seed++) {
        char explanation[512];
        int mix = argc > 4 ? atoi(argv[4]) : (int)(seed % MIX_COUNT);
        play_overlay(seed, mix, &play);
        for (size_t i = 0; i < play.count; i++) {
            waits += play.turns[i].waits;
            deadlocks += play.turns[i].result[0] == '4' && play.turns[i].result[2] == 'P';
        }
        turns += play.count;
        if (postgres_replay(&play, explanation, sizeof explanation))
            continue;
        different++;
        printf("seed %lu, mix %s: %s\n", seed, mix_name(mix), explanation);
        if (first == last)
            print_play(&play);
    }
    postgres_close();
    printf("seeds %lu..%lu: %lu turns, %lu waits, %lu deadlocks; %lu plays differ\n", first, last,
           turns, waits, deadlocks, different);
    return different > 0;
}
