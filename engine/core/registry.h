/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registries: lists and tables that are complete before main(). A file registers its own node,
 * driver, mode, step, command or ledger source, so that the code that reads the list names none of
 * them. The order of a list is the linker's.
 */
#ifndef LINERATE_REGISTRY_H
#define LINERATE_REGISTRY_H

#include <rte_common.h>

/* Puts the entry, a variable with a member `link`, at the front of the list. */
#define REGISTRY_ADD(list, entry) ((entry).link = (list), (list) = &(entry))

/* Puts the entry on the list before main(). */
#define REGISTER(list, entry) \
	RTE_INIT(register_##entry) \
	{ \
		REGISTRY_ADD(list, entry); \
	}

/* Gives the variable its value before main(); `name` is one that the file has once. */
#define REGISTER_VALUE(name, variable, value) \
	RTE_INIT(register_##name) \
	{ \
		(variable) = (value); \
	}

#endif
