/* The switch saves what the System V ABI makes the callee keep: rbx, rbp, r12 to r15 and the stack
 * pointer. Floating-point control words are not switched: no code here changes them.
 *
 * A stack, from low to high addresses; the struct lives at its top, so that it needs no allocation:
 *
 *   [guard page][ ... stack, grows down ... | first frame | struct coroutine ]
 */
#include "sim/sched/coroutine.h"

#include "core/base/assert.h"
#include "sim/limits.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(COROUTINE_UCONTEXT)
#define COROUTINE_UCONTEXT
#endif
#ifdef COROUTINE_UCONTEXT
#include <ucontext.h>
#endif

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#ifdef COROUTINE_UCONTEXT
#define CONTEXT ucontext_t
#else
#define CONTEXT void * /* the saved stack pointer; the registers lie above it */
#endif

struct coroutine {
    CONTEXT own;    /* where it yielded */
    CONTEXT caller; /* where it was resumed */
    void (*body)(void *argument);
    void *argument;
    char *bottom; /* of the stack; the guard page lies below, this struct at the top */
    unsigned valgrind_id;
    bool started;
    bool running;
    bool done;
    bool abandoned;         /* told to leave for good at its next resume */
    struct coroutine *next; /* in the pool */
    /* AddressSanitizer's view */
    void *own_fake_stack;
    void *caller_fake_stack;
    const void *caller_bottom;
    size_t caller_size;
};

static _Thread_local struct coroutine *pool;

static size_t guard_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t stack_size(const struct coroutine *coroutine)
{
    return (size_t)((const char *)coroutine - coroutine->bottom);
}

/* ---- the switch ---- */

static _Noreturn void enter(struct coroutine *coroutine);

#ifdef COROUTINE_UCONTEXT

static void switch_context(CONTEXT *save, CONTEXT *to)
{
    int failed = swapcontext(save, to);
    ASSERT(failed == 0);
}

