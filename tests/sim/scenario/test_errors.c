/* Every error: its place, its words, its hint. One file shows all of its errors at once. */
#include "sim/limits.h"
#include "tests/sim/scenario/scenario_test.h"
#include <check.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, LIMIT_SCENARIO_ARENA);
}

static void teardown(void)
{
    arena_free(&arena);
}

/* The body stands from line 4 on, in a file that is good but for it. */
static const struct {
    const char *body;
    const char *errors; /* line:column: message (hint) */
} bodies[] = {
    {"wirter w1", "4:1: expected a statement, found \"wirter\" (did you mean \"writer\"?)\n"},
    {"w1 writes", "4:1: expected a statement, found \"w1\"\n"},
    {"writer w1\nw1 stops",
     "5:1: expected a statement, found \"w1\" (what happens begins with its time: at 5m w1 ...)\n"},
    {"\"a text\"", "4:1: expected a statement, found the text \"a text\"\n"},
    {"    indented",
     "4:5: expected an option of a tenant, found \"indented\" (known: id removed)\n"},
    {"writer", "4:7: expected a name for the writer, found the end of the statement (a letter, "
               "then letters, digits, - _ .; 64 at most)\n"},
    {"writer 1w", "4:8: expected a name for the writer, found \"1w\" (a letter, then letters, "
                  "digits, - _ .; 64 at most)\n"},
    {"writer release", "4:8: expected a name for the writer, found \"release\" (that word has a "
                       "meaning of its own)\n"},
    {"writer w1\nwriter w1", "5:8: the name \"w1\" is taken by the writer of line 4 (every name is "
                             "used once, whatever its kind)\n"},
    {"writer acme", "4:8: the name \"acme\" is taken by the tenant of line 3 (every name is used "
                    "once, whatever its kind)\n"},
    {"process acme of acme", "4:9: the name \"acme\" is taken by the tenant of line 3 (every name "
                             "is used once, whatever its kind)\n"},
    {"tenant beta removed\nat 0s purge beta now",
     "5:18: expected the end of the statement, found \"now\"\n"},
    {"tenant beta id \"no uuid\"", "4:16: the text is not a uuid (36 characters, 8-4-4-4-12)\n"},
    {"tenant beta", "4:8: \"beta\" is never used (for example: process shop-1 of beta exports "
                    "every 1m cumulative)\n"},
    {"writer w1 stopped",
     "4:8: \"w1\" is never used (it is stopped; for example: at 5m w1 starts)\n"},
    {"collector c1", "4:11: \"c1\" is never used (a process sends to it with: through c1)\n"},
    {"job rollup by hand",
     "4:5: \"rollup\" is never used (it runs by hand; for example: at 6m rollup runs)\n"},
    {"job rolup every 5m", "4:5: expected a job, found \"rolup\" (did you mean \"rollup\"?)\n"},
    {"job rollup hourly", "4:12: expected \"every\" or \"by hand\", found \"hourly\"\n"},
    {"job rollup every 0s", "4:18: the duration must be above 0\n"},
    {"job rollup every 5m first at -1m",
     "4:30: the time is before the start (nothing happens before the start of the scenario)\n"},
    {"job rollup every 5m\njob rollup every 6m",
     "5:5: the name \"rollup\" is taken by the job of line 4 (every name is used once, whatever "
     "its kind)\n"},
    {"process p of acne exports every 1m delta\nat 0s p starts",
     "4:14: expected a tenant, found \"acne\" (did you mean \"acme\"?)\n"},
    {"process p of acme exports every 1m sometimes",
     "4:36: expected \"delta\" or \"cumulative\", found \"sometimes\"\n"},
    {"process p of acme\nat 0s p starts", "4:1: the process \"p\" does not say how it exports (for "
                                          "example: exports every 1m cumulative)\n"},
    {"process p of acme exports every 1m delta exports every 2m delta",
     "4:42: \"exports\" is given twice\n"},
    {"process p of acme excports every 1m delta",
     "4:19: expected an option of a process, found \"excports\" (did you mean \"exports\"?)\n"},
    {"process p of acme exports every soon delta",
     "4:33: expected a duration, found \"soon\" (for example 90s, 1h30m, 500ms; units d h m s ms "
     "us ns)\n"},
    {"process p of acme exports every 1m delta bounds 1 1\nat 0s p starts",
     "4:1: the bounds of the process \"p\" do not increase (only a series may send wrong "
     "bounds)\n"},
    {"process p of acme exports every 1m delta bounds wide",
     "4:49: expected bounds, found \"wide\" (canonical, milliseconds, none, or numbers in "
     "seconds)\n"},
    {"process p of acme exports every 1m delta replicas 1",
     "4:51: the number of replicas must be 2 to 1000, found 1\n"},
    {"process p of acme exports every 1m delta replicas 1000 apart 3650d\nat 0s p starts",
     "5:1: a replica starts after the end of the run (bring the replicas closer together, or let "
     "the run go on for longer)\n"},
    {"process p of acme exports every 1m delta replicas 3 apart 30m\nat 1s p restarts",
     "5:1: a replica starts after the end of the run (bring the replicas closer together, or let "
     "the run go on for longer)\n"},
    {"process p of acme exports every 1m delta started at 0s replicas 1000 apart 3650d\nat 0s p "
     "exports",
     "4:1: a replica starts after the end of the run (bring the replicas closer together, or let "
     "the run go on for longer)\n"},
    {"process p of acme exports every 1m delta replicas 2\nat 0s p/3 starts",
     "5:7: process \"p\" has no replica \"3\"\n"},
    {"process p of acme exports every 1m delta\nat 0s p/x starts",
     "5:7: process \"p\" has no replica \"x\"\n"},
    {"process p of acme exports every 1m delta through w1",
     "4:50: expected a collector, found \"w1\" (declare it on a line above)\n"},
    {"writer w1\nprocess p of acme exports every 1m delta through w1",
     "5:50: expected a collector, found \"w1\" (\"w1\" is a writer)\n"},
    {"process p of acme exports every 1m delta attribute \"k\" v",
     "4:56: expected the value of an attribute, found \"v\" (\"text\", 7, 0.5, true or false)\n"},
    {"collector c1 splits every 0 points",
     "4:27: a number of points must be 1 to 1000000, found 0\n"},
    {"collector c1 splits every 10 pints", "4:30: expected \"points\", found \"pints\"\n"},
    {"series s of acme GET /c 200",
     "4:1: the series \"s\" needs one temporality (add one of cumulative, delta, unspecified)\n"},
    {"series s of acme GET /c 200 cumulative", "4:1: the cumulative series \"s\" needs a start "
                                               "(for example: start -2h, or: start unknown)\n"},
    {"series s of acme GET /c 200 cumulative delta start 0s",
     "4:1: the series \"s\" needs one temporality (add one of cumulative, delta, unspecified)\n"},
    {"series s of acme GET /c", "4:24: expected a status, found the end of the statement\n"},
    {"series s of acme GET /c two delta", "4:25: expected a status, found \"two\"\n"},
    {"series s of acme GET /c 200 delta service \"x\"",
     "4:8: \"s\" is never used (for example: at 60s s sends 10)\n"},
    {"series s of acme GET /c 200 delta\nat 0s s sends +5",
     "5:15: a point of a delta series has no point before it to add to (write the count of the "
     "point itself)\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends -5",
     "5:15: a bucket would be below 0 or above 2^64 - 1\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends b16:5",
     "5:15: series \"s\" has 15 buckets, not 16\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends b2:5,b1:1",
     "5:15: expected a point, found \"b2:5,b1:1\" (for example 10, +5, +5x3, b1:10,b3:5, +b1:2, or "
     "_ for a gap)\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends 5x2",
     "5:15: one message at one time carries the point once (write: from TIME every DURATION NAME "
     "sends +5x3)\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends _",
     "5:15: expected a point, found \"_\" (for example 10, +5, +5x3, b1:10,b3:5, +b1:2, or _ for a "
     "gap)\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends ten",
     "5:15: expected a point, found \"ten\" (for example 10, +5, +5x3, b1:10,b3:5, +b1:2, or _ for "
     "a gap)\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends 5 sum 1 no sum",
     "5:23: a point has a sum, or no sum\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends 5 as \"a\" without id",
     "5:24: the id of the message is given twice\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nat 0s s sends 5 stamped acme unstamped",
     "5:30: the stamp of the message is given twice\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nfrom 0s until 1h every 1m s sends 5",
     "5:1: points end with the last that is written (write: from TIME every DURATION NAME sends 10 "
     "+5)\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nfrom 0s every 1m s sends 5 5x100000 5",
     "5:28: the scenario has too many points\n"},
    {"series s of acme GET /c 200 start 0s cumulative\nfrom 0s every 30m s sends 5x4",
     "5:1: that happens after the end of the run (move it, or let the run go on for longer)\n"},
    {"at 0s message \"m\" of acme 5",
     "4:27: expected an option of a message, or a point on a line below, found \"5\" (as \"...\", "
     "without id, stamped TENANT, unstamped)\n"},
    {"at 0s message \"m\" of acme\n    s 5",
     "5:5: expected a series, found \"s\" (declare it on a line above)\n"},
    {"at 0s redeliver \"m\"",
     "4:17: no message \"m\" is sent above (a message gets an id of its own with: as \"...\")\n"},
    {"at 0s redeliver m",
     "4:17: expected the id of a message, found \"m\" (a text is written in quotes: \"...\")\n"},
    {"at 0s deliver bytes \"0g\" of acme",
     "4:21: the text is not hex (two of 0-9 a-f for each byte)\n"},
    {"at 0s deliver bytes \"0\" of acme",
     "4:21: the text is not hex (two of 0-9 a-f for each byte)\n"},
    {"at 0s deliver bytes \"00\" of acme unstamped",
     "4:21: bytes are delivered as they are (write the stamp into the bytes)\n"},
    {"at 0s deliver file \"../x\" of acme", "4:20: the path must lie below tests/data\n"},
    {"at 0s deliver message \"x\"", "4:15: expected \"bytes\" or \"file\", found \"message\"\n"},
    {"at 0s", "4:6: expected who acts, or what happens, found the end of the statement\n"},
    {"at soon queue", "4:4: expected a time, found \"soon\" (after the start, as 90s, 1h30m or "
                      "-3h+5ns, or 2026-03-01T00:00:00Z)\n"},
    {"at -5s expect queue 0",
     "4:4: the time is before the start (nothing happens before the start of the scenario)\n"},
    {"at 2h expect queue 0",
     "4:1: that happens after the end of the run (move it, or let the run go on for longer)\n"},
    {"at 2026-02-30T00:00:00Z expect queue 0",
     "4:4: expected a time, found \"2026-02-30T00:00:00Z\" (after the start, as 90s, 1h30m or "
     "-3h+5ns, or 2026-03-01T00:00:00Z)\n"},
    {"from 0s writer", "4:9: expected \"until\" or \"every\", found \"writer\" (for example: from "
                       "0s until 30m every 1s)\n"},
    {"from 5m until 1m fault Commit 40001 once", "4:15: the span ends before it begins\n"},
    {"from 0s until 1m every 1s fault Commit 40001 once",
     "4:1: a fault has no period (write: from TIME until TIME fault ...)\n"},
    {"from 0s until 1m every 1s release w1",
     "4:1: that happens at one time, not over a span (write: at TIME ...)\n"},
    {"job rollup by hand\nfrom 0s until 1m rollup runs",
     "5:1: what is done over a span needs its beginning, its end and its period (write: from TIME "
     "until TIME every DURATION ...)\n"},
    {"process p of acme exports every 1m delta\nfrom 0s until 1m every 1s p stops",
     "5:1: that happens at one time, not over a span (write: at TIME ...)\n"},
    {"process p of acme exports every 1m delta\nat 0s p runs",
     "5:9: expected what \"p\" does, found \"runs\" (known: serves starts stops crashes restarts "
     "exports resends)\n"},
    {"process p of acme exports every 1m delta\nat 0s p serves GET / 200 times 2",
     "5:26: expected \"in\", found \"times\"\n"},
    {"process p of acme exports every 1m delta\nat 0s p serves GET / 200 in 1ms twice",
     "5:33: expected \"times\" or \"error\", found \"twice\" (did you mean \"times\"?)\n"},
    {"process p of acme exports every 1m delta\nat 0s p stops with flush",
     "5:15: expected the end of the statement, found \"with\"\n"},
    {"writer w1\nat 0s w1 stops without flush", "5:7: only a process flushes\n"},
    {"writer w1\nat 0s release w2",
     "5:15: expected a writer or a job, found \"w2\" (did you mean \"w1\"?)\n"},
    {"at 0s raise fence writer",
     "4:19: expected a fence, found \"writer\" (did you mean \"writers\"?)\n"},
    {"at 0s create minute partition 2026-13-01",
     "4:31: expected a day, found \"2026-13-01\" (for example 2026-03-05)\n"},
    {"at 0s create minute partition 2026-03",
     "4:31: expected a day, found \"2026-03\" (for example 2026-03-05)\n"},
    {"at 0s drop hourly partition march",
     "4:29: expected a month, found \"march\" (for example 2026-03)\n"},
    {"at 0s drop daily partition 2026-03",
     "4:12: expected \"minute\" or \"hourly\", found \"daily\"\n"},
    {"fault Comit 40001 once",
     "4:7: expected a step, found \"Comit\" (did you mean \"Commit\"?)\n"},
    {"fault Commit 4001 once",
     "4:14: expected an SQLSTATE, found \"4001\" (five characters, for example 53200 or 40P01)\n"},
    {"fault Commit 40001", "4:19: expected how often the fault comes, found the end of the "
                           "statement (once, 3 times, or always)\n"},
    {"fault Commit 40001 once always", "4:25: it is said twice how often the fault comes\n"},
    {"fault Commit 40001 3 times once", "4:28: \"once\" is given twice\n"},
    {"fault Commit 40001 0 times", "4:20: how often must be 1 to 2147483647, found 0\n"},
    {"fault Commit 40001 once of acme",
     "4:28: expected a writer or a job, found \"acme\" (\"acme\" is a tenant)\n"},
    {"writer w1\nhold w1 at Commit", "5:9: expected \"before\" or \"after\", found \"at\"\n"},
    {"writer w1\ncut w1 after Commit", "5:8: expected \"before\", found \"after\"\n"},
    {"writer w1\nhold w1 before Commit of w1", "5:26: the actor is named already\n"},
    {"writer w1\ncrash w1 before Commit nth 0",
     "5:28: which one must be 1 to 2147483647, found 0\n"},
    {"lose answer of Commit once", "4:6: expected \"reply\", found \"answer\"\n"},
    {"fault Commit 40001 once where \"\"",
     "4:31: a value of a parameter must not be empty and holds no \\x00\n"},
    {"set METRICSWRITER_MAX_ROUTES 0",
     "4:5: cannot set \"METRICSWRITER_MAX_ROUTES\" to \"0\": must be at least 1\n"},
    {"set METRICSWRITER_MAX_ROUTE 1", "4:5: unknown setting \"METRICSWRITER_MAX_ROUTE\" (did you "
                                      "mean \"METRICSWRITER_MAX_ROUTES\"?)\n"},
    {"set METRICSWRITER_MAX_ROUTES 1\nset METRICSWRITER_MAX_ROUTES 2",
     "5:5: \"METRICSWRITER_MAX_ROUTES\" is set twice, first on line 4\n"},
    {"set API_MINUTE_RETENTION_DAYS 1",
     "4:5: cannot set \"API_MINUTE_RETENTION_DAYS\" to \"1\": must be at least 8 (a backlog "
     "delivers points up to 7 days old, and they must find their partitions)\n"},
    {"rules -A5", "4:7: unknown rule \"-A5\" (did you mean \"-A-5\"?)\n"},
    {"rules -A-5\nrules -A-6", "5:1: \"rules\" is given twice\n"},
    {"session offset 5", "4:16: expected a duration, found \"5\" (for example 90s, 1h30m, 500ms; "
                         "units d h m s ms us ns)\n"},
    {"session offset -17h", "4:16: an offset is whole minutes, at most 16h\n"},
    {"session zone", "4:9: expected \"offset\", found \"zone\"\n"},
    {"queue age wait 5s", "4:11: expected \"limit\", found \"wait\"\n"},
    {"queue size 5",
     "4:7: expected a setting of the queue, found \"size\" (known: ack age dedup)\n"},
    {"without partition", "4:9: expected \"minute\" or \"hourly\", found \"partition\"\n"},
    {"without minute partition",
     "4:25: expected a day, found the end of the statement (for example 2026-03-05)\n"},
    {"golden",
     "4:7: expected \"at\", \"without\" or \"ignoring\", found the end of the statement\n"},
    {"golden without metrics because \"x\"",
     "4:16: expected a table, outcomes, dlq or queue, found \"metrics\" (known: metrics_minute "
     "metrics_hourly metrics_daily series_state resource_seen ingest_dedup route_registry ...)\n"},
    {"golden without queue", "4:21: expected \"because\", found the end of the statement\n"},
    {"golden without queue because \"\"",
     "4:30: the reason must not be empty and holds no \\x00\n"},
    {"golden ignoring metrics_minute because \"x\"",
     "4:17: expected TABLE.COLUMN, found \"metrics_minute\" (for example metrics_minute.sum)\n"},
    {"golden at 2h",
     "4:1: that happens after the end of the run (move it, or let the run go on for longer)\n"},
    {"expect", "4:7: expected an expectation, found the end of the statement (known: outcome "
               "message dlq rows requests sum warning log counter pending queue p95)\n"},
    {"expect outcome catchup 1",
     "4:16: expected an outcome of points, found \"catchup\" (did you mean \"catch_up\"?)\n"},
    {"expect outcome catch_up", "4:24: expected a number, found the end of the statement\n"},
    {"expect outcome catch_up -1", "4:25: a number must be 0 to 9223372036854775807, found -1\n"},
    {"expect message aplied 1",
     "4:16: expected an outcome of messages, found \"aplied\" (did you mean \"applied\"?)\n"},
    {"expect dlq 1 reason applied",
     "4:21: that is no reason of a dead letter (a reason begins with dead_)\n"},
    {"expect rows metric_minute 1",
     "4:13: expected a table, found \"metric_minute\" (did you mean \"metrics_minute\"?)\n"},
    {"expect requests weekly of acme 1",
     "4:17: expected \"minute\", \"hourly\" or \"daily\", found \"weekly\"\n"},
    {"expect requests hourly 1", "4:24: expected \"of\", found \"1\"\n"},
    {"expect requests hourly of acme GET /c 1",
     "4:40: expected a number, found the end of the statement\n"},
    {"expect requests hourly of acme from 1h until 1h 1", "4:37: the span ends before it begins\n"},
    {"expect p95 hourly of acme fast",
     "4:27: expected a quantile, found \"fast\" (seconds, \">10s\", or none)\n"},
    {"expect p101 hourly of acme 1",
     "4:8: expected an expectation, found \"p101\" (known: outcome message dlq rows requests sum "
     "warning log counter pending queue p95)\n"},
    {"expect warning lossy of acme 1",
     "4:16: expected a kind of warning, found \"lossy\" (known: cardinality_overflow "
     "coarse_buckets lossy_histogram secret_in_path span_derived)\n"},
    {"expect log fatal x", "4:12: expected \"info\", \"warning\" or \"error\", found \"fatal\"\n"},
    {"expect log error \"x\"", "4:18: expected the event of a log line, found the text \"x\" (for "
                               "example rollup_orphaned_mark)\n"},
    {"expect counter drift 1",
     "4:16: expected a counter, found \"drift\" (known: rollup_hours rollup_days rollup_restored "
     "rollup_drifted_hours rollup_orphaned_marks partitions_created ...)\n"},
    {"process p of acme exports every 1ns delta\nat 0s p starts",
     "4:1: that happens 3600000000000 times; a run is at most 5000000 exports, events and job runs "
     "(a "
     "longer interval, fewer replicas or a shorter run)\n"},
    {"process p of acme exports every 1s delta replicas 1000\nat 0s p starts\n"
     "from 0s until 1h every 1s p serves GET /a 200 in 1ms",
     "6:1: with that the run has 7200000 exports, events and job runs; 5000000 is the most (a "
     "longer "
     "interval, fewer replicas or a shorter run)\n"},
    {"job rollup every 1ns", "4:1: that happens 3600000000000 times; a run is at most 5000000 "
                             "exports, events and job runs (a "
                             "longer interval, fewer replicas or a shorter run)\n"},
    {"job rollup as r by hand\nfrom 1m until 2m every 1ns r runs",
     "5:1: that happens 60000000000 times; a run is at most 5000000 exports, events and job runs "
     "(a "
     "longer interval, fewer replicas or a shorter run)\n"},
    {"expect pending of acme 0 0", "4:26: expected the end of the statement, found \"0\"\n"},
    {"scenario \"again\"", "4:1: \"scenario\" is given twice, first on line 1\n"},
    {"cites A-5", "4:1: \"cites\" is given twice\n"},
    {"run until 2h", "6:1: \"run\" is given twice, first on line 4\n"},
    {"at 0s expect queue 0\nstart 2026-03-01T00:00:00Z",
     "5:1: the start must stand before the first time, which is on line 4 (move it above)\n"},
    {"start yesterday",
     "4:7: expected a UTC time, found \"yesterday\" (for example 2026-03-01T00:00:00Z)\n"},
    {"cites a-5", "4:1: \"cites\" is given twice\n"},
    {"set X", "4:6: expected the value of the setting, found the end of the statement\n"},
    {"writer w1 \"open", "4:11: the text is not closed (close it on the same line with \")\n"},
    {"writer w1 \"\\q\"", "4:12: unknown escape in a text (known: \\\" \\\\ \\n \\t \\xHH)\n"},
    {"writer w1\"x\"", "4:10: a text starts inside a word (put a space before it)\n"},
    {"writer w1 \001", "4:11: the line holds a control character (inside a text write \\xHH)\n"},
    {"writer w1 \377", "4:1: the line is not UTF-8 (inside a text write \\xHH for other bytes)\n"},
    {"writer w1 stopped\n  # why\n  now", "5:3: a comment cannot stand inside a statement (put it "
                                          "on a line of its own above the statement)\n"},
    {"derive\n  twice", "8:1: \"derive\" is given twice, first on line 4\n"},
};
#define BODIES (sizeof bodies / sizeof bodies[0])

