/* SPDX-License-Identifier: BSD-3-Clause */
/* Driver `io_uring` where the engine was built without liburing: names what to install. */
#include "port.h"

static int unavailable_parse(__rte_unused struct port *port, const struct config_node *node)
{
	struct config_node key = config_child(node, "driver");

	config_mistake(&key, "this engine was built without liburing: install liburing-dev and "
			     "build it again, or use socket-vector");
	return -1;
}

/* As the driver has them, so that they are not reported beside that. */
static const char *const keys[] = {"device", "netns", "rx_queues", "link_bps", "max_frame_bytes",
	"qdisc_bypass", "batch", "multishot", NULL};

static struct port_driver unavailable_driver = {
	.name = "io_uring",
	.keys = keys,
	.parse = unavailable_parse,
};
PORT_DRIVER_REGISTER(unavailable_driver)