/* makecontext hands over ints only: the pointer comes in two halves */
static void enter_halves(unsigned high, unsigned low)
{
    enter((struct coroutine *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void prepare(struct coroutine *coroutine)
{
    uint64_t address = (uintptr_t)coroutine;
    int failed = getcontext(&coroutine->own);
    ASSERT(failed == 0);
    coroutine->own.uc_stack.ss_sp = coroutine->bottom;
    coroutine->own.uc_stack.ss_size = stack_size(coroutine);
    coroutine->own.uc_link = NULL;
    makecontext(&coroutine->own, (void (*)(void))(uintptr_t)enter_halves, 2,
                (unsigned)(address >> 32), (unsigned)address);
}

#else

void coroutine_switch(void **save, void *to);
void coroutine_first(void);

/* coroutine_first is where the first switch into a coroutine returns to: rbx holds the coroutine,
 * r12 the function, which never returns. A zeroed rbp ends a debugger's backtrace. */
__asm__(".text\n"
        ".globl coroutine_switch\n"
        ".hidden coroutine_switch\n"
        ".type coroutine_switch, @function\n"
        "coroutine_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size coroutine_switch, . - coroutine_switch\n"
        ".globl coroutine_first\n"
        ".hidden coroutine_first\n"
        ".type coroutine_first, @function\n"
        "coroutine_first:\n"
        "    movq %rbx, %rdi\n"
        "    call *%r12\n"
        "    ud2\n"
        ".size coroutine_first, . - coroutine_first\n");

static void switch_context(CONTEXT *save, CONTEXT *to)
{
    coroutine_switch(save, *to);
}

/* The frame that the first switch pops: r15 r14 r13 r12 rbx rbp and the return address. Then the
 * stack pointer must be a multiple of 16, because coroutine_first makes a call. */
static void prepare(struct coroutine *coroutine)
{
    uintptr_t *top = (uintptr_t *)((uintptr_t)coroutine & ~(uintptr_t)15);
    uintptr_t *frame = top - 2 - 7;
    memset(frame, 0, 9 * sizeof *frame);
    frame[3] = (uintptr_t)enter;
    frame[4] = (uintptr_t)coroutine;
    frame[6] = (uintptr_t)coroutine_first;
    coroutine->own = frame;
    ASSERT(((uintptr_t)(frame + 7) & 15) == 0);
}

#endif

/* ---- what the sanitizer is told ---- */

static void before_switch(void **save_fake_stack, const void *bottom, size_t size)
{
#if WITH_ASAN
    __sanitizer_start_switch_fiber(save_fake_stack, bottom, size);
#else
    (void)save_fake_stack, (void)bottom, (void)size;
#endif
}

static void after_switch(void *fake_stack, const void **old_bottom, size_t *old_size)
{
#if WITH_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_size);
#else
    (void)fake_stack, (void)old_bottom, (void)old_size;
#endif
}

/* The frames of an abandoned coroutine leave poisoned red zones behind. */
static void clean_stack(struct coroutine *coroutine)
{
#if WITH_ASAN
    __asan_unpoison_memory_region(coroutine->bottom, stack_size(coroutine));
#else
    (void)coroutine;
#endif
}

/* ---- stacks ---- */

static struct coroutine *stack_map(void)
{
    size_t guard = guard_bytes();
    size_t size = guard + LIMIT_STACK_BYTES;
    char *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return NULL;
    if (mprotect(mapping, guard, PROT_NONE) != 0) {
        munmap(mapping, size);
        return NULL;
    }
    size_t room = (sizeof(struct coroutine) + 63) & ~(size_t)63;
    struct coroutine *coroutine = (struct coroutine *)(void *)(mapping + size - room);
    coroutine->bottom = mapping + guard;
#ifdef VALGRIND_STACK_REGISTER
    coroutine->valgrind_id = VALGRIND_STACK_REGISTER(mapping + guard, mapping + size);
#endif
    return coroutine;
}

void coroutine_pool_free(void)
{
    while (pool) {
        struct coroutine *coroutine = pool;
        pool = coroutine->next;
#ifdef VALGRIND_STACK_DEREGISTER
        VALGRIND_STACK_DEREGISTER(coroutine->valgrind_id);
#endif
        munmap(coroutine->bottom - guard_bytes(), guard_bytes() + LIMIT_STACK_BYTES);
    }
}

struct coroutine *coroutine_new(void (*body)(void *argument), void *argument)
{
    ASSERT(body);
    struct coroutine *coroutine = pool;
    if (coroutine)
        pool = coroutine->next;
    else if (!(coroutine = stack_map()))
        return NULL;
    *coroutine = (struct coroutine){.body = body,
                                    .argument = argument,
                                    .bottom = coroutine->bottom,
                                    .valgrind_id = coroutine->valgrind_id};
    prepare(coroutine);
    return coroutine;
}

void coroutine_free(struct coroutine *coroutine)
{
    if (!coroutine)
        return;
    ASSERT(!coroutine->running);
    if (coroutine->started && !coroutine->done) {
        /* it must leave by itself once more: only so the sanitizer frees its fake stack */
        coroutine->abandoned = true;
        coroutine_resume(coroutine);
        ASSERT(coroutine->done);
    }
    clean_stack(coroutine);
    coroutine->next = pool;
    pool = coroutine;
}

/* ---- running ---- */

/* Back to the caller; for good when the fake stack is not saved. */
static void leave(struct coroutine *coroutine, void **save_fake_stack)
{
    before_switch(save_fake_stack, coroutine->caller_bottom, coroutine->caller_size);
    switch_context(&coroutine->own, &coroutine->caller);
}

static _Noreturn void enter(struct coroutine *coroutine)
{
    after_switch(NULL, &coroutine->caller_bottom, &coroutine->caller_size);
    coroutine->body(coroutine->argument);
    coroutine_exit(coroutine);
}

void coroutine_resume(struct coroutine *coroutine)
{
    ASSERT(!coroutine->running);
    ASSERT(!coroutine->done);
    coroutine->started = true;
    coroutine->running = true;
    before_switch(&coroutine->caller_fake_stack, coroutine->bottom, stack_size(coroutine));
    switch_context(&coroutine->caller, &coroutine->own);
    after_switch(coroutine->caller_fake_stack, NULL, NULL);
    coroutine->running = false;
}

void coroutine_yield(struct coroutine *coroutine)
{
    ASSERT(coroutine->running);
    leave(coroutine, &coroutine->own_fake_stack);
    after_switch(coroutine->own_fake_stack, &coroutine->caller_bottom, &coroutine->caller_size);
    if (coroutine->abandoned)
        coroutine_exit(coroutine);
}

_Noreturn void coroutine_exit(struct coroutine *coroutine)
{
    ASSERT(coroutine->running);
    coroutine->done = true;
    leave(coroutine, NULL);
    assert_fail("a coroutine that is done is not resumed", __FILE__, __LINE__);
}

bool coroutine_done(const struct coroutine *coroutine)
{
    return coroutine->done;
}
