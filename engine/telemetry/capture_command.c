/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/capture, /linerate/capture/start, …/stop, …/remove, …/frames. */
#include "capture/capture.h"
#include "command.h"
#include "keys.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters of an answer: DPDK sends 16 KiB, and leaves out what does not fit. */
#define ANSWER_BYTES 12000
/* Those of a frame's columns, and around a line of hexadecimal digits. */
#define ROW_BYTES 64
#define LINE_BYTES_MORE 3
#define LINE_BYTES 63
#define ROWS_MAX 256
#define PART_BYTES 4096

/* A thread serves each client. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Those that have all they were asked for cost their port no more. */
static void stop_done(void)
{
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		if (capture_at(i) != NULL && capture_state(capture_at(i)) == CAPTURE_DONE)
			capture_stop(capture_at(i));
}

static struct capture *find(const char *parameters)
{
	size_t digits = parameters == NULL ? 0 : strspn(parameters, "0123456789");

	if (digits == 0 || digits > 9 || parameters[digits] != '\0')
		return NULL;
	return capture_find((unsigned)strtoul(parameters, NULL, 10));
}

static void answer_status(const struct capture *capture, struct rte_tel_data *data)
{
	struct capture_counters counters = capture_counters(capture);

	answer_u64(data, "id", capture->id);
	answer_string(data, "state", capture_state_name(capture_state(capture)));
	answer_u64(data, "matched", counters.matched);
	answer_u64(data, "captured", counters.captured);
	answer_u64(data, "missed", counters.missed);
	answer_u64(data, "bytes", counters.bytes);
}

static void read_order(struct keys *keys, const char *parameters, struct capture_order *order)
{
	static const char *const directions[] = {"rx", "tx", "both", NULL};
	int direction;

	keys_of(keys, parameters, "filter", "port", "direction", "snap", "limit", "ring", "filter");
	order->port = keys_port(keys);
	direction = keys_choice(keys, "direction", directions, 0);
	order->rx = direction != 1;
	order->tx = direction != 0;
	order->limit = keys_u64(keys, "limit", 0, 0, UINT64_MAX / 2);
	order->ring = (uint32_t)keys_u64(keys, "ring", CAPTURE_RING_DEFAULT, 1, CAPTURE_RING_MAX);
	order->snap = (uint16_t)keys_u64(keys, "snap",
		order->port == NULL ? 0 : order->port->max_frame_bytes, 1, CAPTURE_SNAP_MAX);
	order->filter = keys_get(keys, "filter");
	if (order->filter == NULL)
		order->filter = "";
}

static int start_answer(const char *parameters, struct rte_tel_data *data)
{
	char why[CAPTURE_WHY_BYTES];
	struct capture_order order;
	struct keys keys;
	unsigned id;

	read_order(&keys, parameters, &order);
	if (keys.wrong[0] != '\0')
		return answer_error(data, keys.wrong);
	pthread_mutex_lock(&lock);
	stop_done();
	id = capture_start(&order, why);
	pthread_mutex_unlock(&lock);
	if (id == 0)
		return answer_error(data, why);
	answer_u64(data, "id", id);
	return 0;
}

COMMAND("/linerate/capture/start", start_answer,
	"Starts a capture. Parameters: port=PORT and direction=rx|tx|both, snap=, limit=, ring=, "
	"and last filter=TEXT")

static int stop_answer(const char *parameters, struct rte_tel_data *data)
{
	struct capture *capture;

	pthread_mutex_lock(&lock);
	capture = find(parameters);
	if (capture != NULL) {
		capture_stop(capture);
		answer_status(capture, data);
	}
	pthread_mutex_unlock(&lock);
	return capture == NULL ? answer_error(data, "there is no such capture") : 0;
}

COMMAND("/linerate/capture/stop", stop_answer,
	"Ends a capture; frames that wait can still be read. Parameter: its id")

static int remove_answer(const char *parameters, struct rte_tel_data *data)
{
	struct capture *capture;

	pthread_mutex_lock(&lock);
	capture = find(parameters);
	if (capture != NULL) {
		capture_stop(capture);
		answer_status(capture, data);
		capture_remove(capture);
	}
	pthread_mutex_unlock(&lock);
	return capture == NULL ? answer_error(data, "there is no such capture") : 0;
}

COMMAND("/linerate/capture/remove", remove_answer,
	"Ends a capture, and gives its memory back. Parameter: its id")

