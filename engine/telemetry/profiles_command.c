/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/profiles and what is under it: streams that come, go and run by themselves. */
#include "tester/profile.h"

#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 512
#define SCALE_MAX 1e9
/* A month. */
#define DURATION_US_MAX (30ull * 24 * 3600 * 1000000)

/* Values of "port=e0,profile=a,…"; those that are not given are empty. */
struct values {
	char port[VALUE_BYTES], profile[VALUE_BYTES], stream[VALUE_BYTES], file[VALUE_BYTES];
	char scale[VALUE_BYTES], duration_us[VALUE_BYTES], packets[VALUE_BYTES], at_us[VALUE_BYTES];
};

static char *value_of(struct values *values, const char *key, size_t length)
{
	static const char *const keys[] = {
		"port", "profile", "stream", "file", "scale", "duration_us", "packets", "at_us"};
	char *const places[] = {values->port, values->profile, values->stream, values->file,
		values->scale, values->duration_us, values->packets, values->at_us};

	for (unsigned i = 0; i < RTE_DIM(keys); i++)
		if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
			return places[i];
	return NULL;
}

/* Returns false when it is no list of such; a port and a profile are always needed. */
static bool parse(const char *parameters, struct values *values)
{
	memset(values, 0, sizeof(*values));
	while (parameters != NULL && *parameters != '\0') {
		size_t key = strcspn(parameters, "=,"), length;
		char *value = parameters[key] == '=' ? value_of(values, parameters, key) : NULL;

		if (value == NULL || value[0] != '\0')
			return false;
		parameters += key + 1;
		length = strcspn(parameters, ",");
		if (length == 0 || length >= VALUE_BYTES)
			return false;
		memcpy(value, parameters, length);
		parameters += length + (parameters[length] == ',');
	}
	return values->port[0] != '\0' && values->profile[0] != '\0' &&
	       strlen(values->profile) < PROFILE_NAME_BYTES;
}

static bool parse_scale(const char *text, double *scale)
{
	char *end;

	*scale = strtod(text, &end);
	return end != text && *end == '\0' && *scale >= 0 && *scale <= SCALE_MAX;
}

/* 0 where there is none. */
static bool parse_u64(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	*number = 0;
	if (text[0] == '\0')
		return true;
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *number <= max;
}

/* Carries out what `act` does, and answers "done", or what is wrong in one line. */
#define ANSWER(data, call) \
	do { \
		char *text = NULL; \
		size_t bytes; \
		FILE *complaints = open_memstream(&text, &bytes); \
		int rc = complaints == NULL ? -ENOMEM : (call); \
		if (complaints != NULL) \
			fclose(complaints); \
		answer_outcome(data, rc, text); \
		free(text); \
	} while (0)

static void answer_outcome(struct rte_tel_data *data, int rc, char *text)
{
	if (text != NULL)
		text[strcspn(text, "\n")] = '\0';
	/* DPDK's JSON has no right form for some characters, and may cut a string within one. */
	for (char *at = text; at != NULL && *at != '\0'; at++)
		if (*at == '"' || *at == '\\' || *at < ' ' || *at > '~')
			*at = '\'';
	if (rc == 0)
		answer_u64(data, "done", 1);
	else
		answer_error(data, text == NULL || text[0] == '\0' ? strerror(-rc) : text);
}

static int load_answer(const char *parameters, struct rte_tel_data *data)
{
	struct values v;

	if (!parse(parameters, &v) || v.file[0] == '\0')
		return -1;
	ANSWER(data, profile_load(v.port, v.profile, v.file, complaints));
	return 0;
}
COMMAND("/linerate/profiles/load", load_answer,
	"Adds the streams of a file. Parameters: port=P,profile=N,file=PATH")

