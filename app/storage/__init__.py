"""Uploads as files, named by the SHA-256 of their bytes."""

from app.storage.files import FileStore, StagedFile, TooLarge

__all__ = ["FileStore", "StagedFile", "TooLarge"]