START_TEST(error__has_its_place_and_says_what_was_expected)
{
    ck_assert_str_eq(parse_bad(&arena, with_body(&arena, bodies[_i].body)), bodies[_i].errors);
}
END_TEST

START_TEST(errors__all_of_a_file_come_in_one_run)
{
    ck_assert_str_eq(
        parse_bad(&arena, "wirter w1\nat soon x\nset X\n"),
        "1:1: expected a statement, found \"wirter\" (did you mean \"writer\"?)\n"
        "1:1: the scenario has no title (begin with: scenario \"what it claims\")\n"
        "1:1: the scenario cites no rule (for example: cites R-PT-3 A-5)\n"
        "1:1: the scenario does not say how long it runs (for example: run until 45m)\n"
        "1:1: the scenario does not derive its numbers (end with derive, and the arithmetic below "
        "it, indented)\n"
        "2:4: expected a time, found \"soon\" (after the start, as 90s, 1h30m or -3h+5ns, or "
        "2026-03-01T00:00:00Z)\n"
        "3:6: expected the value of the setting, found the end of the statement\n");
}
END_TEST

START_TEST(error__in_a_declaration_is_no_error_of_its_uses)
{
    ck_assert_str_eq(parse_bad(&arena, with_body(&arena, "process p of acme exports\n"
                                                         "at 0s p starts\n"
                                                         "at 1s p/7 serves GET / 200 in 1ms")),
                     "4:26: expected \"every\", found the end of the statement\n");
}
END_TEST

