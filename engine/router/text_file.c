/* SPDX-License-Identifier: BSD-3-Clause */
#include "text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ROOM_MIN ((size_t)1 << 20)

static char *read_all(FILE *file, size_t room, size_t *length)
{
	char *text = NULL, *more;

	*length = 0;
	while ((more = realloc(text, room)) != NULL) {
		text = more;
		*length += fread(text + *length, 1, room - *length, file);
		if (ferror(file))
			break;
		if (*length < room)
			return text;
		room *= 2;
	}
	free(text);
	return NULL;
}

char *text_file_read(const char *path, size_t *length)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	size_t room = ROOM_MIN;
	char *text;

	if (file == NULL)
		return NULL;
	/* A byte more than there are shows the end without another allocation. */
	if (fstat(fileno(file), &status) == 0 && (size_t)status.st_size >= room)
		room = (size_t)status.st_size + 1;
	text = read_all(file, room, length);
	fclose(file);
	return text;
}
