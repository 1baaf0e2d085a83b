/* Plays on PostgreSQL. One turn at a time: a backend that is found waiting is stopped by SIGSTOP,
 * so that a release only makes it ready; it goes on (SIGCONT) when its next turn comes. */
#include "core/base/assert.h"
#include "tests/sim/sqlite/differential/differential.h"
#include "tests/sim/sqlite/differential/statements.h"
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct session {
    PGconn *connection;
    int pid;
    const struct statement *statement; /* in flight, NULL: none */
    bool stopped;
    bool waits; /* as of the last look */
    char result[512];
};
static struct session sessions[ACTORS];
static PGconn *control;

static void fatal(const char *what, PGconn *connection)
{
    fprintf(stderr, "differential: %s: %s", what, PQerrorMessage(connection));
    for (int i = 0; i < ACTORS; i++)
        if (sessions[i].stopped)
            kill(sessions[i].pid, SIGCONT);
    exit(3);
}

static PGresult *ask(const char *sql)
{
    PGresult *result = PQexec(control, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fatal(sql, control);
    return result;
}

static PGconn *connect_to(const char *conninfo)
{
    PGconn *connection = PQconnectdb(conninfo);
    if (PQstatus(connection) != CONNECTION_OK)
        fatal("could not connect", connection);
    PQclear(PQexec(connection, "set client_min_messages = error; set deadlock_timeout = '1h'; "
                               "set enable_seqscan = off; set enable_bitmapscan = off"));
    return connection;
}

void postgres_open(const char *conninfo)
{
    control = connect_to(conninfo);
    for (int i = 0; i < ACTORS; i++) {
        struct session *session = &sessions[i];
        session->connection = connect_to(conninfo);
        session->pid = PQbackendPID(session->connection);
        for (int j = 0; j < statement_count; j++) {
            static const Oid bigints[3] = {20, 20, 20};
            bool plain = statements[j].answer == ANSWER_OK && statements[j].sql[0] != 's';
            PGresult *result = plain ? NULL
                                     : PQprepare(session->connection, statements[j].name,
                                                 statements[j].sql, 3, bigints);
            if (!plain && PQresultStatus(result) != PGRES_COMMAND_OK)
                fatal(statements[j].name, session->connection);
            PQclear(result);
        }
    }
}

void postgres_close(void)
{
    for (int i = 0; i < ACTORS; i++)
        PQfinish(sessions[i].connection);
    PQfinish(control);
}

static void keep_result(struct session *session, PGresult *result)
{
    size_t used = 0;
    switch (PQresultStatus(result)) {
    case PGRES_FATAL_ERROR:
        snprintf(session->result, sizeof session->result, "%s",
                 PQresultErrorField(result, PG_DIAG_SQLSTATE));
        return;
    case PGRES_TUPLES_OK:
        if (session->statement->answer == ANSWER_OK)
            break;
        snprintf(session->result, sizeof session->result, "none");
        for (int i = 0; i < PQntuples(result); i++)
            used += (size_t)snprintf(session->result + used, sizeof session->result - used, "%s%s",
                                     i > 0 ? " " : "", PQgetvalue(result, i, 0));
        return;
    default:
        if (session->statement->answer == ANSWER_COUNT) {
            snprintf(session->result, sizeof session->result, "%s", PQcmdTuples(result));
            return;
        }
    }
    snprintf(session->result, sizeof session->result, "ok");
}

/* Is the statement done? Then its result is taken. */
static bool is_done(struct session *session)
{
    if (!session->statement)
        return true;
    if (!PQconsumeInput(session->connection))
        fatal("connection lost", session->connection);
    if (PQisBusy(session->connection))
        return false;
    PGresult *result;
    while ((result = PQgetResult(session->connection))) {
        keep_result(session, result);
        PQclear(result);
    }
    session->statement = NULL;
    session->waits = false;
    return true;
}

static bool is_waiting(int pid)
{
    char sql[128];
    snprintf(sql, sizeof sql, "select 1 from pg_locks where not granted and pid = %d limit 1", pid);
    PGresult *result = ask(sql);
    bool waiting = PQntuples(result) > 0;
    PQclear(result);
    return waiting;
}

/* Until the one session that runs is done, or waits and is stopped. */
static void settle(struct session *session)
{
    while (!is_done(session)) {
        struct pollfd socket = {.fd = PQsocket(session->connection), .events = POLLIN};
        struct timespec short_time = {.tv_nsec = 50000};
        if (ppoll(&socket, 1, &short_time, NULL) > 0)
            continue;
        if (is_waiting(session->pid)) {
            kill(session->pid, SIGSTOP);
            session->stopped = session->waits = true;
            return;
        }
    }
}

static const struct statement *statement_of(const struct op *op)
{
    for (int i = 0; i < statement_count; i++)
        if (strcmp(statements[i].name, op_name(op)) == 0)
            return &statements[i];
    ASSERT(false);
    return NULL;
}

static void start(struct session *session, const struct op *op)
{
    const struct statement *statement = statement_of(op);
    char text[3][24];
    const char *values[3] = {text[0], text[1], text[2]};
    for (int i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%lld", (long long)op->args[i]);
    ASSERT(!session->statement);
    session->statement = statement;
    bool plain = statement->answer == ANSWER_OK && statement->sql[0] != 's';
    int sent =
        plain ? PQsendQuery(session->connection, statement->sql)
              : PQsendQueryPrepared(session->connection, statement->name, 3, values, NULL, NULL, 0);
    if (!sent)
        fatal("could not send", session->connection);
}

static void go_on(struct session *session)
{
    session->stopped = false;
    kill(session->pid, SIGCONT);
}

/* Does the session wait, through others, for itself? */
static bool in_cycle(int actor)
{
    unsigned reached = 0;
    unsigned next = 1u << actor;
    while (next & ~reached) {
        int from = __builtin_ctz(next & ~reached);
        reached |= 1u << from;
        char sql[128];
        snprintf(sql, sizeof sql, "select unnest(pg_blocking_pids(%d))", sessions[from].pid);
        PGresult *result = ask(sql);
        for (int i = 0; i < PQntuples(result); i++)
            for (int j = 0; j < ACTORS; j++)
                if (atoi(PQgetvalue(result, i, 0)) == sessions[j].pid) {
                    next |= 1u << j;
                    if (j == actor) {
                        PQclear(result);
                        return true;
                    }
                }
        PQclear(result);
    }
    return false;
}

/* The waiting session is the victim of the cycle it closed. */
static void cancel(struct session *session)
{
    char message[256];
    PGcancel *request = PQgetCancel(session->connection);
    PQcancel(request, message, sizeof message);
    PQfreeCancel(request);
    go_on(session);
    while (!is_done(session)) {
        struct pollfd socket = {.fd = PQsocket(session->connection), .events = POLLIN};
        poll(&socket, 1, 10);
    }
    if (strcmp(session->result, "57014") == 0)
        snprintf(session->result, sizeof session->result, "40P01");
}

/* The sessions whose wait has ended since the last look. */
static unsigned look(void)
{
    unsigned granted = 0;
    for (int i = 0; i < ACTORS; i++) {
        struct session *session = &sessions[i];
        if (!session->waits || is_waiting(session->pid))
            continue;
        session->waits = false;
        granted |= 1u << i;
    }
    return granted;
}

static void end_all(const char *reset)
{
    for (int round = 0; round < ACTORS; round++)
        for (int i = 0; i < ACTORS; i++)
            if (sessions[i].stopped)
                cancel(&sessions[i]);
    for (int i = 0; i < ACTORS; i++)
        PQclear(PQexec(sessions[i].connection, "rollback"));
    PQclear(ask(reset));
}

/* Does turn i as the overlay did it; false when it came out otherwise. */
static bool replay_turn(const struct turn *turn, char *explanation, size_t size)
{
    struct session *session = &sessions[turn->actor];
    if (turn->resumes)
        go_on(session);
    else
        start(session, &turn->op);
    settle(session);
    bool cycle = session->waits && in_cycle(turn->actor);
    if (cycle)
        cancel(session);
    const char *result = session->waits ? "waits" : session->result;
    unsigned granted = look();
    if (strcmp(result, turn->result) == 0 && granted == turn->granted)
        return true;
    snprintf(explanation, size, "PostgreSQL: %s (grants %x)", result, granted);
    return false;
}

bool postgres_replay(const struct play *play, bool random, char *explanation, size_t size)
{
    const char *reset = random ? "select reset_rows()" : "select reset_empty()";
    bool same = true;
    end_all(reset);
    for (size_t i = 0; same && i < play->count; i++) {
        char why[400];
        same = replay_turn(&play->turns[i], why, sizeof why);
        if (!same)
            snprintf(explanation, size, "turn %zu: %s", i, why);
    }
    end_all(reset);
    return same;
}
