"""The rows of the table: each file registers its own, and is found by being here."""
