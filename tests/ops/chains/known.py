"""Step kinds that are excluded because of known bugs, with the reasons."""

KNOWN: dict[str, str] = {}