/* files that are short of something, or not theirs */
static const struct {
    const char *text;
    const char *errors;
} files[] = {
    {"cites a-5\nscenario \"x\"\nrun until 1m\nderive\n  x\n",
     "1:1: the scenario cites no rule (for example: cites R-PT-3 A-5)\n"
     "1:7: unknown rule id \"a-5\" (did you mean \"A-5\"? core/CONTRACT.md defines them)\n"},
    {"scenario \"x\"\ncites MS R-PT-3 R-PT-99 A-5\nrun until 1m\nderive\n  x\n",
     "2:17: unknown rule id \"R-PT-99\" (did you mean \"R-PT-1\"? core/CONTRACT.md defines "
     "them)\n"},
    {"scenario \"x\"\ncites UE\nrun until 1m\nderive\n  x\n",
     "1:1: the scenario cites no rule (for example: cites R-PT-3 A-5)\n"
     "2:7: unknown rule id \"UE\" (core/CONTRACT.md defines them)\n"},
    {"scenario \"x\"\ncites \"A-5\"\nrun until 1m\nderive\n  x\n",
     "1:1: the scenario cites no rule (for example: cites R-PT-3 A-5)\n"
     "2:7: expected the id of a rule, found the text \"A-5\" (for example A-5, S-1, R-PT-3)\n"},
    {"scenario \"x\"\ncites MS\nrun until 1m\nderive\n\n",
     "4:1: the derivation is empty (write the arithmetic below it, indented)\n"},
    {"  scenario \"x\"\n\n  cites MS\nscenario \"y\"\ncites MS\nrun until 1m\nderive\n  x\n",
     "1:3: there is no statement above to continue (an indented line continues the line above "
     "it)\n"},
    {"scenario \"x\"\ncites MS\nrun until 1m\nderive now\n  x",
     "4:8: expected the end of the line after \"derive\" (put the text on the lines below, "
     "indented)\n"},
    {"scenario x\ncites MS\nrun until 1m\nderive\n  x",
     "1:10: expected a title: what the scenario claims, found \"x\" (a text is written in quotes: "
     "\"...\")\n"},
    {"scenario \"x\"\ncites MS\nrun until 1m\nderive\n  x\n  \x1b[31m\n",
     "6:3: the line holds a control character (inside a text write \\xHH)\n"},
};

