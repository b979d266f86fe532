"""System calls by their numbers on x86_64 and on AArch64 (None: it has no such call)."""

Numbers = dict[str, tuple[int | None, int | None]]

MACHINES = ("x86_64", "aarch64")
#: Those that fail with "Operation not permitted", of the calls below FROZEN.
REFUSED: Numbers = {
    # Whom it could talk to.
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190),
    "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # Calls that start, signal, slow down or inspect processes.
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221),
    "execveat": (322, 281), "setsid": (112, 157), "setpgid": (109, 154), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "kcmp": (312, 272), "setpriority": (141, 140),
    "ioprio_set": (251, 30), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274), "sched_setaffinity": (203, 122), "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # Calls that change files; `memfd_create` is memory that no limit counts.
    "creat": (85, None), "mknod": (133, None), "mknodat": (259, 33), "mkdir": (83, None),
    "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None),
    "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36), "truncate": (76, 45),
    "ftruncate": (77, 46), "fallocate": (285, 47), "chmod": (90, None), "fchmod": (91, 52),
    "fchmodat": (268, 53), "chown": (92, None), "fchown": (93, 55), "lchown": (94, None),
    "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "flock": (73, 32),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279), "sync": (162, 81), "syncfs": (306, 267), "io_setup": (206, 0),
    "fanotify_init": (300, 262),
    # Calls that change the host.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "swapon": (167, 224), "swapoff": (168, 225),
    "quotactl": (179, 60), "acct": (163, 89), "reboot": (169, 142), "vhangup": (153, 58),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "personality": (135, 92), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "uselib": (134, None), "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
}  # fmt: skip
#: Those of which an argument decides.
ASKED: Numbers = {
    "open": (2, None),
    "openat": (257, 56),
    "prlimit64": (302, 261),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
}
#: From here on numbers are the same everywhere, and new ones come with each kernel: what is not
#: named here does not exist, so that libraries do what they do on older kernels.
FROZEN = 424
NEWER = {
    "close_range": 436,
    "faccessat2": 439,
    "epoll_pwait2": 441,
    "futex_waitv": 449,
}
