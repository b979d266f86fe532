# Files that the doctor reads, each behind a line with a mark that MARK stands for: `f` a file, `d` a
# folder, `c` a command. Of one line is whatever `s` reads, without a process for each.
LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; export PATH
f() { for p in "$@"; do [ -f "$p" ] && [ -r "$p" ] && { printf '\nMARK f %s\n' "$p"; cat "$p" 2>/dev/null; }; done; }
s() { for p in "$@"; do [ -f "$p" ] && { x=; read -r x <"$p"; } 2>/dev/null && printf '\nMARK f %s\n%s\n' "$p" "$x"; done; }
l() { for p in "$@"; do [ -L "$p" ] && printf '\nMARK f %s\n%s\n' "$p" "$(readlink "$p")"; done; }
d() { for p in "$@"; do [ -d "$p" ] && printf '\nMARK d %s\n' "$p"; done; }
# A driver that hangs takes its own command with it, not the others.
T=; command -v timeout >/dev/null 2>&1 && T="timeout 10"
c() { x=$($T "$@" 2>/dev/null </dev/null) && printf '\nMARK c %s\n%s\n' "$*" "$x"; }
moment() { f /proc/uptime /proc/stat /proc/interrupts; s /proc/[0-9]*/stat; }
moment
f /proc/cmdline /proc/cpuinfo /proc/meminfo /proc/mounts /proc/loadavg /proc/self/limits /proc/self/status
# Masks of CPUs are read at once, or not at all.
f /sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list
f /proc/net/route /proc/net/ipv6_route /proc/net/tcp /proc/net/tcp6 /etc/os-release
s /proc/sys/kernel/osrelease /proc/sys/kernel/random/boot_id /proc/irq/*/smp_affinity_list
s /sys/class/dmi/id/*_vendor /sys/class/dmi/id/*_name /sys/class/dmi/id/bios_version /sys/class/dmi/id/bios_date
s /sys/devices/system/cpu/online /sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full
s /sys/devices/system/cpu/intel_pstate/no_turbo /sys/devices/system/cpu/cpufreq/boost
s /sys/devices/system/cpu/smt/active /sys/devices/system/cpu/smt/control
s /sys/devices/system/cpu/cpu[0-9]*/cpufreq/*
s /sys/devices/system/cpu/cpu[0-9]*/cpuidle/*/name /sys/devices/system/cpu/cpu[0-9]*/cpuidle/*/disable
s /sys/devices/system/cpu/cpu[0-9]*/cpuidle/*/latency
s /sys/devices/system/node/node*/cpulist /sys/devices/system/node/node*/hugepages/*/*
s /sys/kernel/mm/hugepages/*/* /sys/kernel/mm/transparent_hugepage/enabled /sys/fs/cgroup/cpuset.cpus.isolated
s /sys/module/vfio/parameters/* /sys/module/mlx4_core/parameters/log_num_mgm_entry_size
for p in /sys/bus/pci/devices/*; do
  s $p/class $p/vendor $p/device $p/numa_node
  s $p/current_link_speed $p/current_link_width $p/max_link_speed $p/max_link_width
  l $p/driver $p/iommu_group
  d $p/net/*
done
d /sys/bus/pci/drivers/*
s /sys/kernel/iommu_groups/*/type
l /sys/kernel/iommu_groups/*/devices/*
for p in /sys/class/net/*; do
  s $p/carrier $p/operstate $p/speed $p/address
  l $p/master
  [ -e "$p/device" ] || continue
  i=${p##*/}
  for o in -i -l -g -a -k; do c ethtool $o "$i"; done
done
c lspci -Dvv
c dmesg
c ip -j address show
printf '\nMARK later\n'
sleep 0.5
moment
printf '\nMARK end\n'
