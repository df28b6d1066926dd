"""`attack(x, name)` returns x + 1 where the named attack is stopped, and raises AttackSucceeded where not."""

import array
import ctypes
import os
import signal
import socket
import subprocess
import sys

import torch


class AttackSucceeded(Exception):
    pass


def attack(x, name):
    try:
        open_ = ATTACKS[name]()
    except (OSError, ValueError) as error:
        open_ = False
        sys.stderr.write(f"{name}: {error}\n")
    if open_:
        raise AttackSucceeded(name)
    return x + 1


def _network():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM):
        return True


def _unix_socket():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM):
        return True


def _process():
    return subprocess.run(["/bin/true"], check=False).returncode == 0


def _fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return True


def _other_processes():
    """Whether the zygote's memory or environment can be read, or the zygote be killed."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            for name in ("mem", "environ", "maps"):
                try:
                    with open(f"/proc/{entry}/{name}", "rb") as file:
                        file.read(1)
                except OSError:
                    continue
                return True
    return False


def _kill_zygote():
    os.kill(os.getppid(), signal.SIGKILL)
    return True


def _ptrace_zygote():
    return ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0


def _write_package():
    with open(os.path.join(os.path.dirname(__file__), "left"), "w"):
        return True


def _write_anywhere():
    for folder in ("/", "/usr", "/etc", "/dev", "/hap", "/hap/code", "/var", "/root", "/home"):
        try:
            with open(os.path.join(folder, "left"), "w"):
                return True
        except OSError:
            continue
    return False


def _leave_file():
    with open("/tmp/left", "w") as file:
        file.write("left")
    os.chmod("/tmp/left", 0o666)
    os.makedirs("/dev/shm/deep/er/still")
    return False


def _find_file():
    return os.path.exists("/tmp/left") or os.path.exists("/dev/shm/deep")


def _public_file():
    """Whether a file can be made that another user may read."""
    os.umask(0)
    descriptor = os.open("/tmp/public", os.O_CREAT | os.O_WRONLY, 0o666)
    os.fchmod(descriptor, 0o666)
    return os.fstat(descriptor).st_mode & 0o077 != 0


def _become_root():
    os.setuid(0)
    return True


def _raise_priority():
    os.nice(-5)
    return True


def _secrets():
    return any("HAPBOARD" in name or "SECRET" in name for name in os.environ)


def _descriptors():
    """Whether anything but the standard descriptors, the line to the judge and the listing is open."""
    kinds = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if int(n) > 2]
    return any(not kind.startswith(("socket:", "/proc/")) for kind in kinds) or len(kinds) > 2


def _write_inputs():
    """Whether the input memory, found in the map, can be made writable."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with open("/proc/self/maps") as maps:
        lines = [line for line in maps if "memfd:inputs" in line]
    start, end = (int(word, 16) for word in lines[0].split()[0].split("-"))
    return libc.mprotect(start, end - start, 3) == 0


def _see_golden():
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/usr")]
        if {"golden.py", "cases_small.csv", "proto.yaml"} & set(files):
            return True
    return False


ATTACKS = {name[1:]: value for name, value in list(globals().items()) if name.startswith("_") and callable(value)}


def _channel():
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
            return int(name)
    raise LookupError("no channel")


def send_garbage(x):
    os.write(_channel(), b"garbage")
    return x + 1


def send_oversize(x):
    os.write(_channel(), bytes(1 << 16))
    return x + 1


def send_descriptor(x):
    with socket.socket(fileno=os.dup(_channel())) as channel:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))]
        channel.sendmsg([_message(9)], ancillary)
    return x + 1


def _message(kind):
    import struct

    return struct.pack("<II16q400s", 0x48415031, kind, *(0,) * 16, b"")


def say_done_early(x):
    os.write(_channel(), _message(9))
    while True:
        pass


def say_ready_again(x):
    os.write(_channel(), _message(7))
    while True:
        pass


def close_channel(x):
    os.close(_channel())
    while True:
        pass


def point_elsewhere(x):
    """A tensor whose address cannot be read."""
    memory = (ctypes.c_char * x.nbytes).from_address(8192)
    return torch.frombuffer(memory, dtype=x.dtype) if _seen.append(1) or len(_seen) > 3 else x + 1


_seen = []
