/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows as JSON, one a line; see docs/flow-offload.md for the keys. */
#ifndef LINERATE_FLOW_JSON_H
#define LINERATE_FLOW_JSON_H

#include "flow_export_record.h"

#include <stddef.h>

/* Any flow's line fits. */
#define FLOW_JSON_BYTES 768

/* Writes the line, its end and a NUL; returns its length without the NUL. */
size_t flow_json_line(const struct flow_export_record *record, char line[FLOW_JSON_BYTES]);

#endif
