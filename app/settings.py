"""Settings of the portal, from environment variables with the prefix HAPBOARD_."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MIN_SECRET_LENGTH = 32
MIB = 1024 * 1024


class AppSettings(BaseSettings):
    """What an API process needs to know. There is no default for anything secret."""

    model_config = SettingsConfigDict(env_prefix="HAPBOARD_", extra="ignore", frozen=True)

    database_url: str
    """`postgresql+psycopg://role@host/name`; the role is the app's, never the owner's."""
    broker_url: str
    """`redis://…`; only wakes workers, nothing is kept there."""
    storage_dir: Path
    secret_key: SecretStr
    """Signs session cookies and their CSRF tokens."""
    instance: str = Field(default="LOCAL", pattern=r"^[A-Z0-9]{2,12}$")
    """Prefix of public ids."""
    public_url: str = "http://127.0.0.1:8000"
    max_upload_bytes: int = Field(default=256 * MIB, gt=0)
    session_hours: int = Field(default=12, gt=0)
    max_wait_s: int = Field(default=60, gt=0)
    """Longest long poll in seconds."""
    log_json: bool = True

    @field_validator("secret_key")
    @classmethod
    def _long_enough(cls, value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < MIN_SECRET_LENGTH:
            raise ValueError(
                f"HAPBOARD_SECRET_KEY needs at least {MIN_SECRET_LENGTH} characters; "
                'make one with: python -c "import secrets; print(secrets.token_urlsafe(48))"'
            )
        return value

    @field_validator("public_url")
    @classmethod
    def _without_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @property
    def secure_cookies(self) -> bool:
        """Whether the service is reached over TLS, so that cookies may insist on it."""
        return self.public_url.startswith("https://")
