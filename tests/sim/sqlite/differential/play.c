/* Random plays on the overlay. */
#include "core/base/assert.h"
#include "sim/base/prng.h"
#include "sim/sqlite/overlay.h"
#include "tests/sim/sqlite/differential/differential.h"
#include <stdio.h>
#include <string.h>

struct weight {
    const char *op; /* with % for a random number: %k key, %t time, %n 1..3, %d day */
    int weight;
};
struct mix {
    const char *name;
    struct weight weights[32];
};

#define READS                                                                                      \
    {"dumppending", 1}, {"dumpwarn", 1}, {"dumpminute", 1}, {"dumphourly", 1},                     \
    {                                                                                              \
        "dumpstate", 1                                                                             \
    }
static const struct mix mixes[MIX_COUNT] = {
    {"rows",
     {{"mark %k %t", 4},
      {"record %k %t", 2},
      {"warn %k %n", 4},
      {"seen %k %t", 2},
      {"route %k %d", 1},
      {"claim %n", 3},
      {"state %k %t %p", 4},
      {"states %k", 2},
      READS}},
    {"ranges",
     {{"record %k %t", 4},
      {"seen %k %t", 3},
      {"state %k %t 0", 3},
      {"prunededup %t", 3},
      {"prunestate %t", 3},
      {"pruneseen %t", 3},
      {"pruneroutes %d", 1},
      {"route %k %d", 2},
      {"dumpdedup", 1},
      {"dumpseen", 1},
      {"dumproutes", 1},
      {"dumpstate", 1}}},
    {"rollup",
     {{"minute %k %n", 6},
      {"mark %k %t", 3},
      {"claim %n", 2},
      {"delhour %k", 3},
      {"rollhour %k", 4},
      {"delday", 1},
      {"rollday", 2},
      {"drift %t", 2},
      {"dumpdaily", 1},
      READS}},
    {"advisory",
     {{"shared %k", 5},
      {"exclusive %k", 4},
      {"try %k", 4},
      {"warn %k 1", 3},
      {"mark %k %t", 2},
      {"dumpwarn", 1}}},
    {"partitions",
     {{"minute %k %n", 6},
      {"lockminutes", 2},
      {"lockminutes dropminute %d", 2},
      {"lockminutes createminute %d", 2},
      {"listminutes", 2},
      {"dumpminute", 2},
      {"rollhour %k", 2},
      {"delhour %k", 1},
      {"lockhours", 1},
      {"warn %k 1", 1}}},
    {"purge",
     {{"minute %k %n", 3},
      {"mark %k %t", 2},
      {"warn %k %n", 2},
      {"seen %k %t", 2},
      {"state %k %t 0", 2},
      {"removed", 3},
      {"tenant 1", 2},
      {"tenant 0", 1},
      {"purge 0", 2},
      {"purge 1", 2},
      {"claim %n", 1},
      READS}},
    {"all", {{"minute %k %n", 3},  {"mark %k %t", 3},
             {"record %k %t", 2},  {"warn %k %n", 2},
             {"seen %k %t", 2},    {"state %k %t %p", 2},
             {"route %k %d", 1},   {"claim %n", 2},
             {"delhour %k", 1},    {"rollhour %k", 2},
             {"rollday", 1},       {"drift %t", 1},
             {"prunededup %t", 1}, {"pruneseen %t", 1},
             {"prunestate %t", 1}, {"shared %k", 2},
             {"exclusive %k", 1},  {"try %k", 1},
             {"lockminutes", 1},   {"lockminutes dropminute %d", 1},
             {"removed", 1},       {"purge 1", 1},
             {"tenant 1", 1},      {"dumpminute", 1},
             {"dumppending", 1},   {"dumpseen", 1}}},
};

const char *mix_name(int mix)
{
    return mixes[mix].name;
}

struct stage;
struct player {
    struct stage *stage;
    int index;
    struct actor *actor;
    struct overlay_session *session;
    struct arena arena;
    struct prng prng;
    struct op op;
    bool waiting;
};
struct stage {
    struct overlay *overlay;
    struct sched *sched;
    struct play *play;
    const struct mix *mix;
    struct player players[ACTORS];
    unsigned granted;
    int left; /* ops that may still be started */
};

/* Writes down a turn: of a player that waits now, or is done with its op. */
static void write_turn(struct player *player, bool waits, const char *result)
{
    struct play *play = player->stage->play;
    ASSERT(play->count < STEPS_MAX);
    struct turn *turn = &play->turns[play->count++];
    *turn = (struct turn){.actor = player->index,
                          .resumes = player->waiting,
                          .waits = waits,
                          .op = player->op,
                          .granted = player->stage->granted};
    player->stage->granted = 0;
    snprintf(turn->result, sizeof turn->result, "%.*s", (int)sizeof turn->result - 1, result);
    player->waiting = waits;
}

static void waits(void *context, const char *actor)
{
    struct stage *stage = context;
    write_turn(&stage->players[actor[0] - 'a'], true, "waits");
}

static void granted(void *context, const char *actor)
{
    struct stage *stage = context;
    stage->granted |= 1u << (actor[0] - 'a');
}

/* True when the op failed. */
static bool run_op(struct player *player, const char *text)
{
    struct op_call call;
    struct err err = {0};
    char result[OPS_TEXT_MAX];
    player->op = op_parse(text);
    arena_rewind(&player->arena);
    op_build(&player->op, &player->arena, &call);
    struct store *store = overlay_session_store(player->session);
    enum status status = store->call(store, &call.call, &err);
    op_result(&call, status, &err, result);
    write_turn(player, false, result);
    sched_point(player->stage->sched);
    return status != STATUS_OK;
}

