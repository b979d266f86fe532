/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections from their start to their end; what a trial sends of them. */
#include "connections.h"

#include "schedule.h"
#include "tester_state.h"
#include "tester_worker.h"

#include <rte_byteorder.h>
#include <rte_prefetch.h>

uint64_t connections_to_begin(
	const struct connection_template *template, double seconds, double scale)
{
	return (uint64_t)(template->cps * scale * seconds);
}

uint64_t connections_asked(const struct connections *connections, double seconds, double scale)
{
	uint64_t packets = 0;

	for (unsigned i = 0; i < connections->nb_templates; i++) {
		const struct connection_template *template = &connections->templates[i];

		packets += connections_to_begin(template, seconds, scale) * template->nb_packets;
	}
	return packets;
}

uint64_t connections_sent(const struct connections *connections, enum connection_side side)
{
	uint64_t packets = 0;

	for (unsigned i = 0; i < connections->nb_templates; i++)
		packets += connections->templates[i].packets[side];
	return packets;
}

uint64_t connections_received_from(enum connection_side side)
{
	uint64_t received = 0;

	for (unsigned i = 0; i < tester.nb_workers; i++)
		received += __atomic_load_n(
			&tester.workers[i]->connection_received[side], __ATOMIC_RELAXED);
	return received;
}

uint64_t connections_received(void)
{
	return connections_received_from(SIDE_CLIENT) + connections_received_from(SIDE_SERVER);
}

uint64_t connections_active(const struct connections *connections)
{
	uint64_t active = 0;

	for (unsigned i = 0; i < connections->nb_templates; i++)
		active += connections->templates[i].active;
	return active;
}

static uint32_t number_of_template(
	const struct connections *connections, const struct connection_template *template)
{
	return connections->max_active + (uint32_t)(template - connections->templates);
}

/* The template waits for its next start; nothing more begins behind its last. */
static void await_start(struct connections *connections, struct connection_template *template)
{
	uint64_t at =
		(uint64_t)(((double)template->begun + template->phase) * template->period_clocks);

	if (template->begun < template->to_begin)
		connection_wheel_add(&connections->wheel, number_of_template(connections, template),
			connection_tick(at));
}

void connections_start(struct connections *connections, double seconds, double scale, double hertz)
{
	connection_wheel_restart(&connections->wheel);
	connections->last_due = 0;
	connections->asked = connections->paced = 0;
	connections->slice_clocks = (uint64_t)(SCHEDULE_SLICE_S * hertz);
	for (unsigned i = 0; i < connections->nb_templates; i++) {
		struct connection_template *template = &connections->templates[i];

		template->to_begin = connections_to_begin(template, seconds, scale);
		template->period_clocks = hertz / (template->cps * scale);
		template->begun = 0;
		await_start(connections, template);
	}
}

void connections_cut(struct connections *connections)
{
	for (unsigned i = 0; i < connections->nb_templates; i++) {
		connections->templates[i].cut += connections->templates[i].active;
		connections->templates[i].active = 0;
	}
}

void connections_clear(struct connections *connections)
{
	if (connections->nb_free == connections->max_active)
		return;
	connection_ports_clear(&connections->client_ports);
	for (unsigned i = 0; i < connections->nb_pools[SIDE_CLIENT]; i++)
		connections->pools[SIDE_CLIENT][i].nb_used = 0;
	for (connections->nb_free = 0; connections->nb_free < connections->max_active;
		connections->nb_free++)
		connections->free_numbers[connections->nb_free] =
			connections->max_active - 1 - connections->nb_free;
}

/* The client of the template's next connection: `weight` in turn have the same one. */
static uint32_t next_client(struct connection_template *template)
{
	if (template->client_left == 0) {
		template->client = connection_pool_address(template->pools[SIDE_CLIENT]);
		template->client_left = template->weight;
	}
	template->client_left--;
	return template->client;
}

/* Returns the connection's number, or WHEEL_NONE after counting why it was not started. */
static uint32_t begin(
	struct connections *connections, struct connection_template *template, uint64_t start)
{
	struct connection_ends ends;
	struct connection *connection;
	uint32_t number;

