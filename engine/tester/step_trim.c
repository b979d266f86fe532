/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Step "trim": a variable says how long the frame is, without FCS. All frames have their lengths
 * before any step writes to them.
 */
#include "program.h"

static void parse(struct program *program, struct step *step, const struct config_node *node)
{
	config_known(node, "variable");
	step->variable = program_variable(program, node, "variable");
	if (step->variable == NULL)
		return;
	if (variable_lowest(step->variable) < PROGRAM_FRAME_MIN ||
		variable_highest(step->variable) > program->template_bytes)
		config_mistake(node, "variable: expected values from %u to the template's %u bytes",
			PROGRAM_FRAME_MIN, program->template_bytes);
	program->length = step->variable;
}

static struct step_kind trim_kind = {.name = "trim", .parse = parse};
STEP_REGISTER(trim_kind)
