/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard error, kept for a while. */
#ifndef LINERATE_TEST_CAPTURE_H
#define LINERATE_TEST_CAPTURE_H

#include <stdio.h>
#include <unistd.h>

static char printed[4096];
static FILE *capture_file;
static int capture_before;

static inline void capture_start(void)
{
	capture_file = tmpfile();
	capture_before = dup(STDERR_FILENO);
	fflush(stderr);
	dup2(fileno(capture_file), STDERR_FILENO);
}

/* Its text is in `printed` then. */
static inline void capture_end(void)
{
	fflush(stderr);
	dup2(capture_before, STDERR_FILENO);
	close(capture_before);
	rewind(capture_file);
	printed[fread(printed, 1, sizeof(printed) - 1, capture_file)] = '\0';
	fclose(capture_file);
}

#endif