	if (unlikely(template->limit != 0 && template->active == template->limit)) {
		template->not_started[NOT_STARTED_LIMIT]++;
		return WHEEL_NONE;
	}
	if (unlikely(connections->nb_free == 0)) {
		template->not_started[NOT_STARTED_FULL]++;
		return WHEEL_NONE;
	}
	ends.client = next_client(template);
	ends.server = template->one_server ? template->server
					   : connection_pool_address(template->pools[SIDE_SERVER]);
	if (unlikely(!connection_ports_take(
		    &connections->client_ports, template->pools[SIDE_CLIENT], &ends))) {
		template->not_started[NOT_STARTED_NO_PORT]++;
		return WHEEL_NONE;
	}
	number = connections->free_numbers[--connections->nb_free];
	connection = &connections->living[number];
	connection->packet = template->first_packet;
	connection->end = template->first_packet + template->nb_packets;
	connection->template = (uint16_t)(template - connections->templates);
	connection->due = start + connections->packets[template->first_packet].gap_clocks;
	connection_words_set(&connection->words, rte_cpu_to_be_32(ends.client),
		rte_cpu_to_be_32(ends.server), rte_cpu_to_be_16(ends.port));
	template->active++;
	template->started++;
	return number;
}

/* A template's turn: its next connection begins, and is waited for or due at once. */
static uint32_t start_one(struct connections *connections, uint32_t index, uint64_t elapsed)
{
	struct connection_template *template = &connections->templates[index];
	uint64_t start =
		(uint64_t)(((double)template->begun + template->phase) * template->period_clocks);
	uint32_t number = begin(connections, template, start);

	template->begun++;
	await_start(connections, template);
	if (number == WHEEL_NONE || connections->living[number].due < elapsed)
		return number;
	connection_wheel_add(
		&connections->wheel, number, connection_tick(connections->living[number].due));
	return WHEEL_NONE;
}

uint64_t connections_pace(struct connections *connections, uint64_t elapsed)
{
	uint64_t since = RTE_MIN(elapsed - connections->asked, connections->slice_clocks);
	uint64_t step = (uint64_t)((double)since * (1 / SCHEDULE_CATCH_UP));

	connections->asked = elapsed;
	connections->paced = RTE_MIN(elapsed, connections->paced + step);
	return connections->paced;
}

unsigned connections_due(
	struct connections *connections, uint64_t elapsed, uint32_t *numbers, unsigned room)
{
	struct connection_wheel *wheel = &connections->wheel;
	uint64_t over = connection_tick(elapsed);
	unsigned count = 0;

	/* The present tick is not over yet: nothing is sent before it is due. */
	while (count < room && over > 0) {
		uint32_t number = connection_wheel_take(wheel);

		if (number == WHEEL_NONE) {
			if (wheel->tick + 1 >= over || wheel->nb_waiting == 0)
				break;
			connection_wheel_advance(wheel);
			continue;
		}
		if (number >= connections->max_active) {
			number = start_one(connections, number - connections->max_active, elapsed);
			if (number == WHEEL_NONE)
				continue;
		}
		rte_prefetch0(&connections->living[number]);
		numbers[count++] = number;
	}
	/* Those without room are late from now on. */
	if (unlikely(count == room))
		connections->paced =
			RTE_MIN(connections->paced, (wheel->tick + 1) << CONNECTION_TICK_BITS);
	return count;
}

static void end(struct connections *connections, uint32_t number)
{
	const struct connection *connection = &connections->living[number];
	struct connection_template *template = &connections->templates[connection->template];

	connections->last_due = RTE_MAX(connections->last_due, connection->due);
	template->active--;
	template->finished++;
	connections->free_numbers[connections->nb_free++] = number;
	connection_ports_give_back(&connections->client_ports, template->pools[SIDE_CLIENT],
		rte_be_to_cpu_32(connection->words.client),
		rte_be_to_cpu_16(connection->words.port));
}

void connections_sent_one(struct connections *connections, uint32_t number)
{
	struct connection *connection = &connections->living[number];
	const struct connection_packet *packet = &connections->packets[connection->packet];
	struct connection_template *template = &connections->templates[connection->template];

	template->packets[packet->side]++;
	template->bytes[packet->side] += packet->length + (unsigned)RTE_ETHER_CRC_LEN;
	if (++connection->packet == connection->end) {
		end(connections, number);
		return;
	}
	connection->due += packet[1].gap_clocks;
	if (packet[1].side != packet->side)
		connections->next_turn = RTE_MIN(connections->next_turn, connection->due);
	connection_wheel_add(&connections->wheel, number, connection_tick(connection->due));
}

void connections_put_back(struct connections *connections, const uint32_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		connection_wheel_add(&connections->wheel, numbers[i],
			connection_tick(connections->living[numbers[i]].due));
}