static void add_hex(struct rte_tel_data *lines, const uint8_t *bytes, unsigned count)
{
	for (unsigned from = 0; from < count; from += LINE_BYTES) {
		char line[2 * LINE_BYTES + 1] = "";

		for (unsigned i = from; i < RTE_MIN(count, from + LINE_BYTES); i++)
			snprintf(line + 2 * (size_t)(i - from), 3, "%02x", bytes[i]);
		rte_tel_data_add_array_string(lines, line);
	}
}

static unsigned hex_bytes(unsigned count)
{
	return 2 * count + (count + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES_MORE;
}

static void add_row(struct table *table, const struct capture *capture,
	const struct capture_record *record, unsigned bytes, bool more)
{
	table_u64(table, 0, capture_time_ns(capture, record->tsc));
	table_string(table, 1, record->sent ? "tx" : "rx");
	table_u64(table, 2, record->length);
	table_u64(table, 3, bytes);
	table_u64(table, 4, more);
}

/* Takes frames out of the rings as long as the answer has room; one that is longer than what an
 * answer can have comes in parts. */
static int answer_frames(struct capture *capture, struct rte_tel_data *data)
{
	struct rte_tel_data *lines = rte_tel_data_alloc();
	unsigned room = ANSWER_BYTES, rows = 0;
	const struct capture_record *record;
	struct table table;

	if (lines == NULL)
		return -1;
	rte_tel_data_start_array(lines, RTE_TEL_STRING_VAL);
	table_start(&table, "usuuu", "time_ns", "direction", "length", "kept", "more");
	while (rows++ < ROWS_MAX && (record = capture_peek(capture)) != NULL) {
		unsigned from = capture->delivered;
		unsigned bytes = RTE_MIN(record->captured - from, (unsigned)PART_BYTES);
		bool more = from + bytes < record->captured;

		if (ROW_BYTES + hex_bytes(bytes) > room)
			break;
		room -= ROW_BYTES + hex_bytes(bytes);
		add_row(&table, capture, record, bytes, more);
		add_hex(lines, record->bytes + from, bytes);
		capture->delivered = more ? (uint16_t)(from + bytes) : 0;
		if (!more)
			capture_drop(capture);
	}
	rte_tel_data_add_dict_container(data, "frames", lines, 0);
	return table_end(&table, data);
}

static int frames_answer(const char *parameters, struct rte_tel_data *data)
{
	struct capture *capture;
	int rc = 0;

	pthread_mutex_lock(&lock);
	stop_done();
	capture = find(parameters);
	if (capture != NULL) {
		answer_status(capture, data);
		rc = answer_frames(capture, data);
	}
	pthread_mutex_unlock(&lock);
	return capture == NULL ? answer_error(data, "there is no such capture") : rc;
}

COMMAND("/linerate/capture/frames", frames_answer,
	"Takes captured frames, the oldest first. Parameter: the capture's id")

static void add_capture(struct table *table, const struct capture *capture)
{
	struct capture_counters counters = capture_counters(capture);
	static const char *const directions[2][2] = {{"", "tx"}, {"rx", "both"}};
	char text[RTE_TEL_MAX_STRING_LEN];

	snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1, capture->text);
	table_u64(table, 0, capture->id);
	table_string(table, 1, capture->port->name);
	table_string(table, 2, directions[capture->rx][capture->tx]);
	table_string(table, 3, capture_state_name(capture_state(capture)));
	table_u64(table, 4, counters.matched);
	table_u64(table, 5, counters.captured);
	table_u64(table, 6, counters.missed);
	table_u64(table, 7, counters.bytes);
	table_u64(table, 8, capture->limit);
	table_u64(table, 9, capture->filter.compiled != NULL);
	table_string(table, 10, text);
}

static int capture_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "usssuuuuuus", "id", "port", "direction", "state", "matched",
		"captured", "missed", "bytes", "limit", "compiled", "filter");
	pthread_mutex_lock(&lock);
	stop_done();
	for (unsigned i = 0; i < CAPTURES_MAX; i++)
		if (capture_at(i) != NULL)
			add_capture(&table, capture_at(i));
	pthread_mutex_unlock(&lock);
	return table_end(&table, data);
}

COMMAND("/linerate/capture", capture_answer, "Captures of frames. Takes no parameter")
