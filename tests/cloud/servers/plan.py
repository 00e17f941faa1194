"""Which requests fail, and how."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.cloud.servers.faults import Fault
from tests.cloud.servers.wire import Request


@dataclass
class Rule:
    """Requests of some kinds, for keys of a pattern, from the nth on and so many times."""

    faults: Sequence[Fault]
    kind: str
    key: str
    nth: int
    times: int
    share: float
    choose: random.Random
    seen: int = 0
    done: int = 0

    def take(self, request: Request) -> Fault | None:
        if not re.fullmatch(self.kind, request.kind) or not re.search(self.key, request.key):
            return None
        self.seen += 1
        if self.seen < self.nth or self.done == self.times:
            return None
        if self.share < 1 and self.choose.random() >= self.share:
            return None
        self.done += 1
        return self.faults[0] if len(self.faults) == 1 else self.choose.choice(self.faults)


@dataclass
class Plan:
    """Rules, of which the first that fits is followed."""

    rules: list[Rule] = field(default_factory=list)

    def add(
        self,
        *faults: Fault,
        kind: str = "get",
        key: str = "",
        nth: int = 1,
        times: int = -1,
        share: float = 1.0,
        seed: int = 1,
    ) -> Rule:
        """Let requests fail.

        Args:
            *faults: Ways to fail, of which one is chosen by chance.
            kind: A pattern that the whole kind must fit: get, head, put, list, part, "put|part" …
            key: A pattern that must be found in the key.
            nth: The first matching request that fails.
            times: How many fail; without end if negative.
            share: Of the matching requests, how many fail, from 0 to 1.
            seed: What chance starts from.

        Returns:
            The rule, which counts what it has `seen` and `done`.
        """
        rule = Rule(faults, kind, key, nth, times, share, random.Random(seed))
        self.rules.append(rule)
        return rule

    def take(self, request: Request) -> Fault | None:
        for rule in self.rules:
            fault = rule.take(request)
            if fault is not None:
                return fault
        return None

    def clear(self) -> None:
        self.rules.clear()
