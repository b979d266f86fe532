/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"

#include "core/rcu.h"
#include "ip_id.h"
#include "profile_schedules.h"
#include "stream_rx.h"
#include "tester.h"

#include <errno.h>
#include <math.h>
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

static bool is_finished(const struct profile *profile)
{
	return profile->order == NULL ||
	       __atomic_load_n(&profile->finished, __ATOMIC_ACQUIRE) == profile->order->run;
}

static enum profile_state state_of(const struct profile *profile)
{
	if (profile->order == NULL)
		return PROFILE_IDLE;
	if (is_finished(profile))
		return profile->order->stop ? PROFILE_IDLE : PROFILE_DONE;
	return profile->paused ? PROFILE_PAUSED : PROFILE_RUNNING;
}

static bool is_running(const struct profile *profile)
{
	return profile->order != NULL && !is_finished(profile);
}

/* Waits until the worker holds nothing of before the token. */
static bool walked_since(uint64_t token)
{
	for (unsigned waited_us = 0; !rcu_passed(token); waited_us += WALK_LOOK_US) {
		if (waited_us >= WALK_WAIT_US)
			return false;
		usleep(WALK_LOOK_US);
	}
	return true;
}

/* Gives the order, which is the profile's from then on, and frees the one before the last. */
static int give(struct profile *profile, struct profile_order *order, FILE *complaints)
{
	struct profile_order *last = (struct profile_order *)(uintptr_t)profile->order;

	if (profile->past != NULL && !walked_since(profile->past_token)) {
		profile_order_free(order, last);
		fputs("the tester's worker does not run\n", complaints);
		return -EBUSY;
	}
	profile_order_free(profile->past, last);
	order->serial = profile->nb_orders++;
	__atomic_store_n(&profile->order, order, __ATOMIC_RELEASE);
	profile->past = last;
	profile->past_token = rcu_token();
	return 0;
}

/* Rates of single streams, beside the profile's. */
static void set_pps(struct profile *profile)
{
	for (unsigned i = 0; i < profile->nb_streams; i++)
		profile->streams[i]->pps = profile->streams[i]->base_pps * profile->scales[i];
}

/* The order that makes the profile run as it now stands; it is running. */
static int give_again(struct profile *profile, FILE *complaints)
{
	struct profile_order *order;

	set_pps(profile);
	order = profile_order_make(profile, false, complaints);
	if (order == NULL)
		return -ENOMEM;
	order->scale = profile->paused ? 0 : profile->scale;
	return give(profile, order, complaints);
}

static double l1_bps_of(const struct profile *profile)
{
	double bps = 0;

	for (unsigned i = 0; i < profile->nb_streams; i++)
		bps += profile->streams[i]->base_pps * profile->scales[i] *
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

	if (count == PROFILES_MAX)
		return NULL;
	profile = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*profile));
	set = calloc(1, sizeof(*set) + (count + 1) * sizeof(struct profile *));
	if (profile == NULL || set == NULL) {
		free(profile);
		free(set);
		return NULL;
	}
	memset(profile, 0, sizeof(*profile));
	snprintf(profile->name, sizeof(profile->name), "%s", name);
	profile->port = port;
	profile->scale = profile->nb_orders = 1;
	if (last != NULL)
		memcpy(set->profiles, last->profiles, count * sizeof(struct profile *));
	set->profiles[count] = profile;
	set->count = count + 1;
	__atomic_store_n(&port->profiles, set, __ATOMIC_RELEASE);
	/* A set of a few pointers that a stuck worker may still read is better kept. */
	if (last != NULL && walked_since(rcu_token()))
		free(last);
	return profile;
}

static int add(struct profile *profile, struct stream *stream)
{
	unsigned count = profile->nb_streams + 1;
	struct stream **streams = realloc(profile->streams, count * sizeof(*streams));
	double *scales;
	int rc;

	if (streams == NULL)
		return -ENOMEM;
	profile->streams = streams;
	scales = realloc(profile->scales, count * sizeof(*scales));
	if (scales == NULL)
		return -ENOMEM;
	profile->scales = scales;
	rc = tester_stream_add(profile->port, stream);
	if (rc != 0)
		return rc;
	profile->port->senders[0]->nb_stamped += stream->stamped;
	if (stream_rx_create(stream) != 0)
		return -ENOMEM;
	scales[profile->nb_streams] = 1;
	streams[profile->nb_streams++] = stream;
	return 0;
}

/* With those that the tester has, and those before it in its file. */
static int check_ip_id(
	struct stream *stream, struct stream *const *before, unsigned count, FILE *complaints)
{
	const struct stream *other;

