/* The switches: defaults, words, refusals with a hint. */
#include "core/base/nearest.h"
#include "core/base/rules.h"
#include <check.h>
#include <string.h>

static struct rules parsed(const char *text)
{
    struct rules rules = rules_default();
    struct err err;
    ck_assert_int_eq(rules_parse(text, strlen(text), &rules, &err), STATUS_OK);
    return rules;
}

/* RULES, head: off by default are S-2, S-5, S-6, S-8 and nothing else. */
START_TEST(rules__defaults)
{
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        bool off = rule == RULE_S2 || rule == RULE_S5 || rule == RULE_S6 || rule == RULE_S8;
        ck_assert_msg(rules_on(rules_default(), (enum rule)rule) == !off, "%s",
                      rule_infos[rule].id);
    }
}
END_TEST

START_TEST(rules__each_has_an_id_of_its_own_and_a_title)
{
    for (int a = 0; a < RULE_COUNT; a++) {
        ck_assert_int_gt((int)strlen(rule_infos[a].title), 10);
        ck_assert(rule_infos[a].id[0] == (a < RULE_S1 ? 'A' : 'S'));
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(rule_infos[a].id, rule_infos[b].id);
    }
    ck_assert_str_eq(rule_infos[RULE_A14].id, "A-14");
    ck_assert_str_eq(rule_infos[RULE_S12].id, "S-12");
}
END_TEST

START_TEST(rules__one_switch_moves_one_bit)
{
    for (int rule = 0; rule < RULE_COUNT; rule++) {
        char word[8] = "-";
        strcat(word, rule_infos[rule].id);
        uint32_t bit = UINT32_C(1) << rule;
        ck_assert_uint_eq(parsed(word).bits, rules_default().bits & ~bit);
        word[0] = '+';
        ck_assert_uint_eq(parsed(word).bits, rules_default().bits | bit);
    }
}
END_TEST

START_TEST(rules__words_apply_from_left_to_right)
{
    ck_assert_uint_eq(parsed("").bits, rules_default().bits);
    ck_assert(!rules_on(parsed("strict -A-5"), RULE_A5));
    ck_assert(rules_on(parsed("-A-5,strict"), RULE_A5));
    ck_assert_uint_eq(parsed("-A-1 -S-1  ,default").bits, rules_default().bits);
    ck_assert_uint_eq(parsed("strict").bits, (UINT32_C(1) << RULE_COUNT) - 1);
}
END_TEST

/* RULES, head: the letter is every S off; the audit fixes stay as they are. */
START_TEST(rules__letter_leaves_the_audit_fixes_alone)
{
    struct rules letter = parsed("-A-5 letter");
    for (int rule = 0; rule < RULE_COUNT; rule++)
        ck_assert_int_eq(rules_on(letter, (enum rule)rule), rule < RULE_S1 && rule != RULE_A5);
}
END_TEST

START_TEST(rules__unknown_words_are_refused_with_the_nearest)
{
    static const struct {
        const char *text, *message, *hint;
    } cases[] = {
        {"strickt", "unknown rule \"strickt\"", "did you mean \"strict\"?"},
        {"+S9", "unknown rule \"+S9\"", "did you mean \"+S-9\"?"},
        {"-A-5 -A-", "unknown rule \"-A-\"", "did you mean \"-A-1\"?"},
        {"A-5", "unknown rule \"A-5\"", "did you mean \"+A-5\"?"},
        {"+a-5", "unknown rule \"+a-5\"", "did you mean \"+A-5\"?"},
        {"everything", "unknown rule \"everything\"",
         "write -A-5 or +S-8, or strict, letter, default"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rules rules = {42};
        struct err err;
        ck_assert_int_eq(rules_parse(cases[i].text, strlen(cases[i].text), &rules, &err),
                         STATUS_INVALID);
        ck_assert_str_eq(err.message, cases[i].message);
        ck_assert_str_eq(err.hint, cases[i].hint);
        ck_assert_uint_eq(rules.bits, 42); /* all or nothing */
    }
}
END_TEST

static const char *nearest_of(const char *word)
{
    static const char *const names[] = {"commit", "rollback", "begin"};
    struct nearest nearest = nearest_begin(bytes_of(word));
    for (size_t i = 0; i < 3; i++)
        nearest_offer(&nearest, names[i]);
    return nearest_name(&nearest);
}

START_TEST(nearest__one_slip_is_found_and_nonsense_is_not)
{
    ck_assert_str_eq(nearest_of("comit"), "commit");      /* left out */
    ck_assert_str_eq(nearest_of("begiin"), "begin");      /* added */
    ck_assert_str_eq(nearest_of("rollbock"), "rollback"); /* changed */
    ck_assert_str_eq(nearest_of("bgein"), "begin");       /* swapped */
    ck_assert_str_eq(nearest_of("begin"), "begin");
    ck_assert_ptr_null(nearest_of("zzzzzz"));
    ck_assert_ptr_null(nearest_of(""));
}
END_TEST

Suite *rules_suite(void);
Suite *rules_suite(void)
{
    Suite *suite = suite_create("rules");
    TCase *tcase = tcase_create("rules");
    tcase_add_test(tcase, rules__defaults);
    tcase_add_test(tcase, rules__each_has_an_id_of_its_own_and_a_title);
    tcase_add_test(tcase, rules__one_switch_moves_one_bit);
    tcase_add_test(tcase, rules__words_apply_from_left_to_right);
    tcase_add_test(tcase, rules__letter_leaves_the_audit_fixes_alone);
    tcase_add_test(tcase, rules__unknown_words_are_refused_with_the_nearest);
    tcase_add_test(tcase, nearest__one_slip_is_found_and_nonsense_is_not);
    suite_add_tcase(suite, tcase);
    return suite;
}
