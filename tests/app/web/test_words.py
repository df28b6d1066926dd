"""Closed sets have a word for each of their members."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.web.words import FLAG_WORDS, RULE_WORDS, SEVERITY_WORDS, VERDICT_GLYPHS, VERDICT_WORDS, rule_words
from kernel_eval.model import FlagId, Severity, Verdict
from kernel_eval.runner.play import PlayStatus

ROOT = Path(__file__).parents[3]
RULE = re.compile(r'"((?:structure|special|regions|integers|index)\.[a-z_]+)"')
SPOKEN_OF = re.compile(r"`((?:structure|special|regions|integers|index)\.[a-z_]+)`")
STRUCTURE = re.compile(r'_refused\(\s*"([a-z]+)"')


def rules_of_the_judge() -> set[str]:
    """Every rule that the judge's code, or the specification of its rules, names."""
    check = ROOT / "kernel_eval/check"
    found = {rule for path in check.glob("*.py") for rule in RULE.findall(path.read_text("utf-8"))}
    found |= {f"structure.{name}" for name in STRUCTURE.findall((check / "structure.py").read_text("utf-8"))}
    return found | set(SPOKEN_OF.findall((ROOT / "docs/spec/correctness.md").read_text("utf-8")))


def test_every_rule_of_the_judge_has_words_and_no_words_are_left_over() -> None:
    rules = rules_of_the_judge()
    assert len(rules) > 20
    assert rules - set(RULE_WORDS) == set()
    assert {rule for rule in RULE_WORDS if "." in rule} - rules == set()


@pytest.mark.parametrize("status", [status for status in PlayStatus if status is not PlayStatus.OK])
def test_what_ended_a_play_has_words(status: PlayStatus) -> None:
    assert status.value in RULE_WORDS or status.value in VERDICT_WORDS


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("set.integers", "exact equality"),
        ("stateful.regions.small", "errors of small elements"),
        ("stateful.untouched", "places that must stay untouched"),
        ("timed_out", "timed out"),
        ("brand_new", "brand new"),
    ],
)
def test_a_rule_under_a_declaration_is_called_as_without_it(rule: str, words: str) -> None:
    assert rule_words(rule) == words


def test_verdicts_flags_and_severities_have_words_and_verdicts_glyphs() -> None:
    assert {verdict.value for verdict in Verdict} <= set(VERDICT_WORDS) & set(VERDICT_GLYPHS)
    assert {flag.value for flag in FlagId} == set(FLAG_WORDS)
    assert {severity.value for severity in Severity} == set(SEVERITY_WORDS)
