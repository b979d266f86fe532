/* A module of OpenIPMI's ipmi_sim: DCMI's power reading, which the simulator lacks.
 * The declarations are those of its lanserv/emu.h; the development package has no others. */

#include <string.h>

typedef void (*handler_fn)(
	void *mc, void *msg, unsigned char *answer, unsigned int *length, void *data);
void ipmi_emu_register_group_extension_handler(unsigned char group, handler_fn handler, void *data);

/* Completion code, group, power now, least, most and mean in watts; time, period, state: active. */
static const unsigned char READING[] = {
	0, 0xdc, 137, 0, 90, 0, 250, 0, 120, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0, 0x40};

static void power_reading(
	void *mc, void *msg, unsigned char *answer, unsigned int *length, void *data)
{
	(void)mc;
	(void)msg;
	(void)data;
	memcpy(answer, READING, sizeof(READING));
	*length = sizeof(READING);
}

int ipmi_sim_module_print_version(void *system, char *options)
{
	(void)system;
	(void)options;
	return 0;
}

int ipmi_sim_module_init(void *system, const char *options)
{
	(void)system;
	(void)options;
	ipmi_emu_register_group_extension_handler(0xdc, power_reading, NULL);
	return 0;
}

int ipmi_sim_module_post_init(void *system)
{
	(void)system;
	return 0;
}
