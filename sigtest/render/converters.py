"""Pictures as PDF and PNG: what typesets them is loaded when it is first used."""

from __future__ import annotations

from sigtest.errors import UnavailableError

# By the suffix of a file; where a client of the service has no preference it gets the first.
PICTURE_FORMATS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
PAGE = b"""#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg")"""
PPI = 300.0  # of PNG, as journals want it


def check_converter(suffix: str) -> None:
    """Complain before a long computation where pictures could not be written after it.

    Args:
        suffix: One of PICTURE_FORMATS.

    Raises:
        UnavailableError: What makes it of SVG is not installed.
    """
    if suffix != "svg":
        try:
            import typst  # noqa: F401  # late: few runs need it
        except ImportError as error:
            raise UnavailableError(
                f"Pictures as {suffix.upper()} need typst: pip install typst; SVG needs nothing."
            ) from error


def converted(svg: str, suffix: str) -> bytes:
    """A picture in the format of a suffix, a function of the SVG and this machine's fonts.

    A PDF has its fonts in it, and is of a version that LaTeX takes without a warning.

    Args:
        svg: The picture.
        suffix: One of PICTURE_FORMATS.

    Raises:
        UnavailableError: What makes it of SVG is not installed.
    """
    if suffix == "svg":
        return svg.encode()
    check_converter(suffix)
    import typst  # late: few runs need it

    inputs = {"svg": svg}
    if suffix == "png":
        return typst.compile(PAGE, format="png", ppi=PPI, sys_inputs=inputs)
    return typst.compile(
        PAGE, format="pdf", pdf_standards=["1.5"], pdf_tags=False, timestamp=0, sys_inputs=inputs
    )
