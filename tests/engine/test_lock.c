/* SPDX-License-Identifier: BSD-3-Clause */
/* A counted lock keeps others out, and what it counts adds up. */
#include "core/lock.h"
#include "test.h"

#include <sched.h>
#include <stdbool.h>

#define USERS 4
#define ROUNDS 20000

static struct lock *lock;
static uint64_t guarded; /* by the lock alone */
static bool held, asking, had;

static void *take_turns(void *argument)
{
	unsigned user = *(const unsigned *)argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		lock_acquire(lock, user);
		guarded++;
		lock_release(lock);
	}
	return NULL;
}

static void sections_do_not_overlap(void)
{
	static const unsigned numbers[USERS] = {0, 1, 2, LOCK_OTHERS};
	pthread_t threads[USERS];
	struct lock_user sum;

	lock = lock_create("turns");
	for (unsigned i = 0; i < USERS; i++)
		CHECK(pthread_create(
			      &threads[i], NULL, take_turns, (void *)(uintptr_t)&numbers[i]) == 0);
	for (unsigned i = 0; i < USERS; i++)
		(void)pthread_join(threads[i], NULL);
	CHECK_EQUAL(guarded, USERS * ROUNDS);
	for (unsigned i = 0; i < USERS; i++)
		CHECK_EQUAL(lock->users[numbers[i]].acquisitions, ROUNDS);
	sum = lock_sum(lock);
	CHECK_EQUAL(sum.acquisitions, USERS * ROUNDS);
	CHECK(sum.waits <= sum.acquisitions);
	CHECK((sum.waits == 0) == (sum.wait_clocks == 0));
}

/* The main thread's state in /proc/self/stat, behind the name in brackets, is S: sleeping. */
static bool main_sleeps(void)
{
	FILE *file = fopen("/proc/self/stat", "r");
	char text[256] = "";
	const char *bracket;

	if (file == NULL)
		return true;
	(void)!fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	bracket = strrchr(text, ')');
	return bracket != NULL && strncmp(bracket, ") S", 3) == 0;
}

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

/* Until the other one, which then sleeps for nothing else, waits for the lock; or has it, which
 * would be wrong. */
static void *hold(void *argument)
{
	lock_acquire(argument, LOCK_OTHERS);
	set(&held);
	while (!is_set(&asking) || (!main_sleeps() && !is_set(&had)))
		(void)sched_yield();
	lock_release(argument);
	return NULL;
}

static void waits_are_counted(void)
{
	struct lock *one = lock_create("held");
	pthread_t thread;

	lock_acquire(one, 3);
	lock_release(one);
	CHECK_EQUAL(one->users[3].waits, 0);
	CHECK(pthread_create(&thread, NULL, hold, one) == 0);
	while (!is_set(&held))
		(void)sched_yield();
	set(&asking);
	lock_acquire(one, 3);
	set(&had);
	lock_release(one);
	(void)pthread_join(thread, NULL);
	CHECK_EQUAL(one->users[3].acquisitions, 2);
	CHECK_EQUAL(one->users[3].waits, 1);
	CHECK(one->users[3].wait_clocks > 0);
	CHECK_EQUAL(one->users[LOCK_OTHERS].waits, 0);
}

static void all_are_listed(void)
{
	const struct lock *one = locks();

	CHECK(strcmp(one->name, "held") == 0);
	CHECK(strcmp(one->link->name, "turns") == 0);
	CHECK(one->link->link == NULL);
}

static const struct test_case cases[] = {
	{"sections do not overlap", sections_do_not_overlap},
	{"waits are counted", waits_are_counted},
	{"all are listed", all_are_listed},
};
TEST_MAIN(cases)
