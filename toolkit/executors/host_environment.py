"""What this host is and how it is set: CPU, memory, kernel, file systems, disks, network cards, limits.

Read from /proc and /sys, nothing is run and nothing needs root; what a host does not have, or does not show, is
left out. What moves by itself is left out as well (the kernel's Documentation/admin-guide/sysctl names such
files), and so are files that hold keys and names.
"""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from toolkit.model.environment import EnvironmentValue
from toolkit.model.values import Scalar

_SYSCTL = ("vm", "kernel", "fs", "net/core", "net/ipv4")
_MOVING = frozenset(
    {
        "kernel.cad_pid", "kernel.domainname", "kernel.hostname", "kernel.hung_task_detect_count",
        "kernel.hung_task_warnings", "kernel.msg_next_id", "kernel.ns_last_pid", "kernel.osrelease",
        "kernel.perf_cpu_time_max_percent", "kernel.perf_event_max_sample_rate", "kernel.sem_next_id",
        "kernel.shm_next_id", "kernel.version",
        "fs.aio-nr", "fs.dentry-state", "fs.file-nr", "fs.inode-nr", "fs.inode-state",
    }
)  # fmt: skip
_SECRET = ("key", "secret", "private")
_NO_FILE_SYSTEM = frozenset(
    {
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs",
        "efivarfs", "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs",
        "securityfs", "selinuxfs", "squashfs", "sysfs", "tracefs",
    }
)  # fmt: skip
_KEPT_IN_MEMORY = frozenset({"/dev/shm", "/tmp"})  # noqa: S108  mount points to look at, nothing is written
_QUEUE = (
        "scheduler", "read_ahead_kb", "rotational", "nr_requests", "logical_block_size", "max_sectors_kb",
        "write_cache",
)  # fmt: skip
_TUNED = {
    "sys/fs/ext4": (
        "inode_readahead_blks", "mb_group_prealloc", "mb_max_to_scan", "mb_stream_req", "extent_max_zeroout_kb",
        "max_writeback_mb_bump",
    ),
    "sys/fs/btrfs": ("nodesize", "sectorsize", "checksum", "quota_override"),
    "sys/module/zfs": (
        "parameters/zfs_arc_max", "parameters/zfs_arc_min", "parameters/zfs_dirty_data_max",
        "parameters/zfs_prefetch_disable", "parameters/zfs_txg_timeout", "parameters/zio_slow_io_ms",
    ),
}  # fmt: skip
"""What file systems are tuned by, of ext4 and btrfs for each of them, of ZFS for all."""
_NO_DISK = ("loop", "ram", "zram", "sr", "fd")
_CGROUP = {
    "": ("cpu.max", "memory.max", "memory.high", "memory.swap.max", "io.max", "cpuset.cpus.effective", "pids.max"),
    "cpu": ("cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares"),
    "memory": ("memory.limit_in_bytes", "memory.swappiness"),
    "cpuset": ("cpuset.cpus",),
}  # fmt: skip
"""Limits by controller: the empty name is the second version of control groups, which has all in one folder."""
_LIMITS = {
    "open_files": resource.RLIMIT_NOFILE, "locked_memory_bytes": resource.RLIMIT_MEMLOCK,
    "processes": getattr(resource, "RLIMIT_NPROC", resource.RLIMIT_NOFILE), "stack_bytes": resource.RLIMIT_STACK,
    "core_file_bytes": resource.RLIMIT_CORE,
}  # fmt: skip
_LONGEST = 4096


def read_host_environment(root: Path = Path("/")) -> tuple[EnvironmentValue, ...]:
    """Read how this host is set.

    Args:
        root: folder that holds `proc` and `sys`.
    """
    found = {
        **_cpu(root), **_memory(root), **_kernel(root), **_sysctl(root), **_file_systems(root), **_disks(root),
        **_network(root), **_limits(), **_control_group(root), **_virtual(root),
    }  # fmt: skip
    return tuple(EnvironmentValue(name, value) for name, value in found.items() if value not in {None, ""})


def _text(path: Path) -> str | None:
    """Return a file's first characters without the blanks around them; None where there is none to be read."""
    return _read(str(path))


