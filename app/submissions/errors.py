"""What can be wrong with a submission or a request for one."""

from __future__ import annotations

from app.errors import Conflict, NotFound, PortalError, Refused


class SubmissionNotFound(NotFound):
    """There is no such submission, or it is not for this reader."""

    slug = "submission-not-found"

    def __init__(self, public_id: str) -> None:
        super().__init__(f"There is no submission {public_id!r}.")


class SubmissionRefused(Refused):
    """The upload breaks rules; `errors` has all of them, nothing was kept."""

    slug = "submission-refused"
    title = "Submission refused"


class NotMultipart(PortalError):
    """The body is no multipart form."""

    status, slug, title = 415, "not-multipart", "Not a form upload"

    def __init__(self) -> None:
        super().__init__("Send `multipart/form-data` with the fields `file` and `board`.")


class UploadBroken(PortalError):
    """The body ended early or is malformed; nothing was kept."""

    status, slug, title = 400, "upload-broken", "Upload broken off"


class UploadTooLarge(PortalError):
    """More bytes than the limit; nothing was kept."""

    status, slug, title = 413, "upload-too-large", "Upload too large"

    def __init__(self, max_bytes: int) -> None:
        mib = max_bytes / (1024 * 1024)
        super().__init__(f"The archive may have at most {mib:g} MiB. Leave out build results and data.")


class KeyReused(Conflict):
    """The idempotency key came with another request before."""

    slug = "idempotency-key-reused"

    def __init__(self, public_id: str) -> None:
        super().__init__(
            f"This Idempotency-Key was used for submission {public_id} with another file or other fields. "
            "Use a new key for a new submission."
        )


class TooLateToCancel(Conflict):
    """The submission is settled already."""

    slug = "too-late-to-cancel"

    def __init__(self, public_id: str, status: str) -> None:
        super().__init__(f"Submission {public_id} is {status}: there is nothing left to cancel.")
