/* sim/sched/coroutine: frames survive switches, abandoned stacks are reusable, overflows are found.
 */
#include "sim/sched/coroutine.h"

#include "sim/limits.h"
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

struct worker {
    struct coroutine *coroutine;
    int depth;
    double sum;
    int stage;
    struct worker *inner;
};

/* Yields at every depth on the way down and up; what it keeps on the stack must still be there. */
static double recurse(struct worker *worker, int depth)
{
    char buffer[48];
    memset(buffer, depth, sizeof buffer);
    double kept = (double)depth * 0.5;
    char *heap = malloc(16);
    ck_assert_ptr_nonnull(heap);
    heap[15] = (char)depth;
    coroutine_yield(worker->coroutine);
    double below = depth > 0 ? recurse(worker, depth - 1) : 0;
    coroutine_yield(worker->coroutine);
    for (size_t i = 0; i < sizeof buffer; i++)
        ck_assert_int_eq(buffer[i], depth);
    ck_assert_int_eq(heap[15], depth);
    free(heap);
    return below + kept;
}

static void recurse_body(void *argument)
{
    struct worker *worker = argument;
    worker->sum = recurse(worker, worker->depth);
}

/* Depths 20, 30, 40: sum of 0.5 * d for d = 0..n = n (n + 1) / 4: 105, 232.5, 410. Each frame
 * yields twice, so a coroutine needs 2 (n + 1) resumes and one to end. */
START_TEST(coroutine__frames_survive_interleaved_switches)
{
    struct worker workers[3] = {{.depth = 20}, {.depth = 30}, {.depth = 40}};
    for (int i = 0; i < 3; i++) {
        workers[i].coroutine = coroutine_new(recurse_body, &workers[i]);
        ck_assert_ptr_nonnull(workers[i].coroutine);
    }
    int resumes = 0;
    for (int left = 3; left > 0;) {
        left = 0;
        for (int i = 0; i < 3; i++) {
            if (coroutine_done(workers[i].coroutine))
                continue;
            coroutine_resume(workers[i].coroutine);
            resumes++;
            left++;
        }
    }
    ck_assert_int_eq(resumes, 2 * 21 + 1 + 2 * 31 + 1 + 2 * 41 + 1);
    ck_assert_double_eq(workers[0].sum, 105.0);
    ck_assert_double_eq(workers[1].sum, 232.5);
    ck_assert_double_eq(workers[2].sum, 410.0);
    for (int i = 0; i < 3; i++)
        coroutine_free(workers[i].coroutine);
    coroutine_pool_free();
}
END_TEST

static void stages_body(void *argument)
{
    struct worker *worker = argument;
    worker->stage = 1;
    coroutine_yield(worker->coroutine);
    worker->stage = 2;
    coroutine_exit(worker->coroutine);
}

START_TEST(coroutine__exit_ends_it_at_once)
{
    struct worker worker = {0};
    worker.coroutine = coroutine_new(stages_body, &worker);
    ck_assert_int_eq(worker.stage, 0);
    coroutine_resume(worker.coroutine);
    ck_assert_int_eq(worker.stage, 1);
    ck_assert(!coroutine_done(worker.coroutine));
    coroutine_resume(worker.coroutine);
    ck_assert_int_eq(worker.stage, 2);
    ck_assert(coroutine_done(worker.coroutine));
    coroutine_free(worker.coroutine);
    coroutine_pool_free();
}
END_TEST

/* 1000 coroutines abandoned inside a frame, or never started, on one pooled stack. */
START_TEST(coroutine__abandoned_stacks_are_reused)
{
    struct coroutine *first = NULL;
    for (int i = 0; i < 1000; i++) {
        struct worker worker = {0};
        worker.coroutine = coroutine_new(stages_body, &worker);
        first = first ? first : worker.coroutine;
        ck_assert_ptr_eq(worker.coroutine, first);
        if (i % 2 == 0)
            coroutine_resume(worker.coroutine);
        coroutine_free(worker.coroutine);
        ck_assert_int_eq(worker.stage, i % 2 == 0 ? 1 : 0);
    }
    coroutine_pool_free();
}
END_TEST

