/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The JSON configuration of the engine as a whole. An engine reads one configuration in its
 * life, so each input is read in a process of its own; the counters by which libFuzzer sees
 * what was reached are shared with it.
 */
#include "counters.h"
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 5
#define MISTAKES_EXIT 2

/* For a build that counts lines (make fuzz-coverage): _exit() writes no profile. */
__attribute__((weak)) int __llvm_profile_write_file(void);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	counters_share();
	return 0;
}

static void read_config(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct config config;
	int code = MISTAKES_EXIT;

	/* Mistakes are printed; hundreds a second are of no use. */
	stderr = fopen("/dev/null", "we");
	alarm(SECONDS_MAX);
	if (text != NULL && stderr != NULL && config_open_text(&config, "fuzz", text) == 0) {
		code = engine_parse(&config) == 0 ? EXIT_SUCCESS : MISTAKES_EXIT;
		config_close(&config);
	}
	if (__llvm_profile_write_file != NULL)
		__llvm_profile_write_file();
	_exit(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		read_config(data, size);
	/* libFuzzer's own timer may interrupt the wait. */
	if (child < 0 || TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) != child)
		abort();
	if (!WIFEXITED(status) ||
		(WEXITSTATUS(status) != EXIT_SUCCESS && WEXITSTATUS(status) != MISTAKES_EXIT))
		abort();
	return 0;
}
