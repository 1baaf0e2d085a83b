/* The database as a file: what it refuses to open, and what it keeps through trouble. */
#include "core/store/sqlite/sqlite_store.h"
#include "tests/core/store/conformance.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static char path[128];
static struct sqlite_database *database;

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/metersim-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/metrics.db", folder);
    arena_init(&arena, 16 * 1024 * 1024);
    err = (struct err){0};
}

static void teardown(void)
{
    sqlite_database_close(database);
    arena_free(&arena);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static void open_database(enum database_use use)
{
    ck_ok(sqlite_database_open(path, use, 0, &database, &err));
    store = sqlite_database_store(database);
}

static void close_database(void)
{
    sqlite_database_close(database);
    database = NULL;
}

/* Refuses with that status and words, and gives nothing. */
static void refuses(const char *which, enum database_use use, enum status status, const char *words)
{
    struct sqlite_database *none;
    ck_assert_int_eq(sqlite_database_open(which, use, 0, &none, &err), status);
    ck_assert_ptr_null(none);
    ck_assert_msg(strstr(err.message, words), "%s", err.message);
    ck_assert_msg(strstr(err.message, which), "no path: %s", err.message);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void raw(const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_ok(sqlite_functions_register(db, &err));
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static off_t size_of(const char *which)
{
    struct stat about;
    ck_assert_int_eq(stat(which, &about), 0);
    return about.st_size;
}

/* How many files the folder holds. */
static size_t files(void)
{
    size_t count = 0;
    DIR *listing = opendir(folder);
    ck_assert_ptr_nonnull(listing);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing))
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static size_t minutes(void)
{
    size_t count;
    begin(ROLE_READER);
    rows_of(READ_MINUTE, &count);
    commit();
    return count;
}

/* ---- opening ---- */

START_TEST(open__keeps_what_was_committed)
{
    open_database(DATABASE_CREATE);
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    commit();
    close_database();
    open_database(DATABASE_WRITE);
    ck_assert_uint_eq(minutes(), 1);
}
END_TEST

START_TEST(open__says_what_is_wrong_with_the_path)
{
    char below[160];
    snprintf(below, sizeof below, "%s/none/metrics.db", folder);
    refuses(folder, DATABASE_CREATE, STATUS_IO, "it is a directory");
    refuses(folder, DATABASE_WRITE, STATUS_IO, "it is a directory");
    refuses(path, DATABASE_WRITE, STATUS_IO, "no such file");
    refuses(below, DATABASE_CREATE, STATUS_IO, "no such folder");
    refuses("", DATABASE_CREATE, STATUS_INVALID, "empty");
    ck_assert_int_ne(access(path, F_OK), 0); /* nothing was made */
}
END_TEST

START_TEST(open__a_long_path_leaves_room_for_the_reason)
{
    char name[600];
    struct sqlite_database *none;
    memset(name, 'a', sizeof name);
    name[599] = 0;
    name[1] = '/';
    ck_assert_int_eq(sqlite_database_open(name, DATABASE_CREATE, 0, &none, &err), STATUS_IO);
    ck_assert_msg(strstr(err.message, "no such folder"), "%s", err.message);
}
END_TEST

START_TEST(open__a_name_is_never_a_uri)
{
    ck_assert_int_eq(chdir(folder), 0);
    struct sqlite_database *odd;
    ck_ok(sqlite_database_open("file:odd?mode=memory", DATABASE_CREATE, 0, &odd, &err));
    sqlite_database_close(odd);
    ck_assert_int_eq(access("file:odd?mode=memory", F_OK), 0);
}
END_TEST

/* Also one that is shorter than a header, which SQLite takes for empty. */
START_TEST(open__a_file_that_is_no_database_is_left_alone)
{
    static const char prose[] = "minutes and hours, hours and days: this is prose, and no database "
                                "at all, though it is long enough to have a header of its own.\n";
    static const char *const texts[] = {prose, "x", "a short note\n",
                                        "SQLite format 4, or a list of them"};
    write_file(texts[_i]);
    for (int use = DATABASE_WRITE; use <= DATABASE_READ; use++)
        refuses(path, (enum database_use)use, STATUS_INVALID, "not a database");
    char found[200] = "";
    FILE *file = fopen(path, "r");
    ck_assert_uint_eq(fread(found, 1, sizeof found, file), strlen(texts[_i]));
    fclose(file);
    ck_assert_str_eq(found, texts[_i]);
}
END_TEST

static size_t read_whole(char *buffer, size_t size)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t count = fread(buffer, 1, size, file);
    fclose(file);
    return count;
}

/* A table, a version or an application id of someone else; not one byte of it changes. */
START_TEST(open__a_database_from_elsewhere_is_left_alone)
{
    static const char *const others[] = {"create table mine (a)", "pragma user_version = 3",
                                         "pragma application_id = 42",
                                         "pragma journal_mode = wal; create table mine (a)"};
    static char before[65536];
    static char after[65536];
    raw(others[_i]);
    size_t size = read_whole(before, sizeof before);
    refuses(path, DATABASE_CREATE, STATUS_INVALID, "another program");
    ck_assert_str_ne(err.hint, "");
    ck_assert_uint_eq(read_whole(after, sizeof after), size);
    ck_assert_mem_eq(before, after, size);
}
END_TEST

START_TEST(open__another_version_is_refused)
{
    open_database(DATABASE_CREATE);
    close_database();
    raw("pragma user_version = 99");
    refuses(path, DATABASE_WRITE, STATUS_INVALID, "version 99");
}
END_TEST

/* A newcomer's `touch`; only who may create fills it. */
START_TEST(open__an_empty_file_is_made_by_a_creator_only)
{
    write_file("");
    refuses(path, DATABASE_READ, STATUS_INVALID, "empty, not a metersim database");
    refuses(path, DATABASE_WRITE, STATUS_INVALID, "empty, not a metersim database");
    ck_assert_str_ne(err.hint, "");
    ck_assert_int_eq(size_of(path), 0);
    open_database(DATABASE_CREATE);
    ck_assert_uint_eq(minutes(), 0);
}
END_TEST

START_TEST(open__what_is_no_file_is_not_waited_for)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    for (int use = DATABASE_WRITE; use <= DATABASE_READ; use++)
        refuses(path, (enum database_use)use, STATUS_IO, "it is a device or a pipe");
    refuses("/dev/zero", DATABASE_CREATE, STATUS_IO, "it is a device or a pipe");
}
END_TEST

