/* SPDX-License-Identifier: BSD-3-Clause */
/* /linerate/trial, /linerate/trial/start, /linerate/trial/stop. */
#include "tester/link_watch.h"
#include "tester/trial.h"

#include "command.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A month: longer trials overflow their clocks. */
#define DURATION_US_MAX (30ull * 24 * 3600 * 1000000)

static int answer_links_down(struct rte_tel_data *data)
{
	struct table table;

	table_start(&table, "su", "link_down_port", "link_down_us");
	for (unsigned i = 0; i < link_watch_count(); i++) {
		table_string(&table, 0, link_watch_at(i)->port->name);
		table_u64(&table, 1, link_watch_at(i)->at_us);
	}
	return table_end(&table, data);
}

static int trial_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	struct trial_status status;

	trial_read(&status);
	answer_u64(data, "trial", status.number);
	answer_string(data, "state", trial_state_name(status.state));
	answer_u64(data, "elapsed_us", status.elapsed_us);
	answer_u64(data, "paused_us", status.paused_us);
	answer_u64(data, "asked_packets", status.asked_packets);
	answer_u64(data, "sent_packets", status.sent_packets);
	answer_u64(data, "received_packets", status.received_packets);
	answer_u64(data, "drained", status.drained);
	answer_u64(data, "start_tsc", status.start_tsc);
	answer_u64(data, "end_tsc", status.end_tsc);
	answer_u64(data, "link_waits", status.link_waits);
	return answer_links_down(data);
}

COMMAND("/linerate/trial", trial_answer, "How the trial stands. Takes no parameter")

/* "duration_us=N,scale_ppm=N", both needed, and perhaps ",clean_us=N,limit_us=N". */
static bool parse_plan(const char *parameters, struct trial_plan *plan)
{
	unsigned long duration_us, scale_ppm, clean_us = 0, limit_us = 0;
	int end = 0, read;

	if (parameters == NULL)
		return false;
	read = sscanf(parameters, "duration_us=%lu,scale_ppm=%lu%n,clean_us=%lu,limit_us=%lu%n",
		&duration_us, &scale_ppm, &end, &clean_us, &limit_us, &end);
	if ((read != 2 && read != 4) || parameters[end] != '\0')
		return false;
	*plan = (struct trial_plan){duration_us, (double)scale_ppm / 1e6, clean_us, limit_us};
	return duration_us != 0 && duration_us <= DURATION_US_MAX && limit_us <= DURATION_US_MAX &&
	       clean_us <= RTE_MAX(duration_us, limit_us) && scale_ppm != 0 &&
	       scale_ppm <= 1000000000;
}

static int trial_start_answer(const char *parameters, struct rte_tel_data *data)
{
	struct trial_plan plan;
	int number;

	if (!parse_plan(parameters, &plan))
		return -1;
	number = trial_start(&plan);
	if (number < 0)
		return answer_error(data, strerror(-number));
	answer_u64(data, "trial", (uint64_t)number);
	return 0;
}

COMMAND("/linerate/trial/start", trial_start_answer,
	"Starts the streams. Parameters: duration_us=N,scale_ppm=N[,clean_us=N,limit_us=N]")

static int trial_stop_answer(__rte_unused const char *parameters, struct rte_tel_data *data)
{
	trial_stop();
	return trial_answer(NULL, data);
}

COMMAND("/linerate/trial/stop", trial_stop_answer, "Stops sending. Takes no parameter")
