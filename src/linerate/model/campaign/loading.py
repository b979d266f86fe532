"""Campaign files as read from disk, with a line for each mistake."""

from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from linerate.base.errors import UserError
from linerate.base.safe_load import DocumentError, read_yaml
from linerate.base.validation import mistake
from linerate.model.campaign.campaign import Campaign


class CampaignError(UserError):
    """A campaign file with mistakes, or one that can't be carried out; a line for each."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


def load(path: Path) -> Campaign:
    """Read a campaign file; paths in it are relative to its folder. Raises CampaignError."""
    try:
        document = read_yaml(path)
    except OSError as error:
        raise CampaignError([f"{path}: {(error.strerror or str(error)).lower()}"]) from error
    except DocumentError as error:
        raise CampaignError([f"{path}: {error}"]) from error
    return parse(document, str(path)).beside(path.absolute().parent)


def parse(document: object, source: str) -> Campaign:
    """Check what a campaign file holds; `source` is named in each line. Raises CampaignError."""
    if not isinstance(document, dict):
        raise CampaignError([f"{source}: expected keys and values, as `name: nightly`"])
    try:
        return Campaign.model_validate(document)
    except ValidationError as error:
        raise CampaignError([mistake(source, one) for one in _first_causes(error)]) from error


def _first_causes(error: ValidationError) -> list[ErrorDetails]:
    """All but what only follows from others: a list is too short without its wrong entries."""
    errors = error.errors()
    places = [one["loc"] for one in errors]
    return [
        one
        for one in errors
        if one["type"] != "too_short"
        or not any(
            len(place) > len(one["loc"]) and place[: len(one["loc"])] == one["loc"]
            for place in places
        )
    ]
