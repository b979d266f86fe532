/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow_exporter.h"

#include "core/worker.h"
#include "flow_export_record.h"
#include "flow_json.h"
#include "ipfix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <rte_prefetch.h>
#include <rte_ring_elem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IPFIX_PORT 4739
#define INTERVAL_MS 60000
#define INTERVAL_MAX_MS (24ull * 3600 * 1000)
/* Records that a worker may export before the thread reads them: those that end in one walk of the
 * timers, a few times over. */
#define RING_RECORDS 16384
#define BURST 32
/* Sleep of the thread when there was nothing, and while a message waits for more records. */
#define SLEEP_US 5000
#define FLUSH_MS 500
/* Interval at which templates are sent again, as UDP may lose them and a collector may start
 * late. */
#define TEMPLATES_MS 60000
#define TEMPLATES_MESSAGES 4096
/* The wall clock was set, or 49 days have passed. */
#define ANCHOR_MS 60000

static struct {
	bool wanted;
	uint32_t interval_ms;
	struct sockaddr_storage collector;
	socklen_t collector_bytes; /* 0: no IPFIX */
	char collector_name[64];
	const char *json_path; /* NULL: no JSON */
} config;

/* Used by the thread only, except for `stop` and the counters. */
static struct {
	pthread_t thread;
	bool started;
	bool stop; /* atomic */
	struct rte_ring *rings[WORKERS_MAX];
	unsigned nb_rings;
	struct flow_export_record_before *before; /* by the record's number */
	size_t before_bytes;
	/* Wall-clock time of the tables': the least that was seen, as records lie in rings. */
	uint64_t anchor_unix_ms;
	uint32_t anchor_table_ms;
	struct ipfix ipfix;
	int socket;
	bool error_logged; /* messages cannot be sent */
	uint64_t templates_ms, begun_ms;
	uint64_t messages_since_templates;
	FILE *json;
	uint64_t flushed_ms;
	struct flow_exporter_counters counters;
} exporter = {.socket = -1};

static void parse_collector(const struct config_node *node)
{
	struct config_node key = config_child(node, "collector");
	struct sockaddr_in *ip4 = (struct sockaddr_in *)&config.collector;
	struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)&config.collector;
	const char *text;
	uint16_t port;

	if (!config_object(node, "collector", "port"))
		return;
	text = config_required(node, "collector");
	port = (uint16_t)config_u64(node, "port", IPFIX_PORT, 1, UINT16_MAX);
	if (inet_pton(AF_INET, text, &ip4->sin_addr) == 1) {
		ip4->sin_family = AF_INET;
		ip4->sin_port = htons(port);
		config.collector_bytes = sizeof(*ip4);
	} else if (inet_pton(AF_INET6, text, &ip6->sin6_addr) == 1) {
		ip6->sin6_family = AF_INET6;
		ip6->sin6_port = htons(port);
		config.collector_bytes = sizeof(*ip6);
	} else if (text[0] != '\0') {
		config_mistake(&key, "expected an IPv4 or IPv6 address");
	}
	snprintf(config.collector_name, sizeof(config.collector_name), "%s port %u", text, port);
}

void flow_exporter_parse(const struct config_node *node)
{
	struct config_node ipfix = config_child(node, "ipfix");

	if (!config_object(node, "interval_ms", "ipfix", "json"))
		return;
	config.interval_ms =
		(uint32_t)config_u64(node, "interval_ms", INTERVAL_MS, 100, INTERVAL_MAX_MS);
	config.json_path = config_string(node, "json", NULL);
	parse_collector(&ipfix);
	if (config.json_path == NULL && ipfix.json == NULL)
		config_mistake(node, "expected \"ipfix\" or \"json\": where to export to");
	config.wanted = true;
}

uint32_t flow_exporter_interval_ms(void)
{
	return config.wanted ? config.interval_ms : 0;
}

