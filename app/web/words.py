"""The words and glyphs of the interface for verdicts, statuses, flags and axes: one place for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.web.translation import mark as N_  # noqa: N812 - the name the catalogue tools look for

NOT_ATTEMPTED: Final = "not_attempted"
NOT_ATTEMPTED_GLYPH: Final = "–"
ON_HOLD: Final = "on_hold"
ON_HOLD_GLYPH: Final = "…"

VERDICT_GLYPHS: Final[Mapping[str, str]] = {
    "accepted": "✓",
    "wrong_values": "×",
    "hidden_failed": "×",
    "wrong_structure": "×",
    "crashed": "▲",
    "timed_out": "◷",
    "out_of_memory": "▲",
    "load_failed": "⌧",
    "build_failed": "⌧",
    "tampered": "⊘",
    "internal_error": "!",
    NOT_ATTEMPTED: NOT_ATTEMPTED_GLYPH,
    ON_HOLD: ON_HOLD_GLYPH,
}

VERDICT_WORDS: Final[Mapping[str, str]] = {
    "accepted": N_("accepted"),
    "wrong_values": N_("wrong values"),
    "hidden_failed": N_("fails hidden cases"),
    "wrong_structure": N_("wrong structure"),
    "crashed": N_("crashed"),
    "timed_out": N_("timed out"),
    "out_of_memory": N_("out of memory"),
    "load_failed": N_("load failed"),
    "build_failed": N_("build failed"),
    "tampered": N_("tampered"),
    "internal_error": N_("our fault"),
    NOT_ATTEMPTED: N_("not attempted"),
    ON_HOLD: N_("on hold"),
}

VERDICT_ADVICE: Final[Mapping[str, str]] = {
    "wrong_values": N_(
        "Compare your kernel with the operator's formula; `kernel-eval` shows the same element locally."
    ),
    "hidden_failed": N_(
        "Every public case is right, some hidden ones are not. They come from the same ranges of shapes, dtypes, "
        "values and attributes: test the corners that the public cases leave out."
    ),
    "wrong_structure": N_("Return exactly the declared tensors: count, dtype, shape, contiguous, on the right device."),
    "crashed": N_(
        "The message names the signal or the exception; run the case locally with `kernel-eval` to see more."
    ),
    "timed_out": N_("A case may take ten seconds or twenty times the baseline, whichever is longer."),
    "out_of_memory": N_("Allocate less: the memory of the box is limited, and temporaries count."),
    "load_failed": N_("The package was built but could not be imported, or does not export the operator."),
    "build_failed": N_("`build.sh` ended with an error; the log excerpt shows its last lines."),
    "tampered": N_("The measuring path was attacked; the operator is void."),
    "internal_error": N_("This was our fault. It is not scored and is tried again."),
}

STATUS_WORDS: Final[Mapping[str, str]] = {
    "received": N_("received"),
    "queued": N_("queued"),
    "running": N_("running"),
    "published": N_("published"),
    "held": N_("held for review"),
    "failed": N_("failed"),
    "cancelled": N_("cancelled"),
    "withdrawn": N_("withdrawn"),
    "finished": N_("finished"),
    "errored": N_("our fault"),
}

STATUS_SENTENCES: Final[Mapping[str, str]] = {
    "received": N_("Your archive is stored. It joins the queue in a moment."),
    "queued": N_("Waiting for a free judge."),
    "running": N_("The judge is at work; this page follows it."),
    "published": N_("Judged and published. This result will not change; a re-run is a new result."),
    "held": N_("Judged. One or more operators wait for a person's decision before they count on the board."),
    "failed": N_("This submission could not be judged; the reason stands below."),
    "cancelled": N_("Cancelled before it was judged. It never counts."),
    "withdrawn": N_("Withdrawn by its owner. The source is hidden; this page stays."),
}

FLAG_WORDS: Final[Mapping[str, str]] = {
    "faster_than_limit": N_("faster than the limit"),
    "anchor_contradiction": N_("baseline near the limit"),
    "batch_nonlinear": N_("time does not grow with the batch"),
    "known_output_mismatch": N_("timed output differs"),
    "unstable_timing": N_("unstable timing"),
    "no_attempt": N_("no attempt"),
    "opaque_binary": N_("opaque binary"),
    "work_after_done": N_("works after done"),
    "cpu_above_wall": N_("more CPU time than possible"),
    "residue": N_("residue"),
    "source_hint": N_("hint in the source"),
    "binary_hint": N_("hint in the binary"),
    "guard_error": N_("a guard failed"),
}

SEVERITY_WORDS: Final[Mapping[str, str]] = {
    "note": N_("note"),
    "review": N_("under review"),
    "hold": N_("on hold"),
}

HARDWARE_NAMES: Final[Mapping[str, str]] = {"cpu": "CPU", "910b2": "Ascend 910B2", "950pr": "Ascend 950PR"}
"""What boards call their hardware; other words are shown as they are."""

BADGE_WORDS: Final[Mapping[str, str]] = {
    "provisional": N_("Provisional"),
    "under_review": N_("Under review"),
    "verified": N_("Verified"),
    "opaque_binary": N_("Opaque binary"),
    "after_deadline": N_("After deadline"),
    "derived_baseline": N_("Derived baseline"),
    "practice": N_("Practice"),
    "held": N_("On hold"),
}

BADGE_MEANINGS: Final[Mapping[str, str]] = {
    "provisional": N_("Published, but a flag on a case has not been decided yet"),
    "under_review": N_("A case is faster than the limit; it counts as exactly the limit until a person decides"),
    "verified": N_("Reviewed by a person"),
    "opaque_binary": N_("Submitted as a prebuilt binary; its source was not built here"),
    "after_deadline": N_("Received after the season's deadline"),
    "derived_baseline": N_("A baseline was derived from the limit because it could not be measured"),
    "practice": N_("Public cases only; never ranked"),
    "held": N_("An operator is withheld until a person decides"),
}

RULE_WORDS: Final[Mapping[str, str]] = {
    "first_screen": N_("mean and largest relative error"),
    "regions": N_("errors by region"),
    "regions.normal": N_("errors of normal elements"),
    "regions.normal_mean": N_("mean error of normal elements"),
    "regions.small": N_("errors of small elements"),
    "regions.small_size": N_("size of small elements"),
    "regions.small_sum": N_("sum over small elements"),
    "regions.cancellation": N_("errors of cancelled elements"),
    "regions.cancellation_sum": N_("sum over cancelled elements"),
    "integers": N_("exact equality"),
    "integers.tolerance": N_("difference of integers"),
    "integers.mismatches": N_("number of integers that differ"),
    "boolean": N_("exact equality"),
    "exact": N_("exact equality"),
    "signed_zero": N_("sign of zero"),
    "allclose": N_("absolute and relative tolerance"),
    "special.nan": N_("positions of NaN"),
    "special.infinity": N_("signs of infinities"),
    "index": N_("indices"),
    "index.distinct": N_("indices that repeat"),
    "index.mean": N_("values that the indices find"),
    "index.position": N_("indices beyond their position"),
    "index.range": N_("indices out of range"),
    "index.sentinel": N_("places without an index"),
    "index.value": N_("values that the indices find"),
    "untouched": N_("places that must stay untouched"),
    "structure": N_("structure of the outputs"),
    "structure.outputs": N_("number of outputs"),
    "structure.container": N_("tensor or list of tensors"),
    "structure.count": N_("number of tensors in an output"),
    "structure.type": N_("type of an output"),
    "structure.device": N_("device of an output"),
    "structure.dtype": N_("dtype of an output"),
    "structure.shape": N_("shape of an output"),
    "structure.contiguity": N_("contiguity of an output"),
    "get_output": N_("the suite's own check"),
    "budget": N_("the operator's time is used up"),
    "raised": N_("an exception"),
    "build": N_("build failed"),
    "not_measured": N_("no usable time"),
    "internal": N_("our fault"),
}
"""By the judge's rule; `set.` and `stateful.` before one say how the output is declared."""
DECLARED: Final = ("set.", "stateful.")


def rule_words(rule: str) -> str:
    """What a rule looks at, in English; where a verdict stands for it, the verdict's word."""
    for prefix in DECLARED:
        rule = rule.removeprefix(prefix)
    return RULE_WORDS.get(rule) or spelled(VERDICT_WORDS, rule)


def glyph(verdict: str) -> str:
    """A verdict's glyph."""
    return VERDICT_GLYPHS.get(verdict, "?")


def hardware_name(hardware: str) -> str:
    """How a hardware is written."""
    return HARDWARE_NAMES.get(hardware, hardware)


def spelled(words: Mapping[str, str], key: str) -> str:
    """A closed set's word in English; an unknown key is shown as it is, with its underscores opened."""
    return words.get(key, key.replace("_", " "))
