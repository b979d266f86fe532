/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include "core/rcu.h"
#include "profile_packets.h"
#include "profile_schedules.h"
#include "profile_streams.h"
#include "tester.h"

#include <errno.h>
#include <pthread.h>
#include <rte_cycles.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* A worker that has not walked for so long is stopped by somebody. */
#define WALK_WAIT_US 1000000
#define WALK_LOOK_US 50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char *profile_state_name(enum profile_state state)
{
	static const char *const names[] = {"idle", "running", "paused", "done"};

	return names[state];
}

static struct tester_port *find_port(const char *name, FILE *complaints)
{
	const struct port *port = port_find(name);
	struct tester_port *found = port == NULL ? NULL : tester_port_of(port->index);

	if (found == NULL)
		fprintf(complaints, "no port of the tester is called \"%s\"\n", name);
	else if (!tester.takes_profiles) {
		fputs("the tester was started without \"profiles\": true\n", complaints);
		return NULL;
	}
	return found;
}

static struct profile *find(const struct tester_port *port, const char *name)
{
	for (unsigned i = 0; port->profiles != NULL && i < port->profiles->count; i++)
		if (strcmp(port->profiles->profiles[i]->name, name) == 0)
			return port->profiles->profiles[i];
	return NULL;
}

static struct profile *find_named(const char *port, const char *name, FILE *complaints)
{
	struct tester_port *found = find_port(port, complaints);
	struct profile *profile = found == NULL ? NULL : find(found, name);

	if (found != NULL && profile == NULL)
		fprintf(complaints, "port %s has no profile \"%s\"\n", port, name);
	return profile;
}

static bool is_ordered(const struct profile *profile)
{
	return profile->plan.serial != 0;
}

/* Whether all senders have done what the present order asks for; of one that has an order. */
static bool is_finished(const struct profile *profile)
{
	for (unsigned s = 0; s < profile->port->nb_senders; s++)
		if (__atomic_load_n(&profile->parts[s].finished, __ATOMIC_ACQUIRE) !=
			profile->plan.serial)
			return false;
	return true;
}

static enum profile_state state_of(const struct profile *profile)
{
	if (!is_ordered(profile))
		return PROFILE_IDLE;
	if (is_finished(profile))
		return profile->plan.stop ? PROFILE_IDLE : PROFILE_DONE;
	return profile->paused ? PROFILE_PAUSED : PROFILE_RUNNING;
}

static bool is_running(const struct profile *profile)
{
	return is_ordered(profile) && !is_finished(profile);
}

/* Whether the sender saw the order, and began the run if its time has come: what changes then is
 * not what it began with. */
static bool has_seen(const struct profile_part *part, const struct profile_plan *plan)
{
	return __atomic_load_n(&part->seen, __ATOMIC_ACQUIRE) == plan->serial &&
	       (plan->at_tsc > rte_rdtsc() ||
		       __atomic_load_n(&part->run, __ATOMIC_RELAXED) == plan->run);
}

static bool all_saw(const struct profile *profile)
{
	for (unsigned s = 0; s < profile->port->nb_senders; s++)
		if (!has_seen(&profile->parts[s], &profile->plan))
			return false;
	return true;
}

/* Whether the port has all frames that were made by earlier orders. */
static bool all_settled(const struct profile *profile)
{
	for (unsigned s = 0; s < profile->port->nb_senders; s++)
		if (__atomic_load_n(&profile->parts[s].settled, __ATOMIC_ACQUIRE) !=
			profile->plan.serial)
			return false;
	return true;
}

/* Waits, asleep, until all senders saw the order. Returns 0, or -EBUSY after writing that one does
 * not run. */
static int wait_seen(const struct profile *profile, FILE *complaints)
{
	for (unsigned waited_us = 0; is_ordered(profile) && !all_saw(profile);
		waited_us += WALK_LOOK_US) {
		if (waited_us >= WALK_WAIT_US) {
			fputs("a worker of the tester does not run\n", complaints);
			return -EBUSY;
		}
		usleep(WALK_LOOK_US);
	}
	return 0;
}

/* The same until no frame of before is made or kept any more. A link that takes none has them kept:
 * it is not waited for, and the ledger has them as held. */
