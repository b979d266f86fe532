/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LINERATE_TEXT_FILE_H
#define LINERATE_TEXT_FILE_H

#include <stddef.h>

/* The whole of the file, for the caller to free; NULL, and errno, when it cannot be read. */
char *text_file_read(const char *path, size_t *length);

#endif
