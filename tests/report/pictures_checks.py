"""What a picture must keep to, whatever it shows: no text over another, and none beyond the sheet."""

import itertools

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sweep.report.pictures.files import _STYLE

SLACK_PIXELS = 2
"""Of 300 per inch: what the ink of a letter may reach over its line."""


def drawn(draw, inches):
    """A figure under the style of `sweep plot`, rendered."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = draw(inches)
        figure.set_dpi(300)
        FigureCanvasAgg(figure).draw()
    return figure


def texts(figure):
    """Every text outside the maps, with the box that its ink takes."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    return [(text.get_text(), text.get_window_extent(renderer)) for text in figure.texts if text.get_text().strip()]


def faults(figure):
    """Texts that overlap, and texts that leave the sheet."""
    found = texts(figure)
    wide, tall = figure.get_size_inches() * figure.dpi
    outside = [
        text
        for text, box in found
        if box.x0 < -SLACK_PIXELS
        or box.y0 < -SLACK_PIXELS
        or box.x1 > wide + SLACK_PIXELS
        or box.y1 > tall + SLACK_PIXELS
    ]
    over = [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(found, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > SLACK_PIXELS and min(a.y1, b.y1) - max(a.y0, b.y0) > SLACK_PIXELS
    ]
    return outside, over
