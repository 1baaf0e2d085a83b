/* Coroutines: the stacks on which actors run, all on one OS thread.
 *
 * Legal order: coroutine_new, coroutine_resume until coroutine_done, coroutine_free. A resume runs
 * body(argument) until it calls coroutine_yield (the resume returns, and the next one goes on
 * behind the yield) or ends (returns, or coroutine_exit).
 *
 * Each has LIMIT_STACK_BYTES of stack above a guard page: an overflow is a fault at once, never a
 * silent write into a neighbour. Stacks are pooled in the thread. AddressSanitizer is told of every
 * switch, valgrind of every stack. The switch is 15 instructions on x86-64 (about 30 ns for a
 * resume and its yield) and swapcontext elsewhere, or with -DCOROUTINE_UCONTEXT.
 */
#ifndef SIM_SCHED_COROUTINE_H
#define SIM_SCHED_COROUTINE_H

#include <stdbool.h>

struct coroutine;

/* NULL: out of memory. Nothing runs before the first resume. */
struct coroutine *coroutine_new(void (*body)(void *argument), void *argument);

/* From outside of it, while it is not done. Resumes may nest: a coroutine may resume another. */
void coroutine_resume(struct coroutine *coroutine);

/* From within it: */
void coroutine_yield(struct coroutine *coroutine);
_Noreturn void coroutine_exit(struct coroutine *coroutine);

bool coroutine_done(const struct coroutine *coroutine);

/* From outside of it, done or not: it is abandoned where it stands, nothing of its stack is
 * unwound, and what its frames own is the caller's business. NULL is allowed. */
void coroutine_free(struct coroutine *coroutine);

/* Unmaps the pooled stacks of this thread. */
void coroutine_pool_free(void);

#endif