static int wait_settled(const struct profile *profile, FILE *complaints)
{
	int rc = wait_seen(profile, complaints);

	for (unsigned waited_us = 0; rc == 0 && !all_settled(profile) && waited_us < WALK_WAIT_US &&
				     !port_link_is_down(profile->port->port);
		waited_us += WALK_LOOK_US)
		usleep(WALK_LOOK_US);
	return rc;
}

/* Gives the senders their orders, one each. Each has seen the one before, so that it has nothing
 * of what that one followed. */
static void hand_out(
	struct profile *profile, const struct profile_plan *plan, struct profile_order **orders)
{
	profile->plan = *plan;
	for (unsigned s = 0; s < profile->port->nb_senders; s++) {
		struct profile_part *part = &profile->parts[s];
		struct profile_order *last = (struct profile_order *)(uintptr_t)part->order;

		profile_order_free(part->past, last);
		part->past = last;
		orders[s]->plan = *plan;
		__atomic_store_n(&part->order, orders[s], __ATOMIC_RELEASE);
	}
}

/* When an order changes rates: the time that several senders go by. */
static uint64_t since(const struct profile *profile)
{
	return profile->port->nb_senders == 1 ? 0 : tester_clock(profile->port->port);
}

/* The numbers of packets stay: rates that are 0 change nothing about who sends which. */
static void keep_packets(const struct profile *profile, struct profile_order **orders)
{
	for (unsigned s = 0; s < profile->port->nb_senders; s++)
		orders[s]->packets = profile->parts[s].order->packets;
}

/* Has all senders wait where they are, so that what they sent is known. */
static int hold(struct profile *profile, struct profile_plan plan, FILE *complaints)
{
	struct profile_order *orders[PORT_QUEUES_MAX];
	int rc;

	plan.serial = profile->plan.serial + 1;
	plan.scale = 0;
	rc = profile_orders_make(profile, &plan, orders, complaints);
	if (rc != 0)
		return rc;
	keep_packets(profile, orders);
	hand_out(profile, &plan, orders);
	return wait_seen(profile, complaints);
}

/* Makes orders by the plan and gives them, once all senders saw those before. A number of packets
 * is divided when a run begins, and anew when it goes on in another way. */
static int give(struct profile *profile, struct profile_plan plan, FILE *complaints)
{
	bool begins = plan.run != profile->plan.run, goes_on = !plan.stop && plan.scale != 0;
	struct profile_order *orders[PORT_QUEUES_MAX];
	int rc = wait_seen(profile, complaints);

	if (rc == 0 && !begins && goes_on && plan.packets != 0 && profile->port->nb_senders > 1)
		rc = hold(profile, plan, complaints);
	plan.serial = profile->plan.serial + 1;
	if (rc == 0)
		rc = profile_orders_make(profile, &plan, orders, complaints);
	if (rc != 0)
		return rc;
	if (begins || goes_on)
		profile_packets_divide(profile, &plan, orders);
	else
		keep_packets(profile, orders);
	hand_out(profile, &plan, orders);
	return 0;
}

/* The order that makes the profile run as it now stands; it is running. */
static int give_again(struct profile *profile, FILE *complaints)
{
	struct profile_plan plan = profile->plan;

	profile_streams_set_pps(profile);
	plan.scale = profile->paused ? 0 : profile->scale;
	/* One that has yet to begin begins when it was to. */
	plan.since = plan.at_tsc > rte_rdtsc() ? plan.since : since(profile);
	return give(profile, plan, complaints);
}

static double l1_bps_of(const struct profile *profile)
{
	double bps = 0;

	for (unsigned i = 0; i < profile->nb_streams; i++)
		bps += stream_base_pps(profile->streams[i]) * profile->scales[i] *
		       stream_l1_bits(profile->streams[i]) *
		       (profile->streams[i]->unscaled ? 1 : profile->scale);
	return bps;
}

