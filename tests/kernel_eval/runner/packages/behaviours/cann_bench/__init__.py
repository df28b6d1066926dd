"""Functions that behave and misbehave in one way each; all take a float32 tensor unless they say otherwise."""

import ctypes
import os
import sys
import threading
import time

import numpy
import torch

_library = torch.library.Library("cann_bench", "DEF")
_library.define("registered(Tensor x) -> Tensor")
_library.impl("registered", lambda x: x + 1, "CPU")
_calls = []
_kept = []


def registered(x):
    return x - 1


def exp(x):
    return torch.exp(x)


def keyword_only(*, x, alpha, beta):
    return x * alpha + beta


def count(x):
    _calls.append(1)
    return torch.full_like(x, len(_calls))


def two(x):
    return x + 1, x + 2


def listed(xs):
    return [x + 1 for x in xs]


def listed_backwards(xs):
    made = [torch.empty_like(x) for x in reversed(xs)][::-1]
    for out, x in zip(made, xs, strict=True):
        out.copy_(x + 1)
    return made


def as_tuple_list(xs):
    return tuple(x + 1 for x in xs)


def optional(x, y=None):
    return x if y is None else x + y


def identity(x):
    return x


def from_numpy(x):
    return torch.from_numpy(x.numpy() * 2)


def contiguous_view(x):
    return torch.stack((x, x * 2))[1]


def writes_into_input(x):
    return x.add_(1)


def keeps_scratch(x):
    _kept.append(torch.empty_like(x))
    return torch.exp(x)


def late_writer(x):
    y = torch.exp(x)
    threading.Thread(target=_write_for_ever, args=(y,), daemon=True).start()
    return y


def _write_for_ever(y):
    while True:
        y.fill_(7.0)


def float64(x):
    return torch.exp(x.double())


def other_shape(x):
    return x.reshape(-1, 1)


def not_contiguous(x):
    return torch.stack((x, x), dim=1)[:, 0]


class Sub(torch.Tensor):
    pass


def subclass(x):
    return torch.exp(x).as_subclass(Sub)


def parameter(x):
    return torch.nn.Parameter(x + 1)


def with_attribute(x):
    y = torch.exp(x)
    y.note = "hello"
    return y


def array(x):
    return numpy.exp(x.numpy())


def wrapped(x):
    return (torch.exp(x),)


def nothing(x):
    return None


def negated_lazily(x):
    return torch._neg_view(x)


def raises(x):
    raise ValueError("wrong\x1b[31m \u202eway\nsecond line " + "x" * 5000)


class Nasty(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raises_nasty(x):
    raise Nasty


def system_exit(x):
    sys.exit(3)


def segfault(x):
    ctypes.string_at(0)


def abort(x):
    sys.stderr.write("about to abort\n")
    os.abort()


def leave(x):
    os._exit(0)


def hang(x):
    while True:
        time.sleep(1)


def spin(x):
    while True:
        pass


def eat_memory(x):
    blocks = []
    while True:
        blocks.append(torch.ones(1 << 23))


def ask_for_too_much(x):
    return torch.empty(1 << 42)


def print_gigabytes(x):
    line = "y" * (1 << 20)
    for _ in range(512):
        sys.stdout.write(line)
    return torch.exp(x)


def print_for_ever(x):
    while True:
        sys.stderr.write("y" * (1 << 16))


def fill_tmp(x):
    with open("/tmp/full", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


def fork_bomb(x):
    while True:
        os.fork()


def thread_bomb(x):
    while True:
        threading.Thread(target=time.sleep, args=(100,)).start()


def warm_up_only(x):
    _calls.append(1)
    if len(_calls) > 2:
        raise RuntimeError("third call")
    return torch.exp(x)
