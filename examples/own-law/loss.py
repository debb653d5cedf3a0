"""Independent losses, as an impairment of one's own."""

import forebay
from forebay.laws import LOST_ON_WIRE, PASSES, happens, refuse


@forebay.law(
    kind="impairment",
    source="tc-netem(8), loss random",
    example="probability = 0.01",
    draws=True,
)
class my_loss:
    """Loses each packet with the same probability, whatever became of others.

    probability: Probability with which a packet is lost, 0 to 1.
    """

    probability: float

    def create(law, at):
        if not 0 <= law.probability <= 1:
            refuse("probability", f"{law.probability} is no probability; allowed are 0 to 1")

    def passage(law, at):
        return LOST_ON_WIRE if happens(at, law.probability) else PASSES