/* With all that runs on its port, no more than the line carries. */
static int check_line(const struct profile *profile, FILE *complaints)
{
	const struct port *port = profile->port->port;
	double line_bps = (double)port->driver->link_bps(port), bps = l1_bps_of(profile);

	for (unsigned i = 0; i < profile->port->profiles->count; i++) {
		const struct profile *other = profile->port->profiles->profiles[i];

		if (other != profile && is_running(other))
			bps += l1_bps_of(other);
	}
	if (line_bps == 0 || bps <= line_bps * 1.000001)
		return 0;
	fprintf(complaints, "port %s: %.6g of %.6g L1 bit/s are asked for: %.4g %% of line\n",
		port->name, bps, line_bps, 100 * bps / line_bps);
	return -EINVAL;
}

static struct profile *create(struct tester_port *port, const char *name)
{
	unsigned count = port->profiles == NULL ? 0 : port->profiles->count;
	struct profile_set *set, *last = port->profiles;
	struct profile *profile;
	size_t parts_bytes = port->nb_senders * sizeof(*profile->parts);

	if (count == PROFILES_MAX)
		return NULL;
	profile = calloc(1, sizeof(*profile));
	set = calloc(1, sizeof(*set) + (count + 1) * sizeof(struct profile *));
	if (profile != NULL)
		profile->parts = aligned_alloc(RTE_CACHE_LINE_SIZE, parts_bytes);
	if (profile == NULL || set == NULL || profile->parts == NULL) {
		if (profile != NULL)
			free(profile->parts);
		free(profile);
		free(set);
		return NULL;
	}
	memset(profile->parts, 0, parts_bytes);
	snprintf(profile->name, sizeof(profile->name), "%s", name);
	profile->port = port;
	profile->scale = 1;
	if (last != NULL)
		memcpy(set->profiles, last->profiles, count * sizeof(struct profile *));
	set->profiles[count] = profile;
	set->count = count + 1;
	__atomic_store_n(&port->profiles, set, __ATOMIC_RELEASE);
	/* A set of a few pointers that a stuck worker may still read is better kept. */
	if (last != NULL && rcu_wait())
		free(last);
	return profile;
}

static int add_all(
	struct profile *profile, struct stream **streams, unsigned count, FILE *complaints)
{
	int rc = profile_streams_add(profile, streams, count);

	if (rc != 0) {
		fputs(rc == -ENOSPC ? "too many streams\n" : "no memory\n", complaints);
		return rc;
	}
	return is_running(profile) ? give_again(profile, complaints) : 0;
}

static int load(
	struct tester_port *port, const char *name, const struct config *config, FILE *complaints)
{
	struct config_node root = config_root((struct config *)(uintptr_t)config);
	struct config_node array = config_child(&root, "streams");
	size_t room = config_items(&array);
	struct stream **streams = calloc(room + 1, sizeof(*streams));
	struct profile *profile = find(port, name);
	int count = streams == NULL ? -ENOMEM : 0, rc;

	config_known(&root, "streams");
	if (count == 0)
		count = config->mistakes == 0
				? profile_streams_read(port, profile, &array, streams, complaints)
				: -EINVAL;
	if (count >= 0 && profile == NULL)
		profile = create(port, name);
	if (count >= 0 && profile == NULL) {
		fprintf(complaints, "port %s: expected at most %d profiles\n", port->port->name,
			PROFILES_MAX);
		count = -ENOSPC;
	}
	rc = count < 0 ? count : add_all(profile, streams, (unsigned)count, complaints);
	free(streams);
	return rc;
}

int profile_load(const char *port, const char *name, const char *file, FILE *complaints)
{
	struct tester_port *found;
	struct config config;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	found = find_port(port, complaints);
	if (found != NULL && config_open_to(&config, file, complaints) == 0) {
		config.file = "streams"; /* paths are long, answers short */
		rc = load(found, name, &config, complaints);
		config_close(&config);
	} else if (found != NULL)
		rc = -EINVAL;
	pthread_mutex_unlock(&lock);
	return rc;
}

static int stream_index(const struct profile *profile, const char *name)
{
	for (unsigned i = 0; i < profile->nb_streams; i++)
		if (strcmp(profile->streams[i]->name, name) == 0)
			return (int)i;
	return -1;
}

