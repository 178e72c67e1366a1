"""The draft room: what is known of GPU, model, traffic and step time -> a commented grid that runs as it is.

It stands after `calibrate`, whose table it puts into a grid, and before `report`: a grid's text is an input of the
product, no page that somebody looks at, so it has no width of a terminal and no colours.
"""
