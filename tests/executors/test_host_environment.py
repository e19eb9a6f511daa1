"""How this host is set, read from folders like /proc and /sys: each change is seen, nothing moves by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.app.environments import masked
from toolkit.executors.host_environment import read_host_environment
from toolkit.model.environment import Environment, differences

HOST = {
    "proc/cpuinfo": "model name : Old CPU\nmicrocode : 0x1\nphysical id : 0\ncore id : 0\n\n"
    "physical id : 0\ncore id : 0\n",
    "proc/meminfo": "MemTotal: 1024 kB\nSwapTotal: 0 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB\n",
    "proc/cmdline": "quiet",
    "proc/self/mounts": "/dev/sda1 /data\\040one ext4 rw,noatime 0 0\nproc /proc proc rw 0 0\n"
    "tmpfs /run tmpfs rw 0 0\n",
    "proc/self/cgroup": "0::/app\n",
    "proc/sys/kernel/osrelease": "6.1.0",
    "proc/sys/kernel/sem": "250\t32000\t32\t128",
    "proc/sys/vm/swappiness": "60",
    "proc/sys/vm/nr_hugepages": "0",
    "proc/sys/fs/aio-max-nr": "65536",
    "proc/sys/net/core/rmem_max": "212992",
    "proc/sys/net/ipv4/tcp_fastopen_key": "a-secret",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave",
    "sys/devices/system/cpu/smt/control": "on",
    "sys/devices/system/node/online": "0-1",
    "sys/block/sda/queue/scheduler": "none [mq-deadline]",
    "sys/block/sda/queue/read_ahead_kb": "128",
    "sys/block/sda/queue/rotational": "1",
    "sys/block/sda/size": "2048",
    "sys/block/loop0/queue/read_ahead_kb": "128",
    "sys/class/net/eth0/device/vendor": "0x1",
    "sys/class/net/eth0/mtu": "1500",
    "sys/class/net/eth0/speed": "10000",
    "sys/class/net/lo/mtu": "65536",
    "sys/fs/ext4/sda1/inode_readahead_blks": "32",
    "sys/fs/ext4/sda1/lifetime_write_kbytes": "77",
    "sys/fs/btrfs/0c-1d/nodesize": "16384",
    "sys/module/zfs/parameters/zfs_arc_max": "0",
    "proc/self/mountinfo": "20 1 8:1 / /data\\040one rw - ext4 /dev/sda1 rw\n"
    "21 1 0:44 / /backup rw,relatime shared:1 - nfs4 nas:/backup rw,rsize=1048576\n",
    "sys/class/bdi/0:44/read_ahead_kb": "128",
    "sys/class/bdi/8:1/read_ahead_kb": "128",
    "sys/class/dmi/id/product_name": "Standard PC",
    "sys/fs/cgroup/app/memory.max": "max",
    "sys/fs/cgroup/cpu.max": "max 100000",
}
PLANTED = {
    "cpu.model": ("proc/cpuinfo", "Old CPU", "New CPU"),
    "cpu.microcode": ("proc/cpuinfo", "0x1", "0x2"),
    "cpu.cores": (
        "proc/cpuinfo",
        "core id : 0\n\nphysical id : 0\ncore id : 0",
        "core id : 0\n\nphysical id : 0\ncore id : 1",
    ),
    "memory.total_bytes": ("proc/meminfo", "1024", "2048"),
    "memory.huge_pages": ("proc/meminfo", "HugePages_Total: 0", "HugePages_Total: 9"),
    "memory.transparent_huge_pages": (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise]",
        "[always] madvise",
    ),
    "host.kernel": ("proc/sys/kernel/osrelease", "6.1.0", "6.2.0"),
    "host.kernel_command_line": ("proc/cmdline", "quiet", "quiet mitigations=off"),
    "mount./data one": ("proc/self/mounts", "noatime", "relatime"),
    "sysctl.kernel.sem": ("proc/sys/kernel/sem", "250", "512"),
    "sysctl.vm.swappiness": ("proc/sys/vm/swappiness", "60", "1"),
    "sysctl.vm.nr_hugepages": ("proc/sys/vm/nr_hugepages", "0", "512"),
    "sysctl.fs.aio-max-nr": ("proc/sys/fs/aio-max-nr", "65536", "1048576"),
    "sysctl.net.core.rmem_max": ("proc/sys/net/core/rmem_max", "212992", "4194304"),
    "cpu.governor": ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "performance"),
    "cpu.smt": ("sys/devices/system/cpu/smt/control", "on", "off"),
    "cpu.numa_nodes": ("sys/devices/system/node/online", "0-1", "0"),
    "disk.sda.scheduler": ("sys/block/sda/queue/scheduler", "none [mq-deadline]", "[none] mq-deadline"),
    "disk.sda.read_ahead_kb": ("sys/block/sda/queue/read_ahead_kb", "128", "512"),
    "network.eth0.mtu": ("sys/class/net/eth0/mtu", "1500", "9000"),
    "network.eth0.mbit_per_s": ("sys/class/net/eth0/speed", "10000", "40000"),
    "file_system.sda1.inode_readahead_blks": ("sys/fs/ext4/sda1/inode_readahead_blks", "32", "64"),
    "file_system.0c-1d.nodesize": ("sys/fs/btrfs/0c-1d/nodesize", "16384", "32768"),
    "file_system.zfs.zfs_arc_max": ("sys/module/zfs/parameters/zfs_arc_max", "0", "8589934592"),
    "file_system./backup.read_ahead_kb": ("sys/class/bdi/0:44/read_ahead_kb", "128", "15360"),
    "host.product": ("sys/class/dmi/id/product_name", "Standard PC", "VMware Virtual Platform"),
    "cgroup.memory.max": ("sys/fs/cgroup/app/memory.max", "max", "1073741824"),
    "cgroup.cpu.max": ("sys/fs/cgroup/cpu.max", "max 100000", "50000 100000"),
}


@pytest.fixture
def host(tmp_path: Path) -> Path:
    for name, text in HOST.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_each_planted_change_is_seen_and_nothing_else(host: Path) -> None:
    before = Environment(read_host_environment(host))
    for name, (file, old, new) in PLANTED.items():
        text = HOST[file]
        assert old in text, name
        (host / file).write_text(text.replace(old, new, 1))
        found = differences((before, Environment(read_host_environment(host))))
        assert [one.name for one in found] == [name]
        (host / file).write_text(text)
    assert len(PLANTED) >= 20
    assert differences((before, Environment(read_host_environment(host)))) == ()


def test_keys_loops_and_what_is_no_disk_file_system_are_left_out(host: Path) -> None:
    found = {value.name: value.value for value in read_host_environment(host)}
    assert "a-secret" not in str(found)
    assert not any(name.startswith(("disk.loop0", "mount./proc", "mount./run", "network.lo")) for name in found)
    assert found["sysctl.kernel.sem"] == "250 32000 32 128"
    assert found["disk.sda.bytes"] == 2048 * 512
    assert found["cgroup.memory.max"] == "max"


def test_a_host_that_shows_nothing_gives_what_the_process_knows(tmp_path: Path) -> None:
    names = {value.name.partition(".")[0] for value in read_host_environment(tmp_path)}
    assert names == {"cpu", "host", "limit"}


def test_two_reads_of_this_host_are_equal() -> None:
    here = Path("/")  # or the tests would give what they read once
    assert read_host_environment(here) == read_host_environment(here) != ()


def test_the_places_of_file_systems_are_masked(host: Path) -> None:
    shown = masked(Environment(read_host_environment(host)), lambda _, kind: f"{kind} 1")
    names = {value.name: value.value for value in shown.values}
    assert names["file_system.place 1.read_ahead_kb"] == 128
    assert "backup" not in str(names)
