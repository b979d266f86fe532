/* SPDX-License-Identifier: BSD-3-Clause */
/* From "program" to variables and steps. */
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON's whole numbers end here. */
#define VALUE_MAX ((uint64_t)INT64_MAX)

static int find(const struct program *program, const char *name)
{
	for (unsigned i = 0; i < program->nb_variables; i++)
		if (strcmp(program->variables[i].name, name) == 0)
			return (int)i;
	return -1;
}

const struct variable *program_variable(
	struct program *program, const struct config_node *node, const char *key)
{
	const char *name = config_required(node, key);
	struct config_node child = config_child(node, key);
	int index = find(program, name);

	if (index < 0 && name[0] != '\0')
		config_mistake(&child, "no variable is called \"%s\"", name);
	return index < 0 ? NULL : &program->variables[index];
}

void program_touch(
	struct program *program, const struct config_node *node, unsigned offset, unsigned bytes)
{
	if (offset + bytes > program->template_bytes) {
		config_mistake(node, "bytes %u to %u are not in the template of %u", offset,
			offset + bytes - 1, program->template_bytes);
		return;
	}
	if (program->touched_from == program->touched_to) {
		program->touched_from = (uint16_t)offset;
		program->touched_to = (uint16_t)(offset + bytes);
	}
	program->touched_from = (uint16_t)RTE_MIN(program->touched_from, offset);
	program->touched_to = (uint16_t)RTE_MAX(program->touched_to, offset + bytes);
}

uint64_t variable_highest(const struct variable *variable)
{
	uint64_t highest = variable->min + variable->range - 1;

	if (variable->list == NULL)
		return highest;
	highest = 0;
	for (uint64_t i = 0; i < variable->range; i++)
		highest = RTE_MAX(highest, variable->list[i]);
	return highest;
}

uint64_t variable_lowest(const struct variable *variable)
{
	uint64_t lowest = UINT64_MAX;

	if (variable->list == NULL)
		return variable->min;
	for (uint64_t i = 0; i < variable->range; i++)
		lowest = RTE_MIN(lowest, variable->list[i]);
	return lowest;
}

static struct variable *add(
	struct program *program, const struct config_node *node, const char *name, const char *part)
{
	struct variable *variable = &program->variables[program->nb_variables];
	int length;

	length = snprintf(variable->name, sizeof(variable->name), "%s%s", name, part);
	if (name[0] == '\0' || length >= (int)sizeof(variable->name)) {
		config_mistake(node, "name: expected 1 to %zu characters",
			sizeof(variable->name) - 1 - strlen(part));
		return NULL;
	}
	if (find(program, variable->name) >= 0) {
		config_mistake(node, "name: there are two of \"%s\"", variable->name);
		return NULL;
	}
	variable->carry_from = -1;
	program->nb_variables++;
	return variable;
}

static uint64_t highest_of(unsigned bytes)
{
	return bytes >= 8 ? VALUE_MAX : (1ull << (8 * bytes)) - 1;
}

static void parse_list(struct variable *variable, const struct config_node *array)
{
	size_t count = config_items(array);

	variable->range = 1;
	if (count == 0 || count > PROGRAM_VALUES_MAX) {
		config_mistake(array, "expected 1 to %d values", PROGRAM_VALUES_MAX);
		return;
	}
	variable->list = calloc(count, sizeof(*variable->list));
	if (variable->list == NULL)
		return;
	variable->range = count;
	CONFIG_EACH (item, array) {
		if (!json_is_integer(item.json) || json_integer_value(item.json) < 0 ||
			(uint64_t)json_integer_value(item.json) > highest_of(variable->bytes))
			config_mistake(&item, "expected a whole number from 0 to %" PRIu64,
				highest_of(variable->bytes));
		else
			variable->list[item.index] = (uint64_t)json_integer_value(item.json);
	}
}

static void parse_range(struct variable *variable, const struct config_node *node)
{
	uint64_t highest = highest_of(variable->bytes), max, start;

	variable->min = config_u64(node, "min", 0, 0, highest);
	max = config_u64(node, "max", highest, 0, highest);
	variable->range = 1;
	if (variable->min > max) {
		config_mistake(node, "min is above max");
		return;
	}
	variable->range = max - variable->min + 1;
	start = config_u64(node, "start", variable->op == VARIABLE_DECREMENT ? max : variable->min,
		variable->min, max);
	variable->position = start - variable->min;
}

static void parse_carry(
	struct program *program, struct variable *variable, const struct config_node *node)
{
	const struct variable *from;

	if (config_child(node, "carry_from").json == NULL)
		return;
	from = program_variable(program, node, "carry_from");
	if (from == variable)
		config_mistake(node, "carry_from: expected an earlier variable");
	if (from != NULL)
		variable->carry_from = (int)(from - program->variables);
}

