"""edge.toml with as many calls as were agreed, and twice as many: what each class gets, ± 95 %."""

from pathlib import Path

from forebay import Network

net = Network.from_toml(Path(__file__).with_name("edge.toml"))
print("calls  class          throughput      delay, 99 %      lost")
for calls in (20, 40):
    found = net.copy().set("flows.calls.count", calls).run(replications=4)
    for name in ("calls", "business", "rest"):
        rate = found.interval("groups", name, "throughput_bps")
        delay = found.interval("groups", name, "p99_delay_s")
        sent = found.interval("groups", name, "sent_packets").mean
        lost = found.interval("groups", name, "dropped_packets").mean / sent
        told = f"{rate.mean / 1e6:5.2f} ± {rate.half_width / 1e6:.2f} Mbit/s"
        told += f"   {1e3 * delay.mean:6.2f} ± {1e3 * delay.half_width:.2f} ms   {lost:6.2%}"
        print(f"{calls:5}  {name:8}  {told}")