START_TEST(file__says_what_it_is_short_of)
{
    ck_assert_str_eq(parse_bad(&arena, files[_i].text), files[_i].errors);
}
END_TEST

START_TEST(errors__are_kept_up_to_a_bound_and_the_others_counted)
{
    struct scenario *scenario;
    struct scenario_errors errors;
    char text[100 * 4 + 1] = "";
    for (int i = 0; i < 100; i++)
        memcpy(text + 4L * i, "x y\n", 5);
    ck_assert_int_eq(scenario_parse("x", text, 400, &arena, &scenario, &errors), STATUS_INVALID);
    ck_assert_uint_eq(errors.count, SCENARIO_ERRORS_MAX);
    ck_assert_uint_eq(errors.more, 104 - SCENARIO_ERRORS_MAX); /* 100 lines, 4 missing statements */
}
END_TEST

START_TEST(error__shows_no_control_characters_of_the_file)
{
    ck_assert_str_eq(
        parse_bad(&arena, with_body(&arena, "writer \"\\x1b[31m\"")),
        "4:8: expected a name for the writer, found the text \"?[31m\" (a letter, then "
        "letters, digits, - _ .; 64 at most)\n");
}
END_TEST

START_TEST(arena__exhaustion_is_an_error)
{
    const char *text = with_body(&arena, "writer w1\nat 0s expect queue 0");
    struct scenario *scenario;
    struct scenario_errors errors;
    bool done = false;
    for (size_t limit = 0; !done; limit += 4096) {
        struct arena small;
        arena_init(&small, limit);
        enum status status = scenario_parse("x", text, strlen(text), &small, &scenario, &errors);
        done = status == STATUS_OK;
        ck_assert(done || status == STATUS_NO_MEMORY);
        arena_free(&small);
        ck_assert_uint_lt(limit, LIMIT_SCENARIO_ARENA);
    }
}
END_TEST

