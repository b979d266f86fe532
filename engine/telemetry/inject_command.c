/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/inject: frames from the control side, sent out of tester ports. */
#include "tester/inject.h"
#include "command.h"
#include "keys.h"

#include <pthread.h>
#include <string.h>

#define FRAME_BYTES_MAX 9728
/* Frames that come in parts, by the ids of their clients; the oldest makes room. */
#define BEGUN_MAX 8

/* A thread serves each client. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct begun {
	uint64_t id, age;
	unsigned bytes; /* 0: unused */
	uint8_t frame[FRAME_BYTES_MAX];
};

static struct begun begun[BEGUN_MAX];
static uint64_t nb_begun;

static int digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Reads hexadecimal digits up to `end`, or -1 when there are others, an odd number or too many. */
static int read_hex(const char *text, const char *end, uint8_t *bytes, unsigned room)
{
	unsigned count = 0;

	for (; text + 1 < end; text += 2, count++) {
		int high = digit(text[0]), low = digit(text[1]);

		if (high < 0 || low < 0 || count == room)
			return -1;
		bytes[count] = (uint8_t)(high << 4 | low);
	}
	return text == end ? (int)count : -1;
}

static struct begun *begun_of(uint64_t id)
{
	struct begun *oldest = &begun[0];

	for (unsigned i = 0; i < BEGUN_MAX; i++) {
		if (begun[i].bytes > 0 && begun[i].id == id)
			return &begun[i];
		if (begun[i].bytes == 0 || (oldest->bytes > 0 && begun[i].age < oldest->age))
			oldest = &begun[i];
	}
	oldest->id = id;
	oldest->bytes = 0;
	oldest->age = nb_begun++;
	return oldest;
}

/* Adds a part to the frame of that id; with the last one the frame is sent. */
static void take_part(
	struct keys *keys, struct port *port, const char *hex, bool more, unsigned *queued)
{
	struct begun *frame = begun_of(keys_u64(keys, "id", 0, 0, UINT64_MAX));
	int bytes = read_hex(hex, hex + strlen(hex), frame->frame + frame->bytes,
		FRAME_BYTES_MAX - frame->bytes);
	const char *wrong;

	if (bytes < 0) {
		frame->bytes = 0;
		keys_mistake(keys, "frame: expected pairs of hexadecimal digits, %d at most",
			FRAME_BYTES_MAX);
		return;
	}
	frame->bytes += (unsigned)bytes;
	if (more)
		return;
	wrong = inject(port, frame->frame, frame->bytes);
	frame->bytes = 0;
	if (wrong != NULL)
		keys_mistake(keys, "%s", wrong);
	else
		++*queued;
}

/* Whole frames, with ':' between two. */
static void take_frames(struct keys *keys, struct port *port, const char *hex, unsigned *queued)
{
	uint8_t frame[KEYS_TEXT_BYTES / 2];

	while (keys->wrong[0] == '\0') {
		const char *end = hex + strcspn(hex, ":");
		int bytes = read_hex(hex, end, frame, sizeof(frame));
		const char *wrong = bytes < 0 ? "frame: expected pairs of hexadecimal digits"
					      : inject(port, frame, (unsigned)bytes);

		if (wrong != NULL)
			keys_mistake(keys, "%s", wrong);
		else
			++*queued;
		if (*end == '\0')
			return;
		hex = end + 1;
	}
}

static int answer_status(struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "suuu", "port", "queued", "sent", "waiting");
	for (unsigned i = 0; i < PORTS_MAX; i++) {
		const struct injector *injector = injectors[i];
		uint64_t sent;

		if (injector == NULL)
			continue;
		sent = __atomic_load_n(&injector->sent, __ATOMIC_RELAXED);
		table_string(&table, 0, injector->port->name);
		table_u64(&table, 1, injector->queued);
		table_u64(&table, 2, sent);
		table_u64(&table, 3, injector->queued - sent);
	}
	return table_end(&table, data);
}

static int answer_queued(const char *parameters, struct rte_tel_data *data)
{
	unsigned queued = 0;
	struct keys keys;
	struct port *port;
	const char *hex;
	bool more;

	keys_of(&keys, parameters, NULL, "port", "id", "more", "frame");
	port = keys_port(&keys);
	more = keys_u64(&keys, "more", 0, 0, 1) != 0;
	hex = keys_get(&keys, "frame");
	if (hex == NULL || (more && keys_get(&keys, "id") == NULL)) {
		keys_mistake(&keys, "expected port=PORT,frame=HEX[:HEX...], or id=N,more=0|1 too");
		return answer_error(data, keys.wrong);
	}
	if (keys.wrong[0] == '\0' && keys_get(&keys, "id") != NULL)
		take_part(&keys, port, hex, more, &queued);
	else if (keys.wrong[0] == '\0')
		take_frames(&keys, port, hex, &queued);
	answer_u64(data, "queued", queued);
	return keys.wrong[0] == '\0' ? 0 : answer_error(data, keys.wrong);
}

static int inject_answer(const char *parameters, struct rte_tel_data *data)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = parameters == NULL ? answer_status(data) : answer_queued(parameters, data);
	pthread_mutex_unlock(&lock);
	return rc;
}

COMMAND("/linerate/inject", inject_answer,
	"Sends frames. Parameters: port=PORT,frame=HEX[:HEX...], or in parts "
	"port=PORT,id=N,more=0|1,frame=HEX")
