"""bufferbloat.toml with three queues: percentiles, Jain's index and completion times, ± 95 %."""

from pathlib import Path

from forebay import Network, queue

net = Network.from_toml(Path(__file__).with_name("bufferbloat.toml"))
laws = {
    "tail drop": queue.droptail(limit="425 packets"),
    "CoDel": queue.codel(),
    "FQ-CoDel": queue.fq_codel(),
}
print("queue      ping, 99 %      page, median    Jain's index of uploads")
for name, law in laws.items():
    found = net.copy().set("links.access.queue", law).run(replications=4)
    ping = found.interval("groups", "ping", "p99_delay_s")
    page = found.interval("transfers", "pages", "p50_completion_s")
    jain = found.interval("groups", "uploads", "jain_index")
    times = "   ".join(f"{1e3 * x.mean:5.0f} ± {1e3 * x.half_width:2.0f} ms" for x in (ping, page))
    print(f"{name:9}  {times}   {jain.mean:.3f} ± {jain.half_width:.3f}")
