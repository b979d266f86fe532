/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of the telemetry socket, one a line, sent to a whole engine over its socket: a virtual
 * card and a router, or with LINERATE_FUZZ_FLOWTABLE a flow table, and with LINERATE_FUZZ_TESTER
 * a tester. Each is answered, and what is asked in ASCII is answered in JSON.
 */
#include "engine.h"

#include <rte_eal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* DPDK reads so much of a command, and no more lines are worth their time. */
#define COMMAND_BYTES 1023
#define COMMANDS_MAX 12
#define ANSWER_BYTES 65536
#define OURS "/linerate/"
/* It takes no parameters, and its workers' time. */
#define ROUNDTRIP "/linerate/roundtrip"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char config_text[] =
	"{\"name\": \"fuzz-%d\", \"memory\": {\"megabytes\": 256},"
	"\"cards\": [{\"name\": \"card0\"}],"
	"\"ports\": ["
	"{\"name\": \"e0\", \"driver\": \"card\", \"card\": \"card0\", \"index\": 0},"
	"{\"name\": \"e1\", \"driver\": \"card\", \"card\": \"card0\", \"index\": 1}%s],"
	"%s\"forwarder\": {\"ports\": [\"e0\", \"e1\"], \"rx_mode\": \"interrupt\", %s}}";
/* Its worker polls: on a machine of few CPUs each command waits for it. */
static const char tester_ports[] =
	", {\"name\": \"t0\", \"driver\": \"wire\", \"card\": \"card0\", \"index\": 0},"
	"{\"name\": \"t1\", \"driver\": \"wire\", \"card\": \"card0\", \"index\": 1}";
static const char tester_text[] =
	"\"tester\": {\"ports\": [\"t0\", \"t1\"], \"streams\": [{\"port\": \"t0\","
	"\"rx_port\": \"t1\", \"frame_bytes\": 64, \"rate\": {\"pps\": 1000}, \"layers\": ["
	"{\"ethernet\": {\"src\": \"02:00:00:00:00:01\", \"dst\": \"02:00:00:00:00:02\"}},"
	"{\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": \"48.0.0.1\"}}, {\"udp\": {}}]}]},";
static const char router[] = "\"mode\": \"router\", \"router\": {\"interfaces\": ["
			     "{\"port\": \"e0\", \"addresses\": [\"100.64.1.1/30\"]},"
			     "{\"port\": \"e1\", \"addresses\": [\"100.64.2.1/30\"]}]}";
static const char flow_table[] =
	"\"mode\": \"flowtable\", \"flowtable\": {\"flows\": 1024, \"offload\": {}}";

static int connection = -1;
static char answer[ANSWER_BYTES];

/* The folder is DPDK's, and would stay. */
static void clean(void)
{
	static const char *const files[] = {
		"dpdk_telemetry.v2", "config", "hugepage_info", "fbarray_memzone", "mp_socket"};
	char path[512];

	for (unsigned i = 0; i < RTE_DIM(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", rte_eal_get_runtime_dir(), files[i]);
		unlink(path);
	}
	rmdir(rte_eal_get_runtime_dir());
}

static void start_engine(void)
{
	static struct config config;
	bool tests = getenv("LINERATE_FUZZ_TESTER") != NULL;
	char text[4096];

	snprintf(text, sizeof(text), config_text, getpid(), tests ? tester_ports : "",
		tests ? tester_text : "",
		getenv("LINERATE_FUZZ_FLOWTABLE") != NULL ? flow_table : router);
	if (config_open_text(&config, "fuzz", text) != 0 || engine_parse(&config) != 0 ||
		engine_start("fuzz") != 0)
		exit(EXIT_FAILURE);
	atexit(clean);
}

static void join(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (connection < 0 ||
		connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0 ||
		recv(connection, answer, sizeof(answer), 0) <= 0)
		abort();
}

static bool is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* An unknown command is echoed as it came, by DPDK: only ours are looked into. */
static void check_answer(const char *command, size_t length)
{
	char path[COMMAND_BYTES + 1];
	json_t *json;

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(command, ","), command);
	if (strncmp(path, OURS, strlen(OURS)) != 0 || !is_ascii(command) ||
		strpbrk(path, "\"\\") != NULL || strlen(path) >= 56)
		return;
	json = json_loadb(answer, length, 0, NULL);
	if (json == NULL || json_object_get(json, path) == NULL)
		abort();
	json_decref(json);
}

static void ask(const char *command)
{
	ssize_t length;

	if (strncmp(command, ROUNDTRIP, strlen(ROUNDTRIP)) == 0)
		return;
	if (send(connection, command, strlen(command), 0) < 0)
		abort();
	length = recv(connection, answer, sizeof(answer), 0);
	if (length <= 0)
		abort();
	check_answer(command, (size_t)length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char command[COMMAND_BYTES + 1];

	if (connection < 0) {
		start_engine();
		join();
	}
	for (unsigned i = 0; i < COMMANDS_MAX && size > 0; i++) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t length = end == NULL ? size : (size_t)(end - data);
		size_t taken = RTE_MIN(length, (size_t)COMMAND_BYTES);

		memcpy(command, data, taken);
		command[taken] = '\0';
		/* One that begins with nothing but commas has no name: DPDK answers nothing. */
		if (command[strspn(command, ",")] != '\0')
			ask(command);
		data += RTE_MIN(length + 1, size);
		size -= RTE_MIN(length + 1, size);
	}
	return 0;
}
