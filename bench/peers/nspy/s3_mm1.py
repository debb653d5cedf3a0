"""Benchmark s3-mm1 in ns.py: Poisson arrivals, exponential sizes, one server, load 0.8.

Arguments: packets=250000 seed=1. Mean 400 bytes on 10 Mbit/s, a packet every 0.4 ms on average;
sizes are not rounded to whole bytes.
"""

import random

import simpy
from common import arguments, counting_sink, run
from ns.packet.dist_generator import DistPacketGenerator
from ns.port.port import Port

RATE = 10e6

setting = arguments({"packets": 250_000, "seed": 1})
draw = random.Random(setting["seed"]).expovariate
env = simpy.Environment()
sink = counting_sink(env)
port = Port(env, RATE)
port.out = sink
source = DistPacketGenerator(env, "arrivals", lambda: draw(2500), lambda: draw(1 / 400))
source.out = port
run("s3-mm1", env, sink, setting["packets"] / 2500, RATE)