def _read(path: str) -> str | None:
    """Read a file of the kernel's without the layers of `open`: there are hundreds of a few bytes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(handle, _LONGEST).decode("utf-8", "replace").strip()
    except OSError:
        return None
    finally:
        os.close(handle)


def _chosen(text: str | None) -> str | None:
    """Return the word in brackets of `always [madvise] never`, else the text."""
    if text is None or "[" not in text:
        return text
    return text.partition("[")[2].partition("]")[0]


def _plain(text: str | None) -> Scalar:
    if text is not None and (text.isascii() and text.removeprefix("-").isdigit()):
        return int(text)
    return None if text is None else " ".join(text.split())


# -- processor and memory -----------------------------------------------------------------------------------------
def _cpu(root: Path) -> Mapping[str, Scalar]:
    cpus = [dict(_pairs(block)) for block in (_long(root / "proc/cpuinfo") or "").split("\n\n") if block.strip()]
    system = root / "sys/devices/system"
    first = cpus[0] if cpus else {}
    cores = {(cpu.get("physical id"), cpu.get("core id")) for cpu in cpus if "core id" in cpu}
    governors = {_text(path) for path in sorted((system / "cpu").glob("cpu[0-9]*/cpufreq/scaling_governor"))}
    return {
        "cpu.model": first.get("model name") or platform.processor() or platform.machine(),
        "cpu.architecture": platform.machine(),
        "cpu.microcode": first.get("microcode"),
        "cpu.threads": len(cpus) or os.cpu_count(),
        "cpu.cores": len(cores) or None,
        "cpu.sockets": len({cpu["physical id"] for cpu in cpus if "physical id" in cpu}) or None,
        "cpu.smt": _text(system / "cpu/smt/control"),
        "cpu.governor": ", ".join(sorted(filter(None, governors))),
        "cpu.driver": _text(system / "cpu/cpu0/cpufreq/scaling_driver"),
        "cpu.turbo_off": _plain(_text(system / "cpu/intel_pstate/no_turbo")),
        "cpu.isolated": _text(system / "cpu/isolated"),
        "cpu.numa_nodes": _text(system / "node/online"),
    }


def _long(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _pairs(block: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def _memory(root: Path) -> Mapping[str, Scalar]:
    meminfo = dict(_pairs(_long(root / "proc/meminfo") or ""))
    pages = root / "sys/kernel/mm/transparent_hugepage"
    return {
        "memory.total_bytes": _kilobytes(meminfo.get("MemTotal")),
        "memory.swap_bytes": _kilobytes(meminfo.get("SwapTotal")),
        "memory.huge_pages": _plain(meminfo.get("HugePages_Total")),
        "memory.huge_page_bytes": _kilobytes(meminfo.get("Hugepagesize")),
        "memory.transparent_huge_pages": _chosen(_text(pages / "enabled")),
        "memory.transparent_huge_pages_defrag": _chosen(_text(pages / "defrag")),
    }


def _kilobytes(text: str | None) -> int | None:
    number = (text or "").removesuffix("kB").strip()
    return int(number) * 1024 if number.isdigit() else None


# -- kernel -------------------------------------------------------------------------------------------------------
def _kernel(root: Path) -> Mapping[str, Scalar]:
    release = dict(
        line.split("=", 1) for line in (_text(root / "etc/os-release") or "").splitlines() if "=" in line
    )
    return {
        "host.system": release.get("PRETTY_NAME", "").strip('"'),
        "host.kernel": _text(root / "proc/sys/kernel/osrelease") or platform.release(),
        "host.kernel_built": _text(root / "proc/sys/kernel/version"),
        "host.kernel_command_line": _text(root / "proc/cmdline"),
        "host.clock_source": _text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }


def _sysctl(root: Path) -> Mapping[str, Scalar]:
    found: dict[str, Scalar] = {}
    for folder in _SYSCTL:
        prefix = folder.replace("/", ".")
        for name, path in _files(root / "proc/sys" / folder):
            if f"{prefix}.{name}" not in _MOVING and not any(word in name for word in _SECRET):
                found[f"sysctl.{prefix}.{name}"] = _plain(_read(path))
    return found


def _files(folder: Path) -> Iterable[tuple[str, str]]:
    """Return names and paths of the files in a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.path) for entry in entries if entry.is_file())
    except OSError:
        return ()


# -- file systems and disks ---------------------------------------------------------------------------------------
def _file_systems(root: Path) -> Mapping[str, Scalar]:
    """Return device, kind and options of each mount; of those in memory only the usual ones."""
    found: dict[str, Scalar] = {}
    for line in (_long(root / "proc/self/mounts") or "").splitlines():
        device, place, kind, options = [_unescaped(word) for word in line.split(" ")[:4]]
        if kind in _NO_FILE_SYSTEM or (kind == "tmpfs" and place not in _KEPT_IN_MEMORY):
            continue
        found[f"mount.{place}"] = f"{kind} on {device} ({options})"
    return {**found, **_tuned(root), **_read_ahead(root)}


