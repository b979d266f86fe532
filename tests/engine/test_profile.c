/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles that one, two and three senders of a port send: together they are the profile to the
 * frame, whatever comes and goes, and what was answered is so at all of them.
 */
#include "core/signature.h"
#include "core/worker.h"
#include "tester/profile.h"
#include "tester/tester.h"
#include "tester_harness.h"

#include <math.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <sys/time.h>

#define PORT "e0"
#define NAME "p"
#define FLOWS 100
#define STEP_US 20

static unsigned nb_senders;
/* Frames that came out of the port. */
static uint64_t nb_sent, nb_disordered;
static uint32_t next_number[STREAMS_MAX];
static unsigned flow_frames[FLOWS];
/* Senders that the port takes nothing from, by bits. */
static unsigned full;

/* A part's frames come with its numbers, none left out. */
static void note(struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	struct signature signature;

	nb_sent++;
	if (!signature_decode(signature_read(frame + signature_offset(mbuf->data_len)), &signature))
		return;
	nb_disordered += signature.sequence != next_number[signature.stream]++ % SIGNATURE_NUMBERS;
	if (strcmp(tester.streams[signature.stream]->name, "flows") == 0)
		flow_frames[frame[29] % FLOWS]++;
}

static uint16_t test_tx_burst(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	for (unsigned s = 0; s < nb_senders; s++)
		if ((full >> s & 1) && mbufs[0]->pool == tester.ports[0].senders[s]->pool)
			return 0;
	(void)queue;
	for (uint16_t i = 0; i < count; i++)
		note(mbufs[i]);
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

const struct tester_device tester_device = {.tx_burst = test_tx_burst, .max_frame_bytes = 1518};

static uint64_t clocks(double us)
{
	return (uint64_t)(us * (double)rte_get_tsc_hz() / 1e6);
}

/* Lets time pass, with all senders at work but for those that are away, by bits. */
static void pass_without(double us, unsigned away)
{
	uint64_t until = device_clock + clocks(us);

	while (device_clock < until) {
		device_clock = RTE_MIN(until, device_clock + clocks(STEP_US));
		for (unsigned worker = 0; worker < nb_senders; worker++)
			if (!(away >> worker & 1))
				tester_walk_worker(worker);
	}
}

static void pass(double us)
{
	pass_without(us, 0);
}

/* A call of the control thread's, which may wait for the workers. */
struct call {
	int (*run)(FILE *complaints);
	int rc;
	bool done;
	char text[256];
};

static void *run_call(void *argument)
{
	struct call *call = argument;
	FILE *complaints = fmemopen(call->text, sizeof(call->text), "w");

	call->rc = call->run(complaints);
	fclose(complaints);
	__atomic_store_n(&call->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(const struct call *call)
{
	return __atomic_load_n(&call->done, __ATOMIC_ACQUIRE);
}

static const void *order_of(void)
{
	const struct profile_set *set = tester.ports[0].profiles;

	return set == NULL ? NULL
			   : __atomic_load_n(&set->profiles[0]->parts[0].order, __ATOMIC_ACQUIRE);
}

/* Until it has given an order that workers find, unless it waits for them before. */
static void wait_for_order(const struct call *call, const void *before)
{
	for (unsigned i = 0; i < 200 && !is_done(call) && order_of() == before; i++)
		usleep(100);
}

/* Has it carried out while all workers walk, and their clock stands. Returns what it returned. */
static int ask(int (*run)(FILE *complaints))
{
	struct call call = {.run = run};
	const void *before = order_of();
	pthread_t thread;

	CHECK_EQUAL(pthread_create(&thread, NULL, run_call, &call), 0);
	wait_for_order(&call, before);
	while (!is_done(&call))
		tester_walk();
	pthread_join(thread, NULL);
	/* One sender goes by the time when it learns of a change: that is now. */
	tester_walk();
	if (call.rc != 0)
		fprintf(stderr, "%s", call.text);
	return call.rc;
}

static char path[32];

static int call_load(FILE *complaints)
{
	return profile_load(PORT, NAME, path, complaints);
}

static int load(const char *streams)
{
	FILE *file;
	int rc;

	strcpy(path, "/tmp/test_profile.XXXXXX");
	file = fdopen(mkstemp(path), "w");
	fprintf(file, "{\"streams\": [%s]}", streams);
	fclose(file);
	rc = ask(call_load);
	unlink(path);
	return rc;
}

/* Task of a start, and rate to change to. */
static struct profile_start task;
static double scale;
static const char *stream_name;

static int call_start(FILE *complaints)
{
	return profile_start(PORT, NAME, &task, complaints);
}

static int call_stop(FILE *complaints)
{
	return profile_stop(PORT, NAME, complaints);
}

static int call_pause(FILE *complaints)
{
	return profile_pause(PORT, NAME, complaints);
}

static int call_resume(FILE *complaints)
{
	return profile_resume(PORT, NAME, complaints);
}

static int call_scale(FILE *complaints)
{
	return stream_name == NULL
		       ? profile_set_scale(PORT, NAME, scale, complaints)
		       : profile_set_stream_scale(PORT, NAME, stream_name, scale, complaints);
}

static int call_remove(FILE *complaints)
{
	return profile_remove(PORT, NAME, stream_name, complaints);
}

static int start(double at_scale)
{
	task = (struct profile_start){.scale = at_scale};
	return ask(call_start);
}

static int set_scale(const char *stream, double to)
{
	stream_name = stream;
	scale = to;
	return ask(call_scale);
}

static struct profile_status status;

static void note_status(const struct profile_status *got, void *to)
{
	(void)to;
	status = *got;
}

static const struct profile_status *look(void)
{
	profiles_read(note_status, NULL);
	return &status;
}

static uint64_t sent_of(const char *name)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < tester.nb_streams; i++)
		if (strcmp(tester.streams[i]->name, name) == 0)
			sent += tester.streams[i]->sent;
	return sent;
}

static unsigned senders_with(const char *name)
{
	unsigned senders = 0;

	for (unsigned i = 0; i < tester.nb_streams; i++)
		if (strcmp(tester.streams[i]->name, name) == 0)
			senders |= 1u << tester.streams[i]->sender;
	return senders;
}

/* Each sender may have a round of its streams, or a step of catching up, yet to make. */
#define OWED 24

static bool is_near(double got, double wanted)
{
	bool near = fabs(got - wanted) <= OWED * nb_senders;

	if (!near)
		fprintf(stderr, "%.9g is not near %.9g\n", got, wanted);
	return near;
}

/* Nothing comes out while time passes. */
static bool is_silent(double us)
{
	uint64_t before = nb_sent;

	pass(us);
	return nb_sent == before;
}

static void check_books(void)
{
	CHECK_EQUAL(nb_disordered, 0);
	CHECK_EQUAL(look()->sent, nb_sent);
	CHECK_EQUAL(tester_sent(), nb_sent);
}

#define LAYERS \
	"\"layers\": [{\"ethernet\": {}}, {\"ipv4\": {\"src\": \"16.0.0.1\", \"dst\": " \
	"\"48.0.0.1\"}}, {\"udp\": {}}]"
#define STREAM(name, pps, more) \
	"{\"name\": \"" name "\", \"rate\": {\"pps\": " pps "}, " more LAYERS "}"
#define FLOWS_STREAM \
	"{\"name\": \"flows\", \"rate\": {\"pps\": 1e6}, \"flows\": {\"count\": 100, \"src\": " \
	"{\"min\": \"16.0.0.0\", \"max\": \"16.0.0.99\"}}, " LAYERS "}"
#define LATENCY "\"latency\": true, \"unscaled\": true, \"frame_bytes\": 128, "

/* Rates of 10 % and 90 %, a pause and another rate: as many frames as the rates make in all. */
static void rates_change(void)
{
	CHECK_EQUAL(load(FLOWS_STREAM ", " STREAM("plain", "100e3", "") ", " STREAM(
			    "timed", "10e3", LATENCY)),
		0);
	CHECK_EQUAL(start(0.1), 0);
	pass(10000);
	CHECK(is_near(sent_of("flows"), 1000));
	CHECK_EQUAL(set_scale(NULL, 0.9), 0);
	pass(10000);
	CHECK(is_near(sent_of("flows"), 10000));
	CHECK(is_near(sent_of("plain"), 1000));
	CHECK(is_near(sent_of("timed"), 200));
	CHECK_EQUAL(look()->state, PROFILE_RUNNING);
	CHECK_EQUAL(ask(call_pause), 0);
	CHECK_EQUAL(look()->state, PROFILE_PAUSED);
	CHECK(is_silent(5000));
	CHECK_EQUAL(ask(call_resume), 0);
	pass(10000);
	CHECK(is_near(sent_of("flows"), 19000));
	CHECK_EQUAL(ask(call_stop), 0);
	CHECK_EQUAL(look()->state, PROFILE_IDLE);
	CHECK(is_silent(5000));
	check_books();
	for (unsigned i = 0; i < FLOWS; i++)
		CHECK(flow_frames[i] >= 189 && flow_frames[i] <= 191);
	CHECK_EQUAL(senders_with("flows"), (1u << nb_senders) - 1);
	CHECK(fabs(look()->pps - 1110000) < 1);
}

/* A sender that learns of changes later than others, and is behind, has gone by the same time. */
static void late_senders_go_by_one_time(void)
{
	unsigned last = nb_senders == 1 ? 0 : 1u << (nb_senders - 1);

	CHECK_EQUAL(load(FLOWS_STREAM), 0);
	CHECK_EQUAL(start(0.5), 0);
	for (unsigned round = 0; round < 10; round++) {
		pass(1000);
		/* Down while it is away, and up when it is not. */
		pass_without(500, last);
		CHECK_EQUAL(profile_set_scale(PORT, NAME, 0.1, stderr), 0);
		/* One sender alone goes by the time when it learns of it. */
		if (nb_senders == 1)
			tester_walk();
		pass_without(500, last);
		pass(1000);
		CHECK_EQUAL(set_scale(NULL, 0.5), 0);
	}
	/* By the end of the time all have caught up. */
	pass(20000);
	CHECK(is_near(nb_sent, 10 * (1500 * 0.5 + 1500 * 0.1) + 20000 * 0.5));
	CHECK_EQUAL(ask(call_stop), 0);
	check_books();
}

/* More streams that wait for each other's turn than a sender looks at in a call. */
static const char *many_streams(void)
{
	static char text[65536];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", FLOWS_STREAM);

	for (unsigned i = 0; i < 200; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s",
			STREAM("turn", "100e3",
				"\"bursts\": {\"frames\": 2, \"count\": 0, \"gap_us\": 500}, "));
	return text;
}

/* No frame that a late sender owes comes after a pause is answered, nor after a stop; after the
 * pause all of it does. */
static void nothing_comes_after_an_answer(void)
{
	CHECK_EQUAL(load(many_streams()), 0);
	CHECK_EQUAL(start(1), 0);
	pass(2000);
	pass_without(3000, 1);
	CHECK_EQUAL(ask(call_pause), 0);
	CHECK(sent_of("flows") < 5000);
	CHECK(is_silent(3000));
	CHECK_EQUAL(ask(call_resume), 0);
	pass(30000);
	CHECK(is_near(sent_of("flows"), 35000));
	pass_without(3000, 1);
	CHECK_EQUAL(ask(call_stop), 0);
	CHECK(is_silent(3000));
	check_books();
}

/* Frames that one sender made and the port has no room for are waited for. */
static void kept_frames_are_waited_for(void)
{
	struct call call = {.run = call_pause};
	unsigned last = nb_senders - 1;
	pthread_t thread;

	CHECK_EQUAL(load(FLOWS_STREAM), 0);
	CHECK_EQUAL(start(1), 0);
	pass(1000);
	full = 1u << last;
	pass(100);
	CHECK(tester.ports[0].senders[last]->nb_held > 0);
	CHECK_EQUAL(pthread_create(&thread, NULL, run_call, &call), 0);
	for (unsigned i = 0; i < 50; i++) {
		tester_walk();
		usleep(1000);
	}
	CHECK(!is_done(&call));
	full = 0;
	while (!is_done(&call))
		tester_walk();
	pthread_join(thread, NULL);
	CHECK_EQUAL(call.rc, 0);
	CHECK_EQUAL(tester.ports[0].senders[last]->nb_held, 0);
	CHECK(is_silent(3000));
	check_books();
}

/* A pause is answered when the last of the senders has acted, and not before. */
static void each_sender_acts(void)
{
	for (unsigned away = 0; away < nb_senders; away++) {
		struct call call = {.run = call_pause};
		pthread_t thread;

		if (away == 0) {
			CHECK_EQUAL(load(FLOWS_STREAM), 0);
			CHECK_EQUAL(start(1), 0);
		} else
			CHECK_EQUAL(ask(call_resume), 0);
		pass(1000);
		CHECK_EQUAL(pthread_create(&thread, NULL, run_call, &call), 0);
		for (unsigned i = 0; i < 20; i++) {
			for (unsigned worker = 0; worker < nb_senders; worker++)
				if (worker != away)
					tester_walk_worker(worker);
			usleep(1000);
		}
		CHECK(!is_done(&call));
		while (!is_done(&call))
			tester_walk_worker(away);
		pthread_join(thread, NULL);
		CHECK_EQUAL(call.rc, 0);
		CHECK(is_silent(1000));
	}
	check_books();
}

/* One that does not walk is named, and not waited for without end. */
static void a_stuck_worker_is_named(void)
{
	struct call call = {.run = call_pause};

	CHECK_EQUAL(load(FLOWS_STREAM), 0);
	CHECK_EQUAL(start(1), 0);
	pass(1000);
	run_call(&call);
	CHECK(call.rc != 0);
	CHECK(strcmp(call.text, "a worker of the tester does not run\n") == 0);
}

static void until_done(void)
{
	for (unsigned i = 0; i < 20000 && look()->state == PROFILE_RUNNING; i++)
		pass(STEP_US);
	CHECK_EQUAL(look()->state, PROFILE_DONE);
	CHECK(is_silent(2000));
}

/* A number of packets is that of all senders, whatever changes on the way. */
static void packets_are_counted(void)
{
	uint64_t flows;

	CHECK_EQUAL(load(FLOWS_STREAM ", " STREAM("plain", "50e3", "") ", " STREAM(
			    "burst", "200e3", "\"burst\": 300, ")),
		0);
	task = (struct profile_start){.scale = 1, .packets = 12345};
	CHECK_EQUAL(ask(call_start), 0);
	until_done();
	CHECK_EQUAL(nb_sent, 12345);
	CHECK_EQUAL(sent_of("burst"), 300);
	CHECK(is_near(sent_of("plain"), (12345 - 300) / 21.0));
	flows = sent_of("flows");
	CHECK_EQUAL(ask(call_start), 0);
	pass(3000);
	CHECK_EQUAL(set_scale("flows", 0), 0);
	pass(1000);
	CHECK_EQUAL(ask(call_pause), 0);
	pass(1000);
	CHECK_EQUAL(set_scale(NULL, 2), 0);
	CHECK(is_silent(1000));
	CHECK_EQUAL(ask(call_resume), 0);
	until_done();
	CHECK_EQUAL(nb_sent, 2 * 12345);
	CHECK(is_near((double)(sent_of("flows") - flows), 3000));
	CHECK_EQUAL(look()->sent, 12345);
	/* Fewer than there are senders, too. */
	task.packets = 1;
	CHECK_EQUAL(ask(call_start), 0);
	until_done();
	CHECK_EQUAL(nb_sent, 2 * 12345 + 1);
}

/* A duration, and bursts, end at all senders; the elapsed time is the profile's. */
static void runs_end(void)
{
	CHECK_EQUAL(load(FLOWS_STREAM ", " STREAM("burst", "200e3", "\"burst\": 777, ")), 0);
	task = (struct profile_start){.scale = 2, .duration_us = 30000};
	CHECK_EQUAL(ask(call_start), 0);
	pass_without(10000, 1u << (nb_senders - 1));
	until_done();
	CHECK(is_near(sent_of("flows"), 60000));
	CHECK_EQUAL(sent_of("burst"), 777);
	CHECK(look()->elapsed_us >= 30000);
	stream_name = "flows";
	CHECK_EQUAL(ask(call_remove), 0);
	CHECK_EQUAL(start(1), 0);
	until_done();
	CHECK_EQUAL(sent_of("burst"), 2 * 777);
	CHECK(look()->elapsed_us >= 776ul * 5);
}

static void a_start_waits_for_its_time(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	CHECK_EQUAL(load(FLOWS_STREAM), 0);
	task = (struct profile_start){.scale = 1,
		.at_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_usec + 100000};
	CHECK_EQUAL(ask(call_start), 0);
	CHECK_EQUAL(set_scale(NULL, 0.5), 0);
	CHECK(is_silent(90000));
	CHECK_EQUAL(look()->state, PROFILE_RUNNING);
	usleep(110000);
	pass(20000);
	CHECK(nb_sent > 0 && nb_sent <= 10000);
	CHECK_EQUAL(ask(call_stop), 0);
	/* And one that has not begun is stopped before. */
	task.at_us += 3600ull * 1000000;
	CHECK_EQUAL(ask(call_start), 0);
	pass(1000);
	CHECK_EQUAL(ask(call_stop), 0);
	CHECK_EQUAL(look()->state, PROFILE_IDLE);
	CHECK(is_silent(1000));
}

/* Also at a sender that had nothing, or was at its end. */
static void streams_come_and_go(void)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	uint64_t before;

	CHECK_EQUAL(
		load(STREAM("a", "100e3", "") ", " STREAM("few", "100e3", "\"burst\": 5, ")), 0);
	CHECK_EQUAL(start(1), 0);
	pass(10000);
	CHECK_EQUAL(load(STREAM("b", "100e3", "\"burst\": 100, ")), 0);
	CHECK_EQUAL(load(STREAM("c", "100e3", "\"burst\": 200, ")), 0);
	CHECK_EQUAL(load(STREAM("d", "10e3", LATENCY)), 0);
	pass(10000);
	for (unsigned i = 0; i < RTE_DIM(names); i++)
		CHECK(is_near(sent_of(names[i]), i == 0 ? 2000 : 100 * i - 200 * (i == 3)));
	stream_name = "a";
	CHECK_EQUAL(ask(call_remove), 0);
	before = nb_sent;
	pass(10000);
	CHECK(is_near((double)(nb_sent - before), 100));
	CHECK(is_near(sent_of("a"), 2000));
	CHECK_EQUAL(ask(call_stop), 0);
	check_books();
}

