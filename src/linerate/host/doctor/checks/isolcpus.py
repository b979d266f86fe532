"""CPUs that the scheduler puts nothing on."""

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.cpus import CPU_SYSFS, cpu_list, isolated, parameter
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look


@check("isolcpus", order=10, form=Form.BOTH)
def isolcpus(look: Look) -> Finding:
    """Compare them with the workers."""
    if look.host.read(f"{CPU_SYSFS}/isolated") is None and parameter(look.host, "isolcpus") is None:
        raise UnknownError(f"{CPU_SYSFS}/isolated: {look.host.trouble(f'{CPU_SYSFS}/isolated')}")
    apart = isolated(look.host)
    workers = cpu_list(look.workers)
    return Finding(
        check="isolcpus",
        state="ok" if set(look.workers) <= apart else "fault",
        found=f"CPUs {cpu_list(apart)} isolated" if apart else "no CPU isolated",
        wanted=f"the workers' CPUs: {workers}",
        why="A worker that another task displaces for 69 µs loses packets: at 14.88 Mpps a ring "
        "of 1,024 frames is full then.",
        source="1,024 ÷ 14.88 Mpps; DPDK, Getting Started Guide for Linux, 'Using Linux Core "
        "Isolation to Reduce Context Switches'",
        boot=f"isolcpus={workers}",
    )