/* Runs the rest of the test as someone whom the rights bind. */
static void become_nobody(void)
{
    ck_assert_int_eq(chmod(folder, 0755), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
}

static void become_oneself(void)
{
    ck_assert_int_eq(seteuid(getuid()), 0);
}

static void one_minute(void)
{
    open_database(DATABASE_CREATE);
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    commit();
}

START_TEST(open__a_read_only_file_or_folder_is_refused)
{
    open_database(DATABASE_CREATE);
    close_database();
    ck_assert_int_eq(chmod(path, _i == 0 ? 0444 : 0666), 0);
    become_nobody();
    if (geteuid() == getuid()) /* an ordinary user: the folder is theirs */
        ck_assert_int_eq(chmod(folder, 0555), 0);
    refuses(path, DATABASE_CREATE, STATUS_IO,
            _i == 0 ? "it is read-only" : "its folder is read-only");
    ck_assert_str_eq(err.sqlstate, "25006");
    ck_assert_str_ne(err.hint, "");
    char other[160];
    snprintf(other, sizeof other, "%s/other.db", folder);
    refuses(other, DATABASE_CREATE, STATUS_IO, "permission denied in its folder");
    become_oneself();
    ck_assert_int_eq(chmod(folder, 0755), 0);
}
END_TEST

/* Without any right to write, and nothing appears beside the file. */
START_TEST(read__leaves_everything_as_it_is)
{
    one_minute();
    close_database();
    ck_assert_int_eq(chmod(path, 0444), 0);
    become_nobody();
    open_database(DATABASE_READ);
    ck_assert_uint_eq(minutes(), 1);
    begin(ROLE_METRICS_WRITER);
    struct minute_row row = minute_row(T0_US, 1, 1, 1);
    ck_sqlstate(store_add_minutes(store, &row, 1, &err), "25006");
    store_rollback(store);
    close_database();
    become_oneself();
    ck_assert_uint_eq(files(), 1);
}
END_TEST

/* A database in use is in WAL mode: its reader sees the last commit, and the close of the writer
 * still brings it to rest. */
START_TEST(read__beside_a_writer)
{
    one_minute();
    if (_i == 1) { /* one that has not written yet */
        close_database();
        open_database(DATABASE_WRITE);
    }
    struct sqlite_database *writer = database;
    struct store *writing = store;
    open_database(DATABASE_READ);
    store_begin(writing, ROLE_METRICS_WRITER, &err);
    ck_assert_uint_eq(minutes(), 1);
    store_rollback(writing);
    close_database();
    sqlite_database_close(writer);
    ck_assert_uint_eq(files(), 1);
}
END_TEST

/* The main file of a database that was in use, without its -wal: half of the truth. */
START_TEST(read__a_copy_from_the_middle_is_refused)
{
    char command[320];
    char copy[160];
    one_minute();
    snprintf(copy, sizeof copy, "%s/copy.db", folder);
    snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
    ck_assert_int_eq(system(command), 0);
    refuses(copy, DATABASE_READ, STATUS_INVALID, "in the middle of a write");
    close_database();
    ck_assert_uint_eq(files(), 2);
}
END_TEST

/* ---- trouble ---- */

START_TEST(full_disk__is_53100_and_leaves_nothing_half_written)
{
    open_database(DATABASE_CREATE);
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    commit();
    ck_assert_int_eq(
        sqlite3_exec(sqlite_database_db(database), "pragma max_page_count = 1", NULL, NULL, NULL),
        SQLITE_OK); /* no page more than there are */
    begin(ROLE_METRICS_WRITER);
    struct ingest_message_row message = {bytes_of("c1-1"), tenant_of(1), T0_US};
    uint8_t inserted;
    ck_ok(store_record_ingest_messages(store, &message, 1, &inserted, &err));
    static char text[LIMIT_ROUTE_BYTES];
    enum status status = STATUS_OK;
    for (int i = 0; i < 1000 && status == STATUS_OK; i++) {
        memset(text, 'a' + i % 26, sizeof text);
        struct minute_row row = minute_row(T0_US + i * MINUTE, 1, 1, 1);
        row.route = (struct bytes){(const uint8_t *)text, sizeof text};
        status = store_add_minutes(store, &row, 1, &err);
    }
    ck_assert_int_eq(status, STATUS_TRANSIENT);
    ck_assert_str_eq(err.sqlstate, "53100");
    ck_sqlstate(store_commit(store, &err), "25P02");
    store_rollback(store);
    ck_assert_uint_eq(minutes(), 1);
    begin(ROLE_METRICS_WRITER);
    ck_ok(store_record_ingest_messages(store, &message, 1, &inserted, &err));
    ck_assert_int_eq(inserted, 1); /* the row of the failed transaction is gone */
    store_rollback(store);
}
END_TEST

/* As on a full disk, and no signal that kills. */
START_TEST(file_size_limit__is_53100)
{
    struct rlimit limit;
    one_minute();
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US + MINUTE, 1, 1, 1));
    ck_sqlstate(store_commit(store, &err), "53100");
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_msg(strstr(err.message, "too large"), "%s", err.message);
    ck_assert_msg(strstr(err.hint, "ulimit -f"), "%s", err.hint);
    store_rollback(store);
    ck_assert_uint_eq(minutes(), 1);
}
END_TEST