static uint64_t unix_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void count(uint64_t *counter, uint64_t more)
{
	__atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

/* Once: what is in the counters need not fill the log. */
static void say_unsent(void)
{
	count(&exporter.counters.ipfix_errors, 1);
	if (exporter.error_logged)
		return;
	exporter.error_logged = true;
	fprintf(stderr,
		"flow export: %s: %s; is the collector running? Flows are lost until it is, see "
		"/linerate/export\n",
		config.collector_name, strerror(errno));
}

/* A missing listener is reported in answer to the previous message: this one may arrive. */
static bool send_bytes(size_t length)
{
	ssize_t sent = send(exporter.socket, exporter.ipfix.bytes, length, 0);

	if (sent < 0 && errno == ECONNREFUSED) {
		say_unsent();
		sent = send(exporter.socket, exporter.ipfix.bytes, length, 0);
	}
	return sent == (ssize_t)length;
}

static void send_message(void)
{
	uint32_t records = exporter.ipfix.records;
	size_t length;

	if (exporter.socket < 0 || ipfix_empty(&exporter.ipfix))
		return;
	length = ipfix_finish(&exporter.ipfix, (uint32_t)time(NULL));
	if (send_bytes(length)) {
		count(&exporter.counters.ipfix_messages, 1);
		count(&exporter.counters.ipfix_records, records);
	} else {
		say_unsent();
	}
	exporter.messages_since_templates++;
	ipfix_next(&exporter.ipfix);
}

/* The templates that the next records need, where they are due. */
static void add_templates(uint64_t now_ms)
{
	if (exporter.templates_ms != 0 && now_ms - exporter.templates_ms < TEMPLATES_MS &&
		exporter.messages_since_templates < TEMPLATES_MESSAGES)
		return;
	send_message();
	(void)ipfix_add_templates(&exporter.ipfix);
	exporter.templates_ms = now_ms;
	exporter.messages_since_templates = 0;
}

static void export_ipfix(const struct flow_export_record *record, uint64_t now_ms)
{
	for (unsigned d = 0; d < FLOW_DIRECTIONS; d++) {
		if (record->of[d].packets == 0)
			continue;
		if (ipfix_empty(&exporter.ipfix)) {
			add_templates(now_ms);
			exporter.begun_ms = now_ms;
		}
		if (ipfix_add(&exporter.ipfix, record, (enum flow_direction)d))
			continue;
		send_message();
		add_templates(now_ms);
		exporter.begun_ms = now_ms;
		(void)ipfix_add(&exporter.ipfix, record, (enum flow_direction)d);
	}
}

static void export_json(const struct flow_export_record *record)
{
	char line[FLOW_JSON_BYTES];
	size_t length = flow_json_line(record, line);

	if (fwrite(line, 1, length, exporter.json) == length)
		count(&exporter.counters.json_lines, 1);
	else
		count(&exporter.counters.json_errors, 1);
}

/* When the record was written; also when its thread was late to read it. */
static uint64_t written_unix_ms(const struct flow_export *export, uint64_t now_ms)
{
	int32_t since = (int32_t)(export->now_ms - exporter.anchor_table_ms);
	uint64_t written = exporter.anchor_unix_ms + (uint64_t)(int64_t)since;

	if (exporter.anchor_unix_ms != 0 && written <= now_ms && now_ms - written < ANCHOR_MS)
		return written;
	exporter.anchor_unix_ms = now_ms;
	exporter.anchor_table_ms = export->now_ms;
	return now_ms;
}

/* Another flow has another mark, or began at another time. */
static uint64_t flow_id(const struct flow_export *export)
{
	uint32_t first = export->first_ms[export->packets[0] == 0];

	if (export->packets[1] != 0 && (int32_t)(export->first_ms[1] - first) < 0)
		first = export->first_ms[1];
	return (uint64_t) export->mark << 32 | first;
}

static void tell(const struct flow_export *export, uint64_t now_ms)
{
	struct flow_export_record_before *before = &exporter.before[FLOW_MARK_INDEX(export->mark)];
	struct flow_export_record record;

	flow_export_record_make(&record, export, before, written_unix_ms(export, now_ms));
	count(&exporter.counters.records, 1);
	/* No packets since the last export. */
	if (record.of[0].packets + record.of[1].packets == 0 && export->reason == FLOW_STILL_LIVE)
		return;
	record.id = flow_id(export);
	if (exporter.socket >= 0)
		export_ipfix(&record, now_ms);
	if (exporter.json != NULL)
		export_json(&record);
}

static unsigned read_rings(uint64_t now_ms)
{
	struct flow_export exports[BURST];
	unsigned found = 0;

	for (unsigned i = 0; i < exporter.nb_rings; i++) {
		unsigned taken = rte_ring_sc_dequeue_burst_elem(
			exporter.rings[i], exports, sizeof(exports[0]), BURST, NULL);

		for (unsigned e = 0; e < taken; e++)
			/* The ring has written them. NOLINTNEXTLINE(clang-analyzer-core.*) */
			rte_prefetch0(&exporter.before[FLOW_MARK_INDEX(exports[e].mark)]);
		for (unsigned e = 0; e < taken; e++)
			tell(&exports[e], now_ms);
		found += taken;
	}
	return found;
}

/* Sends messages that have waited long enough. */
static void flush(uint64_t now_ms, bool all)
{
	if (!ipfix_empty(&exporter.ipfix) && (all || now_ms - exporter.begun_ms >= FLUSH_MS))
		send_message();
	if (exporter.json != NULL && (all || now_ms - exporter.flushed_ms >= FLUSH_MS)) {
		(void)fflush(exporter.json);
		exporter.flushed_ms = now_ms;
	}
}

static void *run(__rte_unused void *argument)
{
	for (;;) {
		/* Records that were in the rings before the stop request are exported. */
		bool stop = __atomic_load_n(&exporter.stop, __ATOMIC_ACQUIRE);
		uint64_t now_ms = unix_ms();

		if (read_rings(now_ms) > 0)
			continue;
		flush(now_ms, stop);
		if (stop)
			return NULL;
		(void)usleep(SLEEP_US);
	}
}

static int open_outputs(void)
{
	if (config.json_path != NULL) {
		exporter.json = fopen(config.json_path, "we");
		if (exporter.json == NULL) {
			fprintf(stderr, "flow export: %s: %s; name a file that can be written\n",
				config.json_path, strerror(errno));
			return -errno;
		}
	}
	if (config.collector_bytes == 0)
		return 0;
	exporter.socket = socket(config.collector.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (exporter.socket < 0 || connect(exporter.socket, (struct sockaddr *)&config.collector,
					   config.collector_bytes) != 0) {
		fprintf(stderr, "flow export: %s: %s; name an address that can be reached\n",
			config.collector_name, strerror(errno));
		return -errno;
	}
	return 0;
}

static int make_ring(struct flow_table *table, unsigned worker)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "flow-exports-%u", worker);
	ring = rte_ring_create_elem(name, sizeof(struct flow_export), RING_RECORDS, SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (ring == NULL) {
		fprintf(stderr, "flow export: no memory for rings; raise memory.megabytes\n");
		return -ENOMEM;
	}
	exporter.rings[worker] = ring;
	exporter.nb_rings = worker + 1;
	table->rings.exports = ring;
	return 0;
}

int flow_exporter_create(struct flow_table *const *tables, unsigned nb_tables)
{
	uint32_t records = 0;
	int rc = 0;

	if (!config.wanted)
		return 0;
	for (unsigned i = 0; i < nb_tables && rc == 0; i++) {
		records = RTE_MAX(records, tables[i]->base + tables[i]->capacity);
		rc = make_ring(tables[i], i);
	}
	if (rc == 0)
		rc = open_outputs();
	if (rc != 0)
		return rc;
	/* Touched only for flows that outlive the interval. */
	exporter.before_bytes = records * sizeof(struct flow_export_record_before);
	exporter.before = mmap(NULL, exporter.before_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (exporter.before == MAP_FAILED)
		return -ENOMEM;
	ipfix_start(&exporter.ipfix, 1);
	exporter.started = pthread_create(&exporter.thread, NULL, run, NULL) == 0;
	if (!exporter.started)
		return -EAGAIN;
	(void)pthread_setname_np(exporter.thread, "flow-export");
	return 0;
}

void flow_exporter_stop(void)
{
	if (!exporter.started)
		return;
	__atomic_store_n(&exporter.stop, true, __ATOMIC_RELEASE);
	(void)pthread_join(exporter.thread, NULL);
	exporter.started = false;
	if (exporter.socket >= 0)
		(void)close(exporter.socket);
	if (exporter.json != NULL)
		(void)fclose(exporter.json);
	exporter.socket = -1;
	exporter.json = NULL;
	(void)munmap(exporter.before, exporter.before_bytes);
}

bool flow_exporter_counters(struct flow_exporter_counters *counters)
{
	*counters = exporter.counters;
	return config.wanted;
}
