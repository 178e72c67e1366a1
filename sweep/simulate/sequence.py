"""A request on its replica, from arrival to finish."""

from sweep.simulate.request import NEVER, Request


class Sequence:
    """What a replica knows of one request.

    Attributes:
        request: what arrived.
        number: its place in the order of arrival; the lower the older.
        order: (policy's key, number).
        emitted: output tokens emitted before it was last let in; preemption keeps them.
        target: tokens to prefill: the prompt and what was emitted.
        prefilled: of those, by prefix hits and prefill.
        hashes: of the units that it holds.
        units: leading units of its prompt that it has computed or hit.
        promise: blocks that it was promised when it was let in, those of prefix hits included.
        prefilled_at: the iteration whose end brought its prefill to an end; NEVER while it prefills.
        due: the iteration whose end will bring its last token.
        phase: iterations ≡ phase modulo the tokens of a block take a new block for it.
        let_in_ns: when it was last given a slot.
        first_let_in_ns, first_token_ns, last_token_ns: as they say; `last_token_ns` is kept up at preemption only.
        preemptions: how often it lost its slot.
        hit_tokens: of its prompt that were there when it was first let in.
        passed_run_ns, passed_ns: how long it has been passed over in a row, and the longest that was.
    """

    __slots__ = (
        "due",
        "emitted",
        "first_let_in_ns",
        "first_token_ns",
        "hashes",
        "hit_tokens",
        "last_token_ns",
        "let_in_ns",
        "number",
        "order",
        "passed_ns",
        "passed_run_ns",
        "phase",
        "preemptions",
        "prefilled",
        "prefilled_at",
        "promise",
        "request",
        "target",
        "units",
    )

    def __init__(self, request: Request, number: int, key: int) -> None:
        self.request, self.number, self.order = request, number, (key, number)
        self.target = request.prompt_tokens
        self.emitted = self.prefilled = self.units = self.promise = self.due = self.phase = 0
        self.preemptions = self.hit_tokens = self.passed_run_ns = self.passed_ns = 0
        self.prefilled_at = self.let_in_ns = self.first_let_in_ns = NEVER
        self.first_token_ns = self.last_token_ns = NEVER
        self.hashes: list[int] = []

    def kv_tokens(self, step: int) -> int:
        """Tokens in the KV cache after an iteration: each iteration after the prefill feeds one emitted token."""
        return self.prefilled if self.prefilled_at == NEVER else self.target + step - self.prefilled_at
