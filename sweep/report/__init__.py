"""Answers as text for people: pure functions, no files, no options, no computing.

Files, in import order: `blocks` (sections, paragraphs, tables), `words` (numbers, names and units as text), `plain` and
`terminal` (sections to text), `point` (what every answer says of an operating point), then one file per answer.
"""
