"""Tokens: unguessable, stored hashed, scopes imply no more than they say."""

from __future__ import annotations

import pytest

from app.auth.tokens import Scope, effective_scopes, fresh_token, token_hash, well_formed


def test_a_token_is_well_formed_and_its_hash_does_not_hold_it() -> None:
    fresh = fresh_token()
    assert well_formed(fresh.text)
    assert fresh.prefix in fresh.text
    assert fresh.hash == token_hash(fresh.text)
    assert fresh.text.rsplit("_", 1)[-1] not in fresh.hash
    assert fresh_token().text != fresh.text


@pytest.mark.parametrize("text", ["", "None", "hapb_", "hapb_12345678_", "x" * 57, "hapb_1234567g_" + "a" * 43])
def test_anything_else_is_not_even_looked_up(text: str) -> None:
    assert not well_formed(text)


def test_scopes_imply_what_the_design_says() -> None:
    assert effective_scopes([]) == frozenset()
    assert effective_scopes(["unknown"]) == frozenset()
    assert effective_scopes(["read"]) == {Scope.READ}
    assert effective_scopes(["submit"]) == {Scope.READ, Scope.SUBMIT}
    assert effective_scopes(["admin"]) == set(Scope)
