/* SPDX-License-Identifier: BSD-3-Clause */
/* Step "write": a variable goes into a field of the frame. */
#include "program.h"

#include <math.h>
#include <string.h>

static void write_big(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = bytes; i-- > 0; value >>= 8)
		at[i] = (uint8_t)value;
}

static void write_little(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++, value >>= 8)
		at[i] = (uint8_t)value;
}

static uint64_t read_big(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static uint64_t read_little(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = bytes; i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

/* Narrow variables are 32 bits wide while they are added to and shifted. */
static uint64_t shifted(const struct step *step, uint64_t value)
{
	value += step->add;
	if (step->variable->bytes < 8)
		value &= UINT32_MAX;
	if (step->shift < 0)
		return value >> -step->shift;
	return value << step->shift;
}

static void run(const struct step *step, struct program_burst *burst)
{
	uint64_t mask = step->mask;

	for (unsigned i = 0; i < burst->count; i++) {
		uint64_t value = shifted(step, step->variable->values[i]);
		uint8_t *at = burst->frames[i] + step->offset;

		if (step->little) {
			if (mask != UINT64_MAX)
				value = (value & mask) | (read_little(at, step->bytes) & ~mask);
			write_little(at, step->bytes, value);
		} else {
			if (mask != UINT64_MAX)
				value = (value & mask) | (read_big(at, step->bytes) & ~mask);
			write_big(at, step->bytes, value);
		}
	}
}

static int64_t whole(const struct config_node *node, const char *key, int64_t limit)
{
	struct config_node child = config_child(node, key);
	double value = config_number(node, key, 0, -(double)limit, (double)limit);

	if (floor(value) != value)
		config_mistake(&child, "expected a whole number");
	return (int64_t)value;
}

static void parse(struct program *program, struct step *step, const struct config_node *node)
{
	static const char *const orders[] = {"big", "little", NULL};
	struct config_node bytes = config_child(node, "bytes");

	config_known(node, "variable", "offset", "bytes", "add", "mask", "shift", "order");
	step->variable = program_variable(program, node, "variable");
	if (step->variable == NULL)
		return;
	step->offset = (uint16_t)config_u64(node, "offset", 0, 0, UINT16_MAX);
	step->bytes = (uint16_t)config_u64(node, "bytes", step->variable->bytes, 1, 8);
	if ((step->bytes & (step->bytes - 1u)) != 0)
		config_mistake(&bytes, "expected 1, 2, 4 or 8");
	step->add = (uint64_t)whole(node, "add", 1ll << 52);
	step->shift = (int8_t)whole(node, "shift", 63);
	step->mask = config_child(node, "mask").json == NULL
			     ? UINT64_MAX
			     : config_u64(node, "mask", 0, 0, INT64_MAX);
	step->little = config_choice(node, "order", orders, 0) == 1;
	if (config_child(node, "offset").json == NULL)
		config_mistake(node, "offset: missing");
	program_touch(program, node, step->offset, step->bytes);
}

static struct step_kind write_kind = {.name = "write", .parse = parse, .run = run};
STEP_REGISTER(write_kind)
