/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of variables, and the steps in their order. */
#include "program.h"

#include "random.h"

#include <stdlib.h>

struct step_kind *step_kinds;

void program_free(struct program *program)
{
	if (program == NULL)
		return;
	for (unsigned i = 0; program->variables != NULL && i < program->nb_variables; i++)
		free(program->variables[i].list);
	free(program->variables);
	free(program);
}

static inline uint64_t value_at(const struct variable *variable, uint64_t position)
{
	return variable->list == NULL ? variable->min + position : variable->list[position];
}

static void draw_random(struct variable *variable, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned __int128 wide;

		if (unlikely(variable->limit != 0 && variable->drawn == variable->limit)) {
			variable->drawn = 0;
			variable->state = variable->seed;
		}
		wide = (unsigned __int128)random_next(&variable->state) * variable->range;
		variable->values[i] = value_at(variable, (uint64_t)(wide >> 64));
		variable->drawn++;
	}
	variable->wrapped = UINT64_MAX;
}

/* The next position, and whether it began anew: a range at its end, a list where it comes to. */
static inline uint64_t walk(const struct variable *variable, uint64_t position, bool *wrapped)
{
	uint64_t step = variable->step, range = variable->range;

	if (variable->op == VARIABLE_INCREMENT) {
		*wrapped = range - position <= step;
		if (likely(!*wrapped))
			return position + step;
		return variable->list == NULL ? 0 : position + step - range;
	}
	*wrapped = position < step;
	if (likely(!*wrapped))
		return position - step;
	return variable->list == NULL ? range - 1 : position + range - step;
}

/* `moves`: after which frames it goes on. */
static void draw_walk(struct variable *variable, unsigned count, uint64_t moves)
{
	uint64_t position = variable->position, wraps = 0;

	for (unsigned i = 0; i < count; i++) {
		bool wrapped = false;

		variable->values[i] = value_at(variable, position);
		if (moves >> i & 1)
			position = walk(variable, position, &wrapped);
		wraps |= (uint64_t)wrapped << i;
		if (unlikely(variable->flows != 0 && ++variable->flow == variable->flows)) {
			variable->flow = 0;
			position = 0;
			wraps &= ~(1ull << i);
		}
	}
	variable->position = position;
	variable->wrapped = wraps;
}

void program_draw(struct program *program, unsigned count)
{
	for (unsigned i = 0; i < program->nb_variables; i++) {
		struct variable *variable = &program->variables[i];

		if (variable->op == VARIABLE_RANDOM)
			draw_random(variable, count);
		else
			draw_walk(variable, count,
				variable->carry_from < 0
					? UINT64_MAX
					: program->variables[variable->carry_from].wrapped);
	}
}

void program_lengths(const struct program *program, struct program_burst *burst)
{
	if (program->length == NULL)
		return;
	for (unsigned i = 0; i < burst->count; i++)
		burst->lengths[i] = (uint16_t)program->length->values[i];
}

void steps_run(const struct step *steps, unsigned nb_steps, struct program_burst *burst)
{
	for (unsigned i = 0; i < nb_steps; i++)
		if (steps[i].kind->run != NULL)
			steps[i].kind->run(&steps[i], burst);
}