static void nested_body(void *argument)
{
    struct worker *worker = argument;
    coroutine_resume(worker->inner->coroutine);
    coroutine_yield(worker->coroutine);
    coroutine_free(worker->inner->coroutine); /* abandoned from another coroutine's stack */
    worker->stage = 5;
}

START_TEST(coroutine__may_resume_and_free_another)
{
    struct worker inner = {0};
    struct worker outer = {.inner = &inner};
    inner.coroutine = coroutine_new(stages_body, &inner);
    outer.coroutine = coroutine_new(nested_body, &outer);
    coroutine_resume(outer.coroutine);
    ck_assert_int_eq(inner.stage, 1);
    coroutine_resume(outer.coroutine);
    ck_assert(coroutine_done(outer.coroutine));
    ck_assert_int_eq(inner.stage, 1);
    ck_assert_int_eq(outer.stage, 5);
    coroutine_free(outer.coroutine);
    coroutine_pool_free();
}
END_TEST

/* printf with doubles faults on a misaligned stack (SSE spills). */
static void print_body(void *argument)
{
    char text[64];
    snprintf(text, sizeof text, "%.3f %Lg", 0.125, (long double)2.5);
    *(int *)argument = strcmp(text, "0.125 2.5") == 0;
}

START_TEST(coroutine__stack_is_aligned)
{
    int right = 0;
    struct coroutine *coroutine = coroutine_new(print_body, &right);
    coroutine_resume(coroutine);
    ck_assert_int_eq(right, 1);
    coroutine_free(coroutine);
    coroutine_pool_free();
}
END_TEST

/* ---- what must not go unnoticed; the report on stderr is expected and thrown away ---- */

static void quiet(void)
{
    int null = open("/dev/null", O_WRONLY);
    ck_assert_int_ge(null, 0);
    ck_assert_int_ge(dup2(null, STDERR_FILENO), 0);
}

static int eat_stack(volatile char *above, int depth)
{
    volatile char frame[1024];
    frame[0] = above ? above[0] : 1;
    if (depth == 0)
        return frame[0];
    return eat_stack(frame, depth - 1) + frame[0];
}

static void overflow_body(void *argument)
{
    *(int *)argument = eat_stack(NULL, 2 * LIMIT_STACK_BYTES / 1024);
}

START_TEST(coroutine__stack_overflow_hits_the_guard_page)
{
    quiet();
    int result = 0;
    coroutine_resume(coroutine_new(overflow_body, &result));
    printf("%d\n", result);
}
END_TEST

#if WITH_ASAN
static void write_behind(char *buffer, volatile size_t index)
{
    buffer[index] = 1;
    __asm__ volatile("" ::"r"(buffer) : "memory");
}

static void buggy_body(void *argument)
{
    char buffer[64];
    memset(buffer, 0, sizeof buffer);
    coroutine_yield(((struct worker *)argument)->coroutine);
    write_behind(buffer, sizeof buffer);
}

START_TEST(coroutine__sanitizer_finds_a_buffer_overflow_on_its_stack)
{
    quiet();
    struct worker worker = {0};
    worker.coroutine = coroutine_new(buggy_body, &worker);
    coroutine_resume(worker.coroutine);
    coroutine_resume(worker.coroutine);
}
END_TEST
#endif

Suite *coroutine_suite(void);
Suite *coroutine_suite(void)
{
    Suite *suite = suite_create("coroutine");
    TCase *tcase = tcase_create("coroutine");
    tcase_add_test(tcase, coroutine__frames_survive_interleaved_switches);
    tcase_add_test(tcase, coroutine__exit_ends_it_at_once);
    tcase_add_test(tcase, coroutine__abandoned_stacks_are_reused);
    tcase_add_test(tcase, coroutine__may_resume_and_free_another);
    tcase_add_test(tcase, coroutine__stack_is_aligned);
#if WITH_ASAN
    tcase_add_exit_test(tcase, coroutine__stack_overflow_hits_the_guard_page, 1);
    tcase_add_exit_test(tcase, coroutine__sanitizer_finds_a_buffer_overflow_on_its_stack, 1);
#else
    tcase_add_test_raise_signal(tcase, coroutine__stack_overflow_hits_the_guard_page, SIGSEGV);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
