/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/cli,LINE;LINE… and /linerate/exec,FILE: the router's CLI while it runs. */
#include "router/cli.h"

#include "modes/forwarder.h"
#include "router/router.h"
#include "router/text_file.h"
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A request has less. */
#define TEXT_BYTES 1024
/* Size of the report on mistakes: the first one fits. */
#define MESSAGE_BYTES 512

static const char *change(void *context, const struct router_order *order)
{
	const char *wrong = router_change(NULL, order);
	unsigned *done = context;

	*done += wrong == NULL;
	return wrong;
}

int answer_cli(struct rte_tel_data *dict, const char *name, const char *text, size_t length)
{
	char message[MESSAGE_BYTES] = "";
	unsigned done = 0;
	FILE *complaints;

	if (strcmp(forwarder_mode(), "router") != 0)
		return answer_error(dict, "the forwarder is no router");
	complaints = fmemopen(message, sizeof(message) - 1, "w");
	if (complaints == NULL)
		return -1;
	setvbuf(complaints, NULL, _IOLBF, 0);
	(void)cli_parse(name, text, length, change, &done, complaints);
	fclose(complaints);
	message[strcspn(message, "\n")] = '\0';
	answer_u64(dict, "done", done);
	if (message[0] != '\0')
		answer_error(dict, message);
	return 0;
}

static int cli_answer(const char *parameters, struct rte_tel_data *data)
{
	char text[TEXT_BYTES];

	if (parameters == NULL || strlen(parameters) >= sizeof(text))
		return -1;
	snprintf(text, sizeof(text), "%s", parameters);
	for (char *end = text; (end = strchr(end, ';')) != NULL;)
		*end = '\n';
	return answer_cli(data, "cli", text, strlen(text));
}

COMMAND("/linerate/cli", cli_answer,
	"Carries lines of the router's CLI out. Parameter: LINE;LINE...")

/* A pipe or a device may never end, and what is read of it would stay with this process. */
static bool is_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	errno = EINVAL;
	return S_ISREG(status.st_mode);
}

static int exec_answer(const char *parameters, struct rte_tel_data *data)
{
	size_t length;
	char *text;
	int rc;

	if (parameters == NULL)
		return -1;
	text = is_file(parameters) ? text_file_read(parameters, &length) : NULL;
	if (text == NULL) {
		answer_error(data, strerror(errno));
		return 0;
	}
	rc = answer_cli(data, "exec", text, length);
	free(text);
	return rc;
}

COMMAND("/linerate/exec", exec_answer,
	"Carries the lines of a file of the router's CLI out. Parameter: its path")
