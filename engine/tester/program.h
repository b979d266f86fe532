/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of a stream with a template: variables that take a value for each frame, and steps
 * that put them into it. A step works on a whole burst before the next step begins; a kind of
 * step is one file, registered where it stands.
 */
#ifndef LINERATE_PROGRAM_H
#define LINERATE_PROGRAM_H

#include "core/config.h"
#include "core/registry.h"
#include "flow_ranges.h"

#include <rte_common.h>
#include <stdbool.h>
#include <stdint.h>

#define PROGRAM_BURST FLOWS_BURST
#define PROGRAM_VARIABLES_MAX 64
#define PROGRAM_STEPS_MAX 64
#define PROGRAM_VALUES_MAX 65536
#define PROGRAM_NAME_MAX 48
/* Shorter frames are none: the wire pads them to this, without FCS. */
#define PROGRAM_FRAME_MIN 60

enum variable_op {
	VARIABLE_INCREMENT,
	VARIABLE_DECREMENT,
	VARIABLE_RANDOM,
};

/* The value is min + position, or the one at that position of a list. */
struct variable {
	char name[PROGRAM_NAME_MAX];
	enum variable_op op;
	uint8_t bytes; /* 1, 2, 4 or 8 */
	uint64_t min, range;
	uint64_t step;     /* of a list less than its length */
	uint64_t *list;    /* NULL: none */
	uint64_t position; /* of the next value */
	uint64_t seed, state;
	uint64_t limit, drawn; /* random numbers, after which they come again; 0: never */
	int carry_from;        /* goes on only when this one begins anew; -1: always */
	/* Number of frames after which both values of a tuple begin again; 0: never. */
	uint64_t flows, flow;
	uint64_t wrapped; /* bit i: after frame i it began anew */
	uint64_t values[PROGRAM_BURST];
};

/* Frames that are being made: all start as the template. */
struct program_burst {
	unsigned count;
	uint8_t *frames[PROGRAM_BURST];
	uint16_t lengths[PROGRAM_BURST]; /* without FCS */
};

struct step_kind;

struct step {
	const struct step_kind *kind;
	const struct variable *variable; /* NULL: of a kind that has none */
	uint16_t offset, bytes;
	int8_t shift; /* to the left */
	bool little;
	uint8_t protocol;
	uint64_t mask;
	uint64_t add;
};

struct program {
	unsigned nb_variables, nb_steps;
	uint16_t template_bytes;
	/* Bytes from … to that steps write; they hold the template's when the first step runs. */
	uint16_t touched_from, touched_to;
	const struct variable *length; /* of the frames; NULL: the template's */
	struct step steps[PROGRAM_STEPS_MAX];
	struct variable *variables;
};

struct step_kind {
	const char *name;
	/* Fills in the step; mistakes are counted. */
	void (*parse)(struct program *program, struct step *step, const struct config_node *node);
	/* NULL: there is nothing to do but what parse() noted in the program. */
	void (*run)(const struct step *step, struct program_burst *burst);
	struct step_kind *link;
};

extern struct step_kind *step_kinds;
#define STEP_REGISTER(kind) REGISTER(step_kinds, kind)

/*
 * Reads "program" for a template of `bytes` bytes. Returns NULL when there is none, and after
 * counting mistakes. The caller frees it.
 */
struct program *program_parse(uint16_t template_bytes, const struct config_node *node);
/* Reads an array of "fix_l4_checksum" objects; returns how many steps there are, at most `max`. */
unsigned program_parse_checksums(
	struct program *program, const struct config_node *array, struct step *steps, unsigned max);
void program_free(struct program *program);

/* For parsers of steps: the variable that the key names, or NULL after counting a mistake. */
const struct variable *program_variable(
	struct program *program, const struct config_node *node, const char *key);
/* The step writes these bytes of the frame; a mistake when the template has none there. */
void program_touch(
	struct program *program, const struct config_node *node, unsigned offset, unsigned bytes);
/* The largest and the smallest value that it can have. */
uint64_t variable_highest(const struct variable *variable);
uint64_t variable_lowest(const struct variable *variable);

/* Values of the next `count` frames. */
void program_draw(struct program *program, unsigned count);
/* Sets the lengths of the frames whose values were drawn. */
void program_lengths(const struct program *program, struct program_burst *burst);
/* End of the sum of a step "fix_l4_checksum" in a frame of this length; 0: it sums nothing, or it
 * is another step. */
unsigned step_summed_to(const struct step *step, const uint8_t *frame, unsigned bytes);
void steps_run(const struct step *steps, unsigned nb_steps, struct program_burst *burst);

#endif