START_TEST(busy__a_second_writer_gets_55P03_and_a_reader_reads_on)
{
    open_database(DATABASE_CREATE);
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    struct sqlite_database *second;
    ck_ok(sqlite_database_open(path, DATABASE_WRITE, 0, &second, &err));
    struct store *first_store = store;
    store = sqlite_database_store(second);
    ck_sqlstate(store_begin(store, ROLE_JOBS, &err), "55P03");
    ck_assert_uint_eq(minutes(), 0); /* not committed: not seen */
    ck_ok(store_commit(first_store, &err));
    ck_assert_uint_eq(minutes(), 1);
    begin(ROLE_JOBS);
    commit();
    sqlite_database_close(second);
}
END_TEST

START_TEST(locked__says_who_and_what_now)
{
    sqlite3 *other;
    one_minute();
    close_database();
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "begin exclusive", NULL, NULL, NULL), SQLITE_OK);
    for (int use = DATABASE_WRITE; use <= DATABASE_READ; use++) {
        refuses(path, (enum database_use)use, STATUS_TRANSIENT, "locked");
        ck_assert_str_eq(err.sqlstate, "55P03");
        ck_assert_msg(strstr(err.hint, "try again"), "%s", err.hint);
    }
    sqlite3_close(other);
    open_database(DATABASE_READ);
    ck_assert_uint_eq(minutes(), 1);
}
END_TEST

/* A process that dies in the middle of a transaction leaves none of it; a commit that was reported
 * stays, without any close. */
START_TEST(crash__keeps_commits_and_nothing_else)
{
    open_database(DATABASE_CREATE);
    make_partitions(DAY0, DAY0);
    close_database();
    pid_t child = fork();
    if (child == 0) {
        open_database(DATABASE_WRITE);
        begin(ROLE_METRICS_WRITER);
        add_minute(minute_row(T0_US, 1, 1, 1));
        commit();
        begin(ROLE_METRICS_WRITER);
        add_minute(minute_row(T0_US + MINUTE, 1, 1, 1));
        _exit(0);
    }
    int how;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    open_database(DATABASE_WRITE);
    ck_assert_uint_eq(minutes(), 1);
}
END_TEST

