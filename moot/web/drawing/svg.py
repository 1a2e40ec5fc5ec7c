"""The frame of a picture, and what links inside it look like."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from ledger.plain_text import visible


def svg(width: float, height: float, alt: str, parts: Iterable[Markup], kind: str) -> Markup:
    """A picture with links in it is a group that has a name, one without a name is hidden from who cannot see it.

    Its size is its own, so that it never stretches.
    """
    named = (
        Markup('role="group" aria-label="{}"').format(visible(alt)) if alt else Markup('aria-hidden="true"')
    )
    frame = Markup('<svg {} class="{}" width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}">').format(
        named, kind, width, height, width, height
    )
    return frame + Markup("").join(parts) + Markup("</svg>")


def titled(said: str, shape: Markup) -> Markup:
    """A shape that says what it is when somebody points at it."""
    return Markup("<g><title>{}</title>{}</g>").format(visible(said), shape)


def linked_to(address: str | None, said: str, shape: Markup) -> Markup:
    """A shape as a link with a name; without an address the shape itself."""
    if address is None:
        return shape
    return Markup('<a href="{}" aria-label="{}">{}</a>').format(address, visible(said), shape)


def horizontal(x1: float, x2: float, y: float, tone: str) -> Markup:
    """A line from left to right."""
    return Markup('<path d="M{:.0f} {:.0f}H{:.0f}" class="{}"/>').format(x1, y, x2, tone)
