/* SPDX-License-Identifier: BSD-3-Clause */
/* linerate-engine: reads a configuration, starts, answers, stops. See docs/engine-configuration.md.
 */
#include "core/memory.h"
#include "core/worker.h"
#include "modes/forwarder.h"
#include "port/port.h"
#include "tester/trial.h"
#include "engine.h"

#include <errno.h>
#include <getopt.h>
#include <rte_eal.h>
#include <rte_version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum exit_code {
	EXIT_STOPPED = 0,
	EXIT_BROKE = 1,
	EXIT_USAGE = 2,
};

/* Interval of the control thread. It may share the tester's CPU: it runs seldom during a trial,
 * often while one drains. */
#define TICK_US 20000
#define TICK_DRAINING_US 1000

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

static const char usage[] = "usage: linerate-engine [--check] [--parent PID] CONFIG.json\n"
			    "\n"
			    "Runs packet graphs as CONFIG.json says, until SIGINT or SIGTERM.\n"
			    "  --check        report the mistakes in the file and exit\n"
			    "  --parent PID   stop when that process is gone\n"
			    "  --version      print versions and exit\n"
			    "\n"
			    "Example: linerate-engine --check bench.json\n";

struct options {
	bool check;
	pid_t parent;
	const char *file;
};

/* Returns -1 to go on, else the exit code. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"check", no_argument, NULL, 'c'},
		{"parent", required_argument, NULL, 'p'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			options->check = true;
			break;
		case 'p':
			options->parent = (pid_t)strtol(optarg, NULL, 10);
			break;
		case 'v':
			printf("linerate-engine %s, %s\n", LINERATE_VERSION, rte_version());
			return EXIT_STOPPED;
		case 'h':
			fputs(usage, stdout);
			return EXIT_STOPPED;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	options->file = argv[optind];
	return -1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static bool parent_gone(pid_t parent)
{
	return parent != 0 && kill(parent, 0) != 0 && errno == ESRCH;
}

/* Without its socket the engine cannot be controlled. */
static int say_ready(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
	if (chmod(path, 0600) != 0) {
		fprintf(stderr, "control socket %s: %s; is its folder writable?\n", path,
			strerror(errno));
		return -errno;
	}
	printf("ready: {\"socket\": \"%s\", \"pid\": %d, \"memory\": \"%s\", "
	       "\"layout\": \"%s\"}\n",
		path, getpid(), memory_kind(), workers_layout());
	fflush(stdout);
	return 0;
}

static void serve(pid_t parent)
{
	while (stop_signal == 0) {
		usleep(trial_draining() ? TICK_DRAINING_US : TICK_US);
		trial_tick();
		forwarder_tick();
		ports_tick();
		if (parent_gone(parent)) {
			fprintf(stderr, "the process that started this engine is gone\n");
			break;
		}
	}
}

/* DPDK leaves its runtime folder behind; ours holds nothing that outlives the process. */
static void remove_runtime_dir(const char *path)
{
	static const char *const files[] = {"dpdk_telemetry.v2", "config", "hugepage_info",
		"fbarray_memzone", "mp_socket", NULL};
	char file[512];

	for (unsigned i = 0; files[i] != NULL; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, files[i]);
		unlink(file);
	}
	rmdir(path);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct config config;
	char runtime_dir[256];
	int rc = parse_options(argc, argv, &options);

	if (rc >= 0)
		return rc;
	if (config_open(&config, options.file) != 0)
		return EXIT_USAGE;
	if (engine_parse(&config) != 0)
		return EXIT_USAGE;
	if (options.check) {
		printf("%s: no mistake found\n", options.file);
		return EXIT_STOPPED;
	}
	catch_signals();
	if (options.parent != 0)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	rc = engine_start(argv[0]);
	snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	if (rc == 0)
		rc = say_ready();
	if (rc == 0)
		serve(options.parent);
	engine_stop();
	remove_runtime_dir(runtime_dir);
	config_close(&config);
	return rc == 0 ? EXIT_STOPPED : EXIT_BROKE;
}