START_TEST(create__two_at_once_make_one_database)
{
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct sqlite_database *mine;
            _exit(sqlite_database_open(path, DATABASE_CREATE, 5000, &mine, &err) != STATUS_OK);
        }
    }
    for (int i = 0; i < 4; i++) {
        int how;
        ck_assert_int_eq(waitpid(children[i], &how, 0), children[i]);
        ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    open_database(DATABASE_WRITE);
    ck_assert_uint_eq(minutes(), 0);
}
END_TEST

/* What a file says is checked, not trusted: a wrong value is XX001, not a wrong answer. */
static const char *const damages[] = {
    "update metrics_minute set counts = zeroblob(119)",
    "update metrics_minute set counts = cast(x'ffffffffffffffff' || zeroblob(112) as blob)",
    "update metrics_minute set lossy = 7",
    "update metrics_minute set source = 'trace'",
    "update metrics_minute set status_code = 70000",
};

START_TEST(damage__is_reported)
{
    open_database(DATABASE_CREATE);
    make_partitions(DAY0, DAY0);
    begin(ROLE_METRICS_WRITER);
    add_minute(minute_row(T0_US, 1, 1, 1));
    commit();
    close_database();
    char sql[160];
    snprintf(sql, sizeof sql, "pragma ignore_check_constraints = on; %s", damages[_i]);
    raw(sql);
    open_database(DATABASE_WRITE);
    begin(ROLE_READER);
    struct uuid tenant = tenant_of(1);
    struct minute_row *rows;
    size_t count;
    ck_sqlstate(store_read_rows(store, READ_MINUTE, &tenant, INT64_MIN, INT64_MAX, &arena, &rows,
                                &count, &err),
                "XX001");
    store_rollback(store);
}
END_TEST

START_TEST(settings__are_durable)
{
    open_database(DATABASE_CREATE);
    sqlite3_stmt *statement;
    sqlite3 *db = sqlite_database_db(database);
    static const struct {
        const char *pragma;
        const char *value;
    } wanted[] = {{"pragma journal_mode", "wal"}, {"pragma synchronous", "2"}};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sqlite3_prepare_v2(db, wanted[i].pragma, -1, &statement, NULL), SQLITE_OK);
        ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
        ck_assert_str_eq((const char *)sqlite3_column_text(statement, 0), wanted[i].value);
        sqlite3_finalize(statement);
    }
}
END_TEST

Suite *store_file_suite(void);
Suite *store_file_suite(void)
{
    Suite *suite = suite_create("store_file");
    TCase *test = tcase_create("file");
    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, open__keeps_what_was_committed);
    tcase_add_test(test, open__says_what_is_wrong_with_the_path);
    tcase_add_test(test, open__a_long_path_leaves_room_for_the_reason);
    tcase_add_test(test, open__a_name_is_never_a_uri);
    tcase_add_loop_test(test, open__a_file_that_is_no_database_is_left_alone, 0, 4);
    tcase_add_loop_test(test, open__a_database_from_elsewhere_is_left_alone, 0, 4);
    tcase_add_test(test, open__another_version_is_refused);
    tcase_add_test(test, open__an_empty_file_is_made_by_a_creator_only);
    tcase_add_test(test, open__what_is_no_file_is_not_waited_for);
    tcase_add_loop_test(test, open__a_read_only_file_or_folder_is_refused, 0, 2);
    tcase_add_test(test, read__leaves_everything_as_it_is);
    tcase_add_loop_test(test, read__beside_a_writer, 0, 2);
    tcase_add_test(test, read__a_copy_from_the_middle_is_refused);
    tcase_add_test(test, full_disk__is_53100_and_leaves_nothing_half_written);
    tcase_add_test(test, file_size_limit__is_53100);
    tcase_add_test(test, busy__a_second_writer_gets_55P03_and_a_reader_reads_on);
    tcase_add_test(test, locked__says_who_and_what_now);
    tcase_add_test(test, crash__keeps_commits_and_nothing_else);
    tcase_add_test(test, create__two_at_once_make_one_database);
    tcase_add_loop_test(test, damage__is_reported, 0, sizeof damages / sizeof damages[0]);
    tcase_add_test(test, settings__are_durable);
    suite_add_tcase(suite, test);
    return suite;
}
