/* insert ... select in two halves. */
#include "sim/sqlite/overlay.h"
#include "sim/sqlite/split.h"
#include <check.h>
#include <string.h>

static struct overlay *overlay;
static struct catalog catalog;
static struct err err;

static void set_up(void)
{
    ck_assert_int_eq(overlay_new(&overlay, &err), STATUS_OK);
    ck_assert_int_eq(catalog_open(&catalog, overlay_db(overlay), &err), STATUS_OK);
}

static void tear_down(void)
{
    catalog_close(&catalog);
    overlay_free(overlay);
}

static const struct table *table_of(const char *name)
{
    uint64_t bit;
    ck_assert_int_eq(catalog_bit(&catalog, name, &bit, &err), STATUS_OK);
    return &catalog.tables[__builtin_ctzll(bit)];
}

/* Every part that the overlay may have to run in two halves. */
START_TEST(split__cuts_every_query_that_inserts_a_select)
{
    int cut = 0;
    for (int i = 0; i < QUERY_COUNT; i++)
        for (int p = 0; p < queries[i].part_count; p++) {
            const struct query_part *part = &queries[i].parts[p];
            if (part->kind != QUERY_KIND_SELECT_IN)
                continue;
            struct split *split;
            enum status status = split_new(overlay_db(overlay), table_of(part->table), part->sqlite,
                                           queries[i].param_count, &split, &err);
            ck_assert_msg(status == STATUS_OK, "%s: %s", queries[i].name, err.message);
            ck_assert(sqlite3_stmt_readonly(split->select));
            ck_assert(!sqlite3_stmt_readonly(split->insert));
            ck_assert_int_eq(split->first, queries[i].param_count + 1);
            split_free(split);
            cut++;
        }
    ck_assert_int_ge(cut, 3);
}
END_TEST

START_TEST(split__finds_key_columns_conflict_and_parameters)
{
    struct split *split;
    /* the words in the comment, the text and the parentheses are not the statement's own */
    const char *sql = "insert into rollup_pending (marked_at, hour, tenant_id)\n"
                      "-- on conflict do nothing\n"
                      "select max(1, (select 2)), ?2, 'on conflict returning'\n"
                      "where ?1 = ?1\n"
                      "on conflict (tenant_id, hour) do update set marked_at = ?3\n"
                      "returning hour";
    ck_assert_int_eq(
        split_new(overlay_db(overlay), table_of("rollup_pending"), sql, 3, &split, &err),
        STATUS_OK);
    ck_assert_int_eq(split->columns, 3);
    ck_assert_int_eq(split->key[0], 2); /* tenant_id */
    ck_assert_int_eq(split->key[1], 1); /* hour */
    ck_assert(split->updates);
    ck_assert_int_eq(sqlite3_column_count(split->select), 3);
    ck_assert_int_eq(sqlite3_column_count(split->insert), 1);
    ck_assert_int_eq(sqlite3_bind_parameter_count(split->insert), 6); /* ?3, ?4, ?5, ?6 */
    split_free(split);
}
END_TEST

START_TEST(split__refuses_other_forms)
{
    static const char *const texts[] = {
        "delete from rollup_pending",
        "insert into rollup_pending select 1, 2, 3",
        "insert into rollup_pending (hour, marked_at) select 1, 2",
        "insert into rollup_pending (tenant_id, hour, marked_at) select 1, 2",
        "insert into rollup_pending (tenant_id, hour, marked_at",
    };
    struct split *split;
    ck_assert_int_eq(
        split_new(overlay_db(overlay), table_of("rollup_pending"), texts[_i], 0, &split, &err),
        STATUS_INVALID);
}
END_TEST

Suite *split_suite(void);
Suite *split_suite(void)
{
    Suite *suite = suite_create("split");
    TCase *test = tcase_create("split");
    tcase_add_checked_fixture(test, set_up, tear_down);
    tcase_add_test(test, split__cuts_every_query_that_inserts_a_select);
    tcase_add_test(test, split__finds_key_columns_conflict_and_parameters);
    tcase_add_loop_test(test, split__refuses_other_forms, 0, 5);
    suite_add_tcase(suite, test);
    return suite;
}
