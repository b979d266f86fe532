"""rich's console for tables and colours, whose texts are cleaned and whose markup is no markup."""

from collections.abc import Iterable
from typing import IO

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from linerate.ui.screen import clean


class Console(rich.console.Console):
    """Writes others' words as words: no controls, no markup; ours are styles of Text."""

    def __init__(
        self, *, stderr: bool = False, width: int | None = None, file: IO[str] | None = None
    ) -> None:
        """To standard output, to standard error, or to a file of some columns."""
        super().__init__(
            stderr=stderr, width=width, file=file, highlight=False, markup=False, emoji=False
        )

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Give the pieces of a renderable, each cleaned; the cursor is moved by rich alone."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(clean(segment.text), segment.style)
