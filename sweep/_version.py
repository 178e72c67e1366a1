"""The product's version: one constant, so that no run pays for reading package metadata."""

__version__ = "0.1.0"