/* The stream's frames may be under way, and its counts are in the ledger: it stays the port's. */
static void forget(struct profile *profile, unsigned index)
{
	for (struct stream *part = profile->streams[index]; part != NULL; part = part->next_part)
		part->removed = true;
	profile->nb_streams--;
	memmove(profile->streams + index, profile->streams + index + 1,
		(profile->nb_streams - index) * sizeof(*profile->streams));
	memmove(profile->scales + index, profile->scales + index + 1,
		(profile->nb_streams - index) * sizeof(*profile->scales));
}

static int remove_stream(struct profile *profile, const char *stream, FILE *complaints)
{
	int index = stream_index(profile, stream), rc;

	if (index < 0) {
		fprintf(complaints, "profile %s has no stream \"%s\"\n", profile->name, stream);
		return -ENOENT;
	}
	forget(profile, (unsigned)index);
	if (!is_running(profile))
		return 0;
	rc = give_again(profile, complaints);
	return rc != 0 ? rc : wait_settled(profile, complaints);
}

int profile_remove(const char *port, const char *name, const char *stream, FILE *complaints)
{
	struct profile *profile;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	profile = find_named(port, name, complaints);
	if (profile != NULL && stream != NULL)
		rc = remove_stream(profile, stream, complaints);
	else if (profile != NULL && is_running(profile)) {
		fprintf(complaints, "profile %s is running; stop it first\n", name);
		rc = -EBUSY;
	} else if (profile != NULL) {
		while (profile->nb_streams > 0)
			forget(profile, profile->nb_streams - 1);
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static uint64_t clocks_of(uint64_t us)
{
	return (uint64_t)((double)us / 1e6 * (double)rte_get_tsc_hz());
}

static uint64_t tsc_at(uint64_t at_us)
{
	struct timeval now;
	uint64_t now_us;

	gettimeofday(&now, NULL);
	now_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_usec;
	return at_us <= now_us ? 0 : rte_rdtsc() + clocks_of(at_us - now_us);
}

static int start(struct profile *profile, const struct profile_start *task, FILE *complaints)
{
	struct profile_plan plan = {
		.run = profile->plan.run + 1,
		.scale = task->scale,
		.since = since(profile),
		.duration_clocks = clocks_of(task->duration_us),
		.packets = task->packets,
		.at_tsc = task->at_us == 0 ? 0 : tsc_at(task->at_us),
	};
	uint64_t now = rte_rdtsc();
	int rc;

	if (is_running(profile) || tester.has_trial) {
		fprintf(complaints, "%s is running; stop it first\n",
			tester.has_trial ? "a trial" : profile->name);
		return -EBUSY;
	}
	profile->scale = task->scale;
	profile->paused = false;
	rc = check_line(profile, complaints);
	if (rc != 0)
		return rc;
	if (plan.since != 0 && plan.at_tsc > now)
		plan.since += plan.at_tsc - now;
	profile_streams_set_pps(profile);
	return give(profile, plan, complaints);
}

int profile_start(
	const char *port, const char *name, const struct profile_start *plan, FILE *complaints)
{
	struct profile *profile;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	profile = find_named(port, name, complaints);
	if (profile != NULL)
		rc = start(profile, plan, complaints);
	pthread_mutex_unlock(&lock);
	return rc;
}

static int stop(struct profile *profile, FILE *complaints)
{
	struct profile_plan plan = profile->plan;
	int rc;

	if (!is_running(profile)) {
		profile->plan.stop = true;
		return 0;
	}
	plan.stop = true;
	plan.since = since(profile);
	rc = give(profile, plan, complaints);
	return rc != 0 ? rc : wait_settled(profile, complaints);
}

int profile_stop(const char *port, const char *name, FILE *complaints)
{
	struct profile *profile;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	profile = find_named(port, name, complaints);
	if (profile != NULL)
		rc = stop(profile, complaints);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* Takes a change of a profile's rates; only one that is running needs an order. */
static int change(struct profile *profile, FILE *complaints)
{
	int rc = is_running(profile) ? check_line(profile, complaints) : 0;

	if (rc == 0 && is_running(profile))
		rc = give_again(profile, complaints);
	return rc;
}

static int set_paused(const char *port, const char *name, bool paused, FILE *complaints)
{
	struct profile *profile;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	profile = find_named(port, name, complaints);
	if (profile != NULL && !is_running(profile)) {
		fprintf(complaints, "profile %s is not running\n", name);
		rc = -EBUSY;
	} else if (profile != NULL) {
		profile->paused = paused;
		rc = change(profile, complaints);
		if (rc == 0)
			rc = wait_settled(profile, complaints);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int profile_pause(const char *port, const char *name, FILE *complaints)
{
	return set_paused(port, name, true, complaints);
}

int profile_resume(const char *port, const char *name, FILE *complaints)
{
	return set_paused(port, name, false, complaints);
}

int profile_set_scale(const char *port, const char *name, double scale, FILE *complaints)
{
	struct profile *profile;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	profile = find_named(port, name, complaints);
	if (profile != NULL) {
		double before = profile->scale;

		profile->scale = scale;
		rc = change(profile, complaints);
		if (rc != 0)
			profile->scale = before;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static int set_stream_scale(
	struct profile *profile, const char *stream, double scale, FILE *complaints)
{
	int index = stream_index(profile, stream), rc;
	double before;

	if (index < 0) {
		fprintf(complaints, "profile %s has no stream \"%s\"\n", profile->name, stream);
		return -ENOENT;
	}
	before = profile->scales[index];
	profile->scales[index] = scale;
	rc = change(profile, complaints);
	if (rc != 0)
		profile->scales[index] = before;
	return rc != 0 || !is_ordered(profile) ? rc : wait_settled(profile, complaints);
}

int profile_set_stream_scale(
	const char *port, const char *name, const char *stream, double scale, FILE *complaints)
{
	struct profile *profile;
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	profile = find_named(port, name, complaints);
	if (profile != NULL)
		rc = set_stream_scale(profile, stream, scale, complaints);
	pthread_mutex_unlock(&lock);
	return rc;
}

/* The time of the sender that sends, or sent, longest. */
static uint64_t elapsed_us(const struct profile *profile)
{
	bool finished = is_finished(profile);
	uint64_t longest = 0, now = finished ? 0 : tester_clock(profile->port->port);

	for (unsigned s = 0; is_ordered(profile) && s < profile->port->nb_senders; s++) {
		const struct profile_part *part = &profile->parts[s];
		uint64_t end = finished ? part->read_clock : now;

		if (part->run == profile->plan.run && end > part->start_clock)
			longest = RTE_MAX(longest, end - part->start_clock);
	}
	return (uint64_t)((double)longest * 1e6 / (double)rte_get_tsc_hz());
}

static uint64_t sent_of(const struct profile *profile)
{
	uint64_t sent = 0;

	for (unsigned s = 0; s < profile->port->nb_senders; s++)
		sent += __atomic_load_n(&profile->parts[s].sent, __ATOMIC_RELAXED);
	return sent;
}

static struct profile_status status_of(const struct profile *profile)
{
	struct profile_status status = {
		.port = profile->port->port->name,
		.name = profile->name,
		.state = state_of(profile),
		.streams = profile->nb_streams,
		.scale = profile->scale,
		.elapsed_us = elapsed_us(profile),
		.sent = sent_of(profile),
	};

	for (unsigned i = 0; i < profile->nb_streams; i++) {
		const struct stream *stream = profile->streams[i];
		double pps = stream_base_pps(stream) * profile->scales[i];

		status.pps += pps;
		status.l1_bps += pps * stream_l1_bits(stream);
		status.l2_bps += pps * stream->mean_bytes * 8;
	}
	return status;
}

void profiles_read(void (*note)(const struct profile_status *status, void *to), void *to)
{
	pthread_mutex_lock(&lock);
	for (unsigned p = 0; p < tester.nb_ports; p++) {
		const struct profile_set *set = tester.ports[p].profiles;

		for (unsigned i = 0; set != NULL && i < set->count; i++) {
			struct profile_status status = status_of(set->profiles[i]);

			note(&status, to);
		}
	}
	pthread_mutex_unlock(&lock);
}

bool profiles_run(void)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (unsigned p = 0; p < tester.nb_ports; p++) {
		const struct profile_set *set = tester.ports[p].profiles;

		for (unsigned i = 0; set != NULL && i < set->count; i++)
			found |= is_running(set->profiles[i]);
	}
	pthread_mutex_unlock(&lock);
	return found;
}