/* An event on one replica happens once, the end of a span does not count: 1000 exports of 1 h, and
 * 4,999,000 requests, are just as many as a run may have. */
START_TEST(check__a_run_may_have_as_much_as_its_limit)
{
    static const char just[] = "process p of acme exports every 1h delta replicas 1000\n"
                               "at 0s p starts\n"
                               "from 0s until 4s999ms every 1us p/7 serves GET /a 200 in 1ms";
    static const char more[] = "process p of acme exports every 1h delta replicas 1000\n"
                               "at 0s p starts\n"
                               "from 0s until 4s999001us every 1us p/7 serves GET /a 200 in 1ms";
    parse_good(&arena, with_body(&arena, just));
    ck_assert_str_eq(
        parse_bad(&arena, with_body(&arena, more)),
        "6:1: with that the run has 5000001 exports, events and job runs; 5000000 is the "
        "most (a longer interval, fewer replicas or a shorter run)\n");
}
END_TEST

Suite *scenario_errors_suite(void);
Suite *scenario_errors_suite(void)
{
    Suite *suite = suite_create("scenario_errors");
    TCase *tcase = tcase_create("errors");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, check__a_run_may_have_as_much_as_its_limit);
    tcase_add_loop_test(tcase, error__has_its_place_and_says_what_was_expected, 0, BODIES);
    tcase_add_loop_test(tcase, file__says_what_it_is_short_of, 0, sizeof files / sizeof files[0]);
    tcase_add_test(tcase, errors__all_of_a_file_come_in_one_run);
    tcase_add_test(tcase, error__in_a_declaration_is_no_error_of_its_uses);
    tcase_add_test(tcase, errors__are_kept_up_to_a_bound_and_the_others_counted);
    tcase_add_test(tcase, error__shows_no_control_characters_of_the_file);
    tcase_add_test(tcase, arena__exhaustion_is_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}