static void draw_number(struct prng *prng, char which, char *out, size_t size)
{
    static const struct {
        char which;
        uint64_t below;
        int first;
    } ranges[] = {{'k', 4, 0}, {'t', 5, 1}, {'n', 3, 1}, {'d', 3, 0}, {'p', 4, 0}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].which == which)
            snprintf(out, size, "%d", ranges[i].first + (int)prng_below(prng, ranges[i].below));
}

/* The next op's text; two ops are joined by a space where one asks for the other ("lock.. drop..").
 */
static void draw(struct player *player, char out[64])
{
    const struct mix *mix = player->stage->mix;
    int total = 0;
    for (int i = 0; mix->weights[i].op; i++)
        total += mix->weights[i].weight;
    int pick = (int)prng_below(&player->prng, (uint64_t)total);
    int i = 0;
    while (pick >= mix->weights[i].weight)
        pick -= mix->weights[i++].weight;
    size_t used = 0;
    for (const char *at = mix->weights[i].op; *at; at++) {
        if (*at == '%')
            draw_number(&player->prng, *++at, out + used, 64 - used);
        else
            snprintf(out + used, 64 - used, "%c", *at);
        used += strlen(out + used);
    }
}

static bool run_ops(struct player *player)
{
    char text[64];
    draw(player, text);
    if (strncmp(text, "lockminutes ", 12) == 0)
        return run_op(player, "lockminutes") || run_op(player, text + 12);
    return run_op(player, text);
}

static void player_main(void *argument)
{
    struct player *player = argument;
    struct stage *stage = player->stage;
    while (stage->left > 0) {
        int ops = 1 + (int)prng_below(&player->prng, 4);
        bool failed = run_op(player, "begin");
        while (!failed && ops-- > 0 && stage->left-- > 0)
            failed = run_ops(player);
        run_op(player, failed || prng_chance(&player->prng, 1, 6) ? "rollback" : "commit");
    }
}

static void set_up(struct overlay *overlay)
{
    static const char *const lines[] = {
        "begin",        "tenant 0",   "lockminutes", "createminute 0", "lockhours",
        "createhour 0", "mark 1 1",   "mark 2 2",    "minute 1 1",     "warn 1 5",
        "record 1 1",   "record 2 2", "seen 1 1",    "seen 2 2",       "state 1 1 0",
        "state 2 2 0",  "route 1 0",  "rollhour 1",  "commit"};
    struct overlay_session *session = overlay_session_new(overlay, "setup");
    struct store *store = overlay_session_store(session);
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct op op = op_parse(lines[i]);
        struct op_call call;
        struct err err = {0};
        op_build(&op, &arena, &call);
        ASSERT(store->call(store, &call.call, &err) == STATUS_OK);
    }
    arena_free(&arena);
    overlay_session_free(session);
}

bool play_read(const char *lines, struct play *play)
{
    struct op ops[ACTORS] = {{0}};
    play->count = 0;
    for (const char *line = lines; *line; line += strcspn(line, "\n") + 1) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        char *result = strchr(text, ':');
        if (!result || !result[1])
            return false;
        *result = '\0';
        result += 2;
        int actor = text[0] - 'a';
        unsigned granted = 0;
        char *others = strstr(result, "; ");
        for (const char *at = others ? others + 2 : ""; at[0] && at[1] == ' '; at += 2)
            granted |= 1u << (at[0] - 'a');
        if (others)
            *others = '\0';
        ASSERT(actor >= 0 && actor < ACTORS && play->count < STEPS_MAX);
        struct turn *turn = &play->turns[play->count++];
        *turn = (struct turn){.actor = actor, .resumes = text[1] == '\0', .granted = granted};
        if (!turn->resumes)
            ops[actor] = op_parse(text + 2);
        turn->op = ops[actor];
        turn->waits = strcmp(result, "waits") == 0;
        snprintf(turn->result, sizeof turn->result, "%s", result);
    }
    return true;
}

void play_overlay(uint64_t seed, int mix, struct play *play)
{
    static struct overlay *overlay;
    struct err err = {0};
    struct stage stage = {.play = play, .mix = &mixes[mix], .left = 60};
    play->count = 0;
    if (!overlay)
        ASSERT(overlay_new(&overlay, &err) == STATUS_OK);
    overlay_attach(overlay, NULL, NULL);
    ASSERT(overlay_reset(overlay, &err) == STATUS_OK);
    set_up(overlay);
    stage.overlay = overlay;
    stage.sched = sched_new(seed, 0);
    const struct overlay_events events = {.waits = waits, .granted = granted, .context = &stage};
    overlay_attach(overlay, stage.sched, &events);
    for (int i = 0; i < ACTORS; i++) {
        struct player *player = &stage.players[i];
        const char name[2] = {(char)('a' + i), '\0'};
        *player = (struct player){.stage = &stage, .index = i};
        player->prng = prng_make(seed * ACTORS + (uint64_t)i, PRNG_WORKLOAD);
        arena_init(&player->arena, 16 << 20);
        player->session = overlay_session_new(overlay, name);
        player->actor = sched_spawn(stage.sched, name, player_main, player);
    }
    ASSERT(sched_run(stage.sched, 0) == SCHED_REACHED);
    for (int i = 0; i < ACTORS; i++) {
        ASSERT(!actor_alive(stage.players[i].actor)); /* nobody waits for ever */
        overlay_session_free(stage.players[i].session);
        arena_free(&stage.players[i].arena);
    }
    sched_free(stage.sched);
}