static int remove_answer(const char *parameters, struct rte_tel_data *data)
{
	struct values v;

	if (!parse(parameters, &v))
		return -1;
	ANSWER(data, profile_remove(
			     v.port, v.profile, v.stream[0] == '\0' ? NULL : v.stream, complaints));
	return 0;
}
COMMAND("/linerate/profiles/remove", remove_answer,
	"Removes a profile, or a stream of it. Parameters: port=P,profile=N[,stream=NAME]")

static int start_answer(const char *parameters, struct rte_tel_data *data)
{
	struct profile_start plan;
	struct values v;

	if (!parse(parameters, &v) || !parse_scale(v.scale, &plan.scale) || plan.scale == 0 ||
		!parse_u64(v.duration_us, DURATION_US_MAX, &plan.duration_us) ||
		!parse_u64(v.packets, UINT64_MAX, &plan.packets) ||
		!parse_u64(v.at_us, UINT64_MAX, &plan.at_us))
		return -1;
	ANSWER(data, profile_start(v.port, v.profile, &plan, complaints));
	return 0;
}
COMMAND("/linerate/profiles/start", start_answer,
	"Starts. Parameters: port=P,profile=N,scale=X[,duration_us=N][,packets=N][,at_us=N]")

static int stop_answer(const char *parameters, struct rte_tel_data *data)
{
	struct values v;

	if (!parse(parameters, &v))
		return -1;
	ANSWER(data, profile_stop(v.port, v.profile, complaints));
	return 0;
}
COMMAND("/linerate/profiles/stop", stop_answer, "Stops a profile. Parameters: port=P,profile=N")

static int pause_answer(const char *parameters, struct rte_tel_data *data)
{
	struct values v;

	if (!parse(parameters, &v))
		return -1;
	ANSWER(data, profile_pause(v.port, v.profile, complaints));
	return 0;
}
COMMAND("/linerate/profiles/pause", pause_answer, "Pauses a profile. Parameters: port=P,profile=N")

static int resume_answer(const char *parameters, struct rte_tel_data *data)
{
	struct values v;

	if (!parse(parameters, &v))
		return -1;
	ANSWER(data, profile_resume(v.port, v.profile, complaints));
	return 0;
}
COMMAND("/linerate/profiles/resume", resume_answer,
	"Ends the pause of a profile. Parameters: port=P,profile=N")

static int rate_answer(const char *parameters, struct rte_tel_data *data)
{
	struct values v;
	double scale;
	bool whole;

	if (!parse(parameters, &v) || !parse_scale(v.scale, &scale))
		return -1;
	whole = v.stream[0] == '\0';
	if (whole && scale == 0)
		return -1;
	ANSWER(data,
		whole ? profile_set_scale(v.port, v.profile, scale, complaints)
		      : profile_set_stream_scale(v.port, v.profile, v.stream, scale, complaints));
	return 0;
}
COMMAND("/linerate/profiles/rate", rate_answer,
	"Scales the rates from now on. Parameters: port=P,profile=N[,stream=NAME],scale=X")

static void note(const struct profile_status *status, void *to)
{
	struct table *table = to;

	table_string(table, 0, status->port);
	table_string(table, 1, status->name);
	table_string(table, 2, profile_state_name(status->state));
	table_u64(table, 3, status->streams);
	table_u64(table, 4, (uint64_t)(status->pps * 1000));
	table_u64(table, 5, (uint64_t)status->l1_bps);
	table_u64(table, 6, (uint64_t)status->l2_bps);
	table_u64(table, 7, (uint64_t)(status->scale * 1e6));
	table_u64(table, 8, status->elapsed_us);
	table_u64(table, 9, status->sent);
}

static int profiles_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "sssuuuuuuu", "port", "profile", "state", "streams", "pps_thousandths",
		"l1_bps", "l2_bps", "scale_ppm", "elapsed_us", "sent");
	profiles_read(note, &table);
	return table_end(&table, data);
}
COMMAND("/linerate/profiles", profiles_answer, "Columns of all profiles. Takes no parameter")