static void parse_variable(struct program *program, const struct config_node *node)
{
	static const char *const ops[] = {"increment", "decrement", "random", NULL};
	struct config_node values = config_child(node, "values");
	struct config_node bytes = config_child(node, "bytes");
	struct variable *variable;

	if (!config_object(node, "name", "bytes", "op", "min", "max", "step", "values", "start",
		    "seed", "limit", "carry_from"))
		return;
	variable = add(program, node, config_required(node, "name"), "");
	if (variable == NULL)
		return;
	variable->bytes = (uint8_t)config_u64(node, "bytes", 4, 1, 8);
	if ((variable->bytes & (variable->bytes - 1)) != 0)
		config_mistake(&bytes, "expected 1, 2, 4 or 8");
	variable->op = (enum variable_op)config_choice(node, "op", ops, VARIABLE_INCREMENT);
	if (values.json == NULL)
		parse_range(variable, node);
	else
		parse_list(variable, &values);
	if (values.json != NULL && variable->op == VARIABLE_DECREMENT)
		variable->position = variable->range - 1;
	variable->step = config_u64(node, "step", 1, 1, VALUE_MAX);
	if (variable->list != NULL)
		variable->step %= variable->range;
	/* The same in every run. */
	variable->seed = config_u64(node, "seed", program->nb_variables, 0, VALUE_MAX) *
			 0x9e3779b97f4a7c15ull;
	variable->state = variable->seed;
	variable->limit = config_u64(node, "limit", 0, 0, VALUE_MAX);
	parse_carry(program, variable, node);
}

/* A range of a tuple; its second one goes on when the first one begins anew. */
static struct variable *parse_part(struct program *program, const struct config_node *node,
	const char *part, uint64_t min, uint64_t max)
{
	struct variable *variable = add(program, node, config_required(node, "name"), part);

	if (variable == NULL)
		return NULL;
	variable->min = min;
	variable->range = 1;
	if (min > max)
		config_mistake(node, "%s: min is above max", part + 1);
	else
		variable->range = max - min + 1;
	variable->step = 1;
	variable->flows = config_u64(node, "flows", 0, 0, VALUE_MAX);
	return variable;
}

static void parse_tuple(struct program *program, const struct config_node *node)
{
	struct variable *ip, *port;
	uint32_t min = 0, max = 0;

	if (!config_object(node, "name", "ip_min", "ip_max", "port_min", "port_max", "flows"))
		return;
	if (!config_ip4(node, "ip_min", &min) || !config_ip4(node, "ip_max", &max))
		config_mistake(node, "expected ip_min and ip_max, IPv4 addresses");
	ip = parse_part(program, node, ".ip", min, max);
	if (ip == NULL)
		return;
	ip->bytes = 4;
	port = parse_part(program, node, ".port", config_u64(node, "port_min", 1025, 0, 0xffff),
		config_u64(node, "port_max", 0xffff, 0, 0xffff));
	if (port == NULL)
		return;
	port->bytes = 2;
	port->carry_from = (int)(ip - program->variables);
}

static void parse_step(struct program *program, struct step *step, const struct config_node *item)
{
	if (json_is_object(item->json) && json_object_size(item->json) == 1) {
		for (const struct step_kind *kind = step_kinds; kind != NULL; kind = kind->link) {
			struct config_node node = config_child(item, kind->name);

			if (node.json == NULL)
				continue;
			step->kind = kind;
			if (config_is_object(&node))
				kind->parse(program, step, &node);
			return;
		}
	}
	config_mistake(item, "expected one step such as {\"write\": {…}}, of: "
			     "write, trim, fix_ipv4_checksum, fix_l4_checksum");
}

static void parse_steps(struct program *program, const struct config_node *array)
{
	if (json_array_size(array->json) > PROGRAM_STEPS_MAX) {
		config_mistake(array, "more than %d steps", PROGRAM_STEPS_MAX);
		return;
	}
	CONFIG_EACH (item, array)
		parse_step(program, &program->steps[program->nb_steps++], &item);
}

/* Returns false when there are too many, or no memory for them. */
static bool parse_variables(struct program *program, const struct config_node *node)
{
	struct config_node variables = config_child(node, "variables");
	struct config_node tuples = config_child(node, "tuples");
	size_t count = json_array_size(variables.json), pairs = json_array_size(tuples.json);
	size_t bytes; /* whole cache lines: other senders' programs have others */

	if (count + 2 * pairs > PROGRAM_VARIABLES_MAX) {
		config_mistake(node, "more than %d variables", PROGRAM_VARIABLES_MAX);
		return false;
	}
	/* Steps point to them: they stay where they are. */
	bytes = RTE_ALIGN_CEIL(
		(count + 2 * pairs + 1) * sizeof(*program->variables), (size_t)RTE_CACHE_LINE_SIZE);
	program->variables = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
	if (program->variables == NULL)
		return false;
	memset(program->variables, 0, bytes);
	CONFIG_EACH (item, &variables)
		parse_variable(program, &item);
	CONFIG_EACH (item, &tuples)
		parse_tuple(program, &item);
	return true;
}

unsigned program_parse_checksums(
	struct program *program, const struct config_node *array, struct step *steps, unsigned max)
{
	size_t count = json_array_size(array->json);
	const struct step_kind *kind = step_kinds;

	while (strcmp(kind->name, "fix_l4_checksum") != 0)
		kind = kind->link;
	if (count > max) {
		config_mistake(array, "more than %u checksums", max);
		return 0;
	}
	CONFIG_EACH (item, array) {
		steps[item.index].kind = kind;
		if (json_is_object(item.json))
			kind->parse(program, &steps[item.index], &item);
		else
			config_mistake(&item, "expected an object");
	}
	return (unsigned)count;
}

struct program *program_parse(uint16_t template_bytes, const struct config_node *node)
{
	struct config_node steps = config_child(node, "steps");
	unsigned mistakes = node->config->mistakes;
	struct program *program;

	if (!config_object(node, "variables", "tuples", "steps"))
		return NULL;
	program = calloc(1, sizeof(*program));
	if (program == NULL)
		return NULL;
	program->template_bytes = template_bytes;
	if (parse_variables(program, node))
		parse_steps(program, &steps);
	if (node->config->mistakes != mistakes) {
		program_free(program);
		return NULL;
	}
	return program;
}
