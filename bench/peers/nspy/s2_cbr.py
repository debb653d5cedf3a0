"""Benchmark s2-cbr in ns.py: 2000 flows, 200 bytes every 20 ms each, random phase, one link.

Arguments: seconds=1.2 seed=1. 400 Mbit/s, 1 ms. There is no meter: those of ns.py hold packets back
instead of colouring them.
"""

import random

import simpy
from common import arguments, counting_sink, run
from ns.packet.dist_generator import DistPacketGenerator
from ns.port.port import Port
from ns.port.wire import Wire

RATE = 400e6

setting = arguments({"seconds": 1.2, "seed": 1})
phase = random.Random(setting["seed"]).random
env = simpy.Environment()
sink = counting_sink(env)
wire = Wire(env, lambda: 0.001)
wire.out = sink
port = Port(env, RATE)
port.out = wire
for number in range(2000):
    source = DistPacketGenerator(
        env, number, lambda: 0.02, lambda: 200, initial_delay=0.02 * phase(), flow_id=number
    )
    source.out = port
run("s2-cbr", env, sink, setting["seconds"], RATE)
