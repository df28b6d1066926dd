"""Asks a package in a box what it offers; nothing of it is imported here."""

from __future__ import annotations

from collections.abc import Sequence

from kernel_eval.model import CallSpec, Interface, Place, ResultSpec, TensorSpec
from kernel_eval.runner.box import RunBox
from kernel_eval.runner.play import Play, PlayStatus
from kernel_eval.runner.pool import Pool
from kernel_eval.runner.printable import printable
from kernel_eval.runner.protocol import LISTING, LISTING_BYTES

LISTING_S = 10.0
MOST_INTERFACES = 400
PLACES = {b"ops": Place.REGISTERED, b"module": Place.EXPORTED}


def list_interfaces(box: RunBox, wanted: Sequence[str]) -> tuple[Interface, ...] | Play:
    """The interfaces that the package claims to have, or how asking for them ended.

    `wanted` are names that are looked for even where the package lists nothing of the kind.
    """
    result = ResultSpec("listing", (TensorSpec("uint8", (LISTING_BYTES,)),))
    call = CallSpec(LISTING, (), {"wanted": ",".join(wanted)}, (result,))
    pool = Pool(2 * LISTING_BYTES)
    try:
        pool.lay_out(call, 1)
        play = box.play(call, pool, 0, LISTING_S)
        if play.status is not PlayStatus.OK:
            return play
        return _read(pool.outputs(0)[0][0].numpy().tobytes())
    finally:
        pool.close()


def _read(content: bytes) -> tuple[Interface, ...]:
    """The interfaces in untrusted bytes: lines of three fields; whatever else is left out."""
    found: dict[tuple[Place, str], Interface] = {}
    for line in content.rstrip(b"\0").split(b"\n"):
        place, _, rest = line.partition(b"\t")
        name, _, signature = rest.partition(b"\t")
        text = printable(name, 100)
        if place in PLACES and text.isidentifier() and signature and len(found) < MOST_INTERFACES:
            key = (PLACES[place], text)
            found.setdefault(key, Interface(*key, printable(signature)))
    return tuple(found.values())
