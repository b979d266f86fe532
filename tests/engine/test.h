/* SPDX-License-Identifier: BSD-3-Clause */
/* A test program is a list of named cases; each failed CHECK says where and goes on. */
#ifndef LINERATE_TEST_H
#define LINERATE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned test_checks, test_failures;

#define CHECK(condition) \
	do { \
		test_checks++; \
		if (!(condition)) { \
			test_failures++; \
			fprintf(stderr, "%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, \
				#condition); \
		} \
	} while (0)

#define CHECK_EQUAL(got, wanted) \
	do { \
		unsigned long long got_ = (unsigned long long)(got); \
		unsigned long long wanted_ = (unsigned long long)(wanted); \
		test_checks++; \
		if (got_ != wanted_) { \
			test_failures++; \
			fprintf(stderr, \
				"%s:%d: %s: %s is %llu (0x%llx), expected %llu (0x%llx)\n", \
				__FILE__, __LINE__, __func__, #got, got_, got_, wanted_, wanted_); \
		} \
	} while (0)

struct test_case {
	const char *name;
	void (*run)(void);
};

/* Prints the result of a case; `before` is the number of checks that had failed by its start. */
static inline void test_report(const char *name, unsigned before)
{
	printf("%s %s\n", test_failures == before ? "ok    " : "FAILED", name);
}

/* Returns main()'s exit code. */
static inline int test_end(void)
{
	printf("%u checks, %u failed\n", test_checks, test_failures);
	return test_failures == 0 && test_checks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Runs the cases and returns main()'s exit code. */
static inline int test_run(const struct test_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned before = test_failures;

		cases[i].run();
		test_report(cases[i].name, before);
	}
	return test_end();
}

#define TEST_RUN(cases) test_run(cases, sizeof(cases) / sizeof((cases)[0]))
/* main() of a program that does no more than to run its cases. */
#define TEST_MAIN(cases) \
	int main(void) \
	{ \
		return TEST_RUN(cases); \
	}

#endif