/* Streams that follow each other are one sender's; others beside them are not. */
static void a_chain_is_whole(void)
{
	CHECK_EQUAL(load(STREAM("one", "100e3",
			    "\"chain\": 7, \"bursts\": {\"frames\": 100, \"count\": 1, "
			    "\"gap_us\": 0}, ") ", " STREAM("two", "100e3",
			    "\"chain\": 7, \"start_us\": 2000, \"bursts\": {\"frames\": 50, "
			    "\"count\": 2, \"gap_us\": 100}, ") ", " FLOWS_STREAM),
		0);
	CHECK_EQUAL(senders_with("one"), senders_with("two"));
	CHECK_EQUAL(senders_with("flows"), (1u << nb_senders) - 1);
	CHECK_EQUAL(start(1), 0);
	pass(1900);
	CHECK_EQUAL(sent_of("one"), 100);
	CHECK_EQUAL(sent_of("two"), 0);
	pass(10000);
	CHECK_EQUAL(sent_of("two"), 100);
	CHECK_EQUAL(ask(call_stop), 0);
	check_books();
}

#define EMPTY "\"profiles\": true"

static const struct tester_case cases[] = {
	{"rates_change", rates_change, EMPTY},
	{"late_senders_go_by_one_time", late_senders_go_by_one_time, EMPTY},
	{"nothing_comes_after_an_answer", nothing_comes_after_an_answer, EMPTY},
	{"kept_frames_are_waited_for", kept_frames_are_waited_for, EMPTY},
	{"each_sender_acts", each_sender_acts, EMPTY},
	{"a_stuck_worker_is_named", a_stuck_worker_is_named, EMPTY},
	{"packets_are_counted", packets_are_counted, EMPTY},
	{"runs_end", runs_end, EMPTY},
	{"a_start_waits_for_its_time", a_start_waits_for_its_time, EMPTY},
	{"streams_come_and_go", streams_come_and_go, EMPTY},
	{"a_chain_is_whole", a_chain_is_whole, EMPTY},
};

int main(void)
{
	for (nb_senders = 1; nb_senders <= 3; nb_senders++) {
		tester_senders = nb_senders;
		for (size_t i = 0; i < RTE_DIM(cases); i++) {
			unsigned before = test_failures;
			char name[64];

			tester_run_case(&cases[i]);
			snprintf(name, sizeof(name), "%s, %u", cases[i].name, nb_senders);
			test_report(name, before);
		}
	}
	return test_end();
}
