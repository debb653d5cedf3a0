"""mm1.toml at seven loads beside theory: a picture for a lecture, mm1.svg or the file named."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from forebay import Network, style

net = Network.from_toml(Path(__file__).with_name("mm1.toml"))
loads = [0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9]
runs = [
    net.copy().set("flows.arrivals.traffic.poisson.rate", f"{10 * load} Mbit/s").run(replications=4)
    for load in loads
]
delays = [found.interval("groups", "arrivals", "mean_delay_s") for found in runs]
theory = [0.32 / (1 - load) for load in loads]  # ms, of packets that take 0.32 ms
for load, delay, wanted in zip(loads, delays, theory, strict=True):
    measured = f"{1e3 * delay.mean:.2f} ± {1e3 * delay.half_width:.2f} ms"
    print(f"load {load:.2f}: {measured}; theory {wanted:.2f} ms")
with style("paper"):
    figure, axes = plt.subplots()
    axes.plot(loads, theory, label="theory")
    bars = [1e3 * delay.half_width for delay in delays]
    axes.errorbar(loads, [1e3 * delay.mean for delay in delays], bars, fmt="o", label="measured")
    axes.set(xlabel="load", ylabel="mean time in the system, ms")
    axes.legend()
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "mm1.svg")