def _tuned(root: Path) -> Mapping[str, Scalar]:
    """Return what file systems are tuned by beside the options of their mounts."""
    found: dict[str, Scalar] = {}
    for where, names in _TUNED.items():
        of_all = where.startswith("sys/module")
        for each in (root / where,) if of_all else sorted(_listed(root / where)):
            for name in names:
                found[f"file_system.{each.name}.{name.removeprefix('parameters/')}"] = _plain(_text(each / name))
    return found


def _read_ahead(root: Path) -> Mapping[str, Scalar]:
    """Return how far is read ahead on file systems without a disk of this host, such as NFS."""
    found: dict[str, Scalar] = {}
    for line in (_long(root / "proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        words, kind = before.split(" "), after.split(" ")
        if len(words) > 4 and len(kind) > 1 and not kind[1].startswith("/dev/"):
            ahead = _plain(_text(root / "sys/class/bdi" / words[2] / "read_ahead_kb"))
            if kind[0] not in _NO_FILE_SYSTEM and kind[0] != "tmpfs":
                found[f"file_system.{_unescaped(words[4])}.read_ahead_kb"] = ahead
    return found


def _unescaped(word: str) -> str:
    r"""Undo what proc(5) does to blanks in names: `\040`."""
    return word.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")


def _disks(root: Path) -> Mapping[str, Scalar]:
    found: dict[str, Scalar] = {}
    for disk in sorted(_listed(root / "sys/block")):
        if disk.name.startswith(_NO_DISK):
            continue
        for name in _QUEUE:
            found[f"disk.{disk.name}.{name}"] = _plain(_chosen(_text(disk / "queue" / name)))
        sectors = _plain(_text(disk / "size"))
        found[f"disk.{disk.name}.bytes"] = sectors * 512 if isinstance(sectors, int) else None
        found[f"disk.{disk.name}.model"] = _plain(_text(disk / "device/model"))
        found[f"disk.{disk.name}.mapped_as"] = _text(disk / "dm/name")
        found[f"disk.{disk.name}.paths"] = ", ".join(sorted(path.name for path in _listed(disk / "slaves")))
    return found


def _listed(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return ()


def _network(root: Path) -> Mapping[str, Scalar]:
    """Return speed (Mbit/s) and MTU of the cards that are hardware, or that a hypervisor shows as such."""
    found: dict[str, Scalar] = {}
    for card in sorted(_listed(root / "sys/class/net")):
        if (card / "device").exists():
            speed = _plain(_text(card / "speed"))
            found[f"network.{card.name}.mbit_per_s"] = speed if isinstance(speed, int) and speed > 0 else None
            found[f"network.{card.name}.mtu"] = _plain(_text(card / "mtu"))
            found[f"network.{card.name}.duplex"] = _text(card / "duplex")
    return found


# -- limits -------------------------------------------------------------------------------------------------------
def _limits() -> Mapping[str, Scalar]:
    """Return what this process may have, soft limits first."""
    found: dict[str, Scalar] = {}
    for name, number in _LIMITS.items():
        soft, hard = (
            "unlimited" if one == resource.RLIM_INFINITY else str(one) for one in resource.getrlimit(number)
        )
        found[f"limit.{name}"] = soft if soft == hard else f"{soft}, at most {hard}"
    found["limit.cpus_allowed"] = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return found


def _control_group(root: Path) -> Mapping[str, Scalar]:
    """Return the limits of this process's control groups and of those around them, the narrowest group last."""
    found: dict[str, Scalar] = {}
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, place = line.split(":", 2)
        for controller in controllers.split(","):
            for folder in _mounted(root, controller):
                whole = folder / place.lstrip("/")
                for group in (whole, *whole.parents):
                    if not group.is_relative_to(folder):
                        break
                    for name in _CGROUP.get(controller, ()):
                        value = _plain(_text(group / name))
                        if value not in {None, ""}:
                            found.setdefault(f"cgroup.{name}", value)
    return found


def _mounted(root: Path, controller: str) -> Iterator[Path]:
    base = root / "sys/fs/cgroup"
    candidates = (base / controller,) if controller else (base, base / "unified")
    yield from (folder for folder in candidates if folder.is_dir())


def _virtual(root: Path) -> Mapping[str, Scalar]:
    board = root / "sys/class/dmi/id"
    flags = "hypervisor" in (_text(root / "proc/cpuinfo") or "").split()
    inside = [
        name
        for name, mark in (("docker", ".dockerenv"), ("podman", "run/.containerenv"))
        if (root / mark).exists()
    ]
    return {
        "host.maker": _plain(_text(board / "sys_vendor")),
        "host.product": _plain(_text(board / "product_name")),
        "host.hypervisor": _text(root / "sys/hypervisor/type") or ("yes" if flags else None),
        "host.container": ", ".join(inside),
    }