	stream->id = (uint16_t)(tester.nb_streams + count);
	other = ip_id_clash(stream, tester.streams, tester.nb_streams);
	if (other == NULL)
		other = ip_id_clash(stream, before, count);
	if (other == NULL)
		return 0;
	fprintf(complaints, IP_ID_CLASH "\n", stream->name, other->name);
	return -EINVAL;
}

/* Reads and prepares all, before the first is added: a file with a mistake adds none. */
static int read_streams(struct tester_port *port, const struct config_node *array,
	struct stream **streams, FILE *complaints)
{
	unsigned count = 0;
	int rc = 0;

	CONFIG_EACH (item, array) {
		struct stream *stream = stream_parse(&item);

		if (stream == NULL) {
			rc = -EINVAL;
			continue;
		}
		if (check_ip_id(stream, streams, count, complaints) != 0)
			rc = -EINVAL;
		streams[count++] = stream;
		if (tester_stream_prepare(stream, port->port, complaints) != 0)
			rc = -EINVAL;
		else if (isinf(stream->pps)) {
			fprintf(complaints, "stream %s: expected a rate of its own\n",
				stream->name);
			rc = -EINVAL;
		}
		stream->base_pps = stream->pps;
	}
	if (rc == 0)
		return (int)count;
	for (unsigned i = 0; i < count; i++)
		stream_free(streams[i]);
	return rc;
}

static int add_all(
	struct profile *profile, struct stream **streams, unsigned count, FILE *complaints)
{
	for (unsigned i = 0; i < count; i++) {
		int rc = add(profile, streams[i]);

		if (rc == 0)
			continue;
		/* The one that failed may be the port's already. */
		for (i++; i < count; i++)
			stream_free(streams[i]);
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
		count = config->mistakes == 0 ? read_streams(port, &array, streams, complaints)
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
	profile->streams[index]->removed = true;
	profile->nb_streams--;
	memmove(profile->streams + index, profile->streams + index + 1,
		(profile->nb_streams - index) * sizeof(*profile->streams));
	memmove(profile->scales + index, profile->scales + index + 1,
		(profile->nb_streams - index) * sizeof(*profile->scales));
}

static int remove_stream(struct profile *profile, const char *stream, FILE *complaints)
{
	int index = stream_index(profile, stream);

	if (index < 0) {
		fprintf(complaints, "profile %s has no stream \"%s\"\n", profile->name, stream);
		return -ENOENT;
	}
	forget(profile, (unsigned)index);
	return is_running(profile) ? give_again(profile, complaints) : 0;
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

static int start(struct profile *profile, const struct profile_start *plan, FILE *complaints)
{
	struct profile_order *order;
	uint32_t run = profile->order == NULL ? 1 : profile->order->run + 1;
	int rc;

	if (is_running(profile) || tester.has_trial) {
		fprintf(complaints, "%s is running; stop it first\n",
			tester.has_trial ? "a trial" : profile->name);
		return -EBUSY;
	}
	profile->scale = plan->scale;
	profile->paused = false;
	rc = check_line(profile, complaints);
	if (rc != 0)
		return rc;
	set_pps(profile);
	order = profile_order_make(profile, true, complaints);
	if (order == NULL)
		return -ENOMEM;
	order->run = run;
	order->stop = false;
	order->scale = plan->scale;
	order->duration_clocks = clocks_of(plan->duration_us);
	order->packets = plan->packets;
	order->at_tsc = plan->at_us == 0 ? 0 : tsc_at(plan->at_us);
	return give(profile, order, complaints);
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
	struct profile_order *order;
	int rc;

	if (profile->order == NULL)
		return 0;
	order = profile_order_make(profile, false, complaints);
	if (order == NULL)
		return -ENOMEM;
	order->stop = true;
	rc = give(profile, order, complaints);
	return rc != 0 || walked_since(profile->past_token) ? rc : -EBUSY;
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
		if (rc == 0 && !walked_since(profile->past_token))
			rc = -EBUSY;
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
	return rc;
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

static uint64_t elapsed_us(const struct profile *profile)
{
	uint64_t now = tester_clock(profile->port->port);

	if (profile->order == NULL || profile->run != profile->order->run)
		return 0;
	if (is_finished(profile))
		now = profile->read_clock;
	return now < profile->start_clock ? 0
					  : (uint64_t)((double)(now - profile->start_clock) * 1e6 /
						       (double)rte_get_tsc_hz());
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
		.sent = __atomic_load_n(&profile->sent, __ATOMIC_RELAXED),
	};

	for (unsigned i = 0; i < profile->nb_streams; i++) {
		const struct stream *stream = profile->streams[i];
		double pps = stream->base_pps * profile->scales[i];

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
