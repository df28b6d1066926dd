"""Faults of parameters in our own words, each with its place."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from app.errors import validation_faults


class _Form(BaseModel):
    count: int = Field(default=1, gt=0)
    name: str = "x"
    inner: _Form | None = None

    @field_validator("name")
    @classmethod
    def _name_is_sound(cls, name: str) -> str:
        assert name != "asserted", "not that name"
        if name == "raised":
            raise ValueError("another name, please")
        return name

    @model_validator(mode="after")
    def _fits_together(self) -> _Form:
        if self.count == 7 and self.name == "seven":
            raise ValueError("seven is no name of seven")
        return self


@pytest.mark.parametrize(
    ("values", "where", "message"),
    [
        ({"count": 0}, "count", "Input should be greater than 0"),
        ({"count": "many"}, "count", "Input should be a valid integer, unable to parse string as an integer"),
        ({"name": "raised"}, "name", "another name, please"),
        ({"name": "asserted"}, "name", "not that name"),
        ({"inner": {"name": "raised"}}, "inner.name", "another name, please"),
        ({"inner": {"count": 7, "name": "seven"}}, "inner", "seven is no name of seven"),
        ({"count": 7, "name": "seven"}, "form", "seven is no name of seven"),
    ],
)
def test_a_fault_has_a_place_and_our_own_words_without_the_frameworks_prefix(
    values: dict[str, Any], where: str, message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _Form.model_validate(values)
    (fault,) = validation_faults(caught.value.errors())
    assert (fault.where, fault.message.splitlines()[0].partition("\nassert")[0]) == (where, message)
