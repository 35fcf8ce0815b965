"""Schemathesis hooks: see docs/maintainers/long-tests.md."""

import re
import uuid

import schemathesis

VALID_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each create a key of its own.

    With a key that was used before the service answers with the sandbox of then, which may be deleted by now: as the
    specification has it, and to the fuzzer a created resource that is not there.
    """
    headers = case.headers or {}
    if VALID_KEY.fullmatch(headers.get("idempotency-key", "")):
        headers["idempotency-key"] = str(uuid.uuid4())
