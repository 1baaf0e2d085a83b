#include "tests/sim/sqlite/stage.h"

#include "core/base/assert.h"
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRANSCRIPT_SIZE (64 * 1024)

struct player {
    struct stage *stage;
    struct actor *actor;
    struct overlay_session *session;
    struct arena arena;
    struct op op;
    bool has_op;
    bool shown; /* the line's own first outcome is written */
    bool may_go_on;
    char name[2];
};

struct stage {
    struct overlay *overlay;
    struct sched *sched;
    struct player players[STAGE_ACTORS];
    char transcript[TRANSCRIPT_SIZE];
    size_t size;
};

static void say(struct stage *stage, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(stage->transcript + stage->size, TRANSCRIPT_SIZE - stage->size, format,
                         arguments);
    va_end(arguments);
    stage->size += (size_t)size;
    ASSERT(stage->size < TRANSCRIPT_SIZE);
}

/* The end of a line: whom it has let go on. */
static void end_line(struct stage *stage)
{
    bool any = false;
    for (int i = 0; i < STAGE_ACTORS; i++) {
        if (!stage->players[i].may_go_on)
            continue;
        say(stage, "%s %s", any ? "" : ";", stage->players[i].name);
        stage->players[i].may_go_on = false;
        any = true;
    }
    say(stage, any ? " may go on\n" : "\n");
}

/* The first outcome stands on the line itself, later ones on lines of their own. */
static void outcome(struct player *player, const char *text)
{
    say(player->stage, "%s: %s", player->shown ? player->name : "", text);
    player->shown = true;
    end_line(player->stage);
}

static void waits(void *context, const char *actor)
{
    struct stage *stage = context;
    outcome(&stage->players[actor[0] - 'a'], "waits");
}

static void granted(void *context, const char *actor)
{
    struct stage *stage = context;
    stage->players[actor[0] - 'a'].may_go_on = true;
}

static void play_op(struct player *player)
{
    struct op_call call;
    struct err err = {0};
    char text[OPS_TEXT_MAX];
    arena_rewind(&player->arena);
    op_build(&player->op, &player->arena, &call);
    struct store *store = overlay_session_store(player->session);
    enum status status = store->call(store, &call.call, &err);
    op_result(&call, status, &err, text);
    player->has_op = false;
    outcome(player, text);
}

static void player_main(void *argument)
{
    struct player *player = argument;
    for (;;) {
        while (!player->has_op)
            sched_wait(player->stage->sched);
        play_op(player);
    }
}

static void run(struct stage *stage)
{
    enum sched_end end = sched_run(stage->sched, sched_now_ns(stage->sched));
    ck_assert_int_eq(end, SCHED_REACHED);
}

/* The schema's first rows, before anybody plays. */
static void set_up(struct overlay *overlay)
{
    static const char *const lines[] = {"begin",          "tenant 0",       "lockminutes",
                                        "createminute 0", "createminute 1", "lockhours",
                                        "createhour",     "commit"};
    struct overlay_session *session = overlay_session_new(overlay, "setup");
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct op op = op_parse(lines[i]);
        struct op_call call;
        struct err err = {0};
        op_build(&op, &arena, &call);
        struct store *store = overlay_session_store(session);
        enum status status = store->call(store, &call.call, &err);
        ck_assert_msg(status == STATUS_OK, "%s: %s", lines[i], err.message);
    }
    arena_free(&arena);
    overlay_session_free(session);
}

struct stage *stage_new(uint64_t seed)
{
    struct stage *stage = calloc(1, sizeof *stage);
    struct err err = {0};
    ck_assert_ptr_nonnull(stage);
    ck_assert_msg(overlay_new(&stage->overlay, &err) == STATUS_OK, "%s", err.message);
    set_up(stage->overlay);
    stage->sched = sched_new(seed, 0);
    ck_assert_ptr_nonnull(stage->sched);
    const struct overlay_events events = {.waits = waits, .granted = granted, .context = stage};
    overlay_attach(stage->overlay, stage->sched, &events);
    for (int i = 0; i < STAGE_ACTORS; i++) {
        struct player *player = &stage->players[i];
        player->stage = stage;
        player->name[0] = (char)('a' + i);
        arena_init(&player->arena, 16 << 20);
        player->session = overlay_session_new(stage->overlay, player->name);
        player->actor = sched_spawn(stage->sched, player->name, player_main, player);
        ck_assert(player->session && player->actor);
    }
    run(stage);
    return stage;
}

void stage_free(struct stage *stage)
{
    for (int i = 0; i < STAGE_ACTORS; i++) {
        struct player *player = &stage->players[i];
        sched_kill(stage->sched, player->actor);
        overlay_session_free(player->session);
        arena_free(&player->arena);
    }
    overlay_free(stage->overlay);
    sched_free(stage->sched);
    free(stage);
}

struct overlay *stage_overlay(struct stage *stage)
{
    return stage->overlay;
}

static struct player *player_of(const struct stage *stage, char actor)
{
    ASSERT(actor >= 'a' && actor < 'a' + STAGE_ACTORS);
    return (struct player *)&stage->players[actor - 'a'];
}

void stage_line(struct stage *stage, char actor, const struct op *op)
{
    struct player *player = player_of(stage, actor);
    ck_assert_msg(!player->has_op, "%c is still in a line", actor);
    player->op = *op;
    player->has_op = true;
    player->shown = false;
    sched_wake(stage->sched, player->actor);
    run(stage);
}

void stage_outside(struct stage *stage, char actor, const char *line, const char *expected)
{
    struct player *player = player_of(stage, actor);
    ck_assert_msg(!player->has_op, "%c is still in a line", actor);
    player->op = op_parse(line);
    player->shown = true;
    stage->size = 0;
    play_op(player);
    char whole[OPS_TEXT_MAX];
    snprintf(whole, sizeof whole, "%c: %s\n", actor, expected);
    ck_assert_str_eq(stage_take_transcript(stage), whole);
}

const char *stage_take_transcript(struct stage *stage)
{
    stage->transcript[stage->size] = '\0';
    stage->size = 0;
    return stage->transcript;
}

bool stage_waits(const struct stage *stage, char actor)
{
    return player_of(stage, actor)->has_op;
}

/* The connection is cut; or the actor dies, and its line never ends. */
static void end_session(struct player *player, bool dies)
{
    struct stage *stage = player->stage;
    if (dies) {
        sched_kill(stage->sched, player->actor);
        player->has_op = false;
    }
    overlay_session_cut(player->session);
    say(stage, ": gone");
    end_line(stage);
    run(stage);
}

static void play_line(struct stage *stage, const char *line, int size)
{
    char text[64];
    ASSERT(size > 2 && size < (int)sizeof text);
    snprintf(text, sizeof text, "%.*s", size, line);
    say(stage, "%s", text);
    if (strcmp(text + 2, "is cut") == 0 || strcmp(text + 2, "dies") == 0) {
        end_session(player_of(stage, text[0]), text[2] == 'd');
        return;
    }
    struct op op = op_parse(text + 2);
    stage_line(stage, text[0], &op);
}

void stage_play(struct stage *stage, const char *title, const char *play)
{
    run(stage); /* who may go on does */
    for (const char *line = play; *line; line += strcspn(line, "\n") + 1) {
        int size = (int)strcspn(line, ":\n");
        if (size > 1)
            play_line(stage, line, size);
    }
    const char *transcript = stage_take_transcript(stage);
    ck_assert_msg(strcmp(transcript, play) == 0, "%s\nplayed:\n%s\nexpected:\n%s", title,
                  transcript, play);
}
