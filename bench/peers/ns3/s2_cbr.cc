// Benchmark s2-cbr in ns-3: 2000 constant-rate flows, one token-bucket meter, one FIFO link.
//
// 200 bytes (IP level) every 20 ms each, at a random phase: 160 Mbit/s in all, metered as one
// aggregate (150 Mbit/s, 50 kB), on a 400 Mbit/s, 1 ms link. Two ways: --stack=udp sends over UDP
// and IP sockets, as an ns-3 user would; --stack=device hands packets straight to the
// point-to-point device, the least that ns-3 can do for a packet and its queue. The rate is raised
// by 202/200 for the two bytes of PPP header. ns-3 has no meter; the sender calls the one below.

#include "common.h"
#include "udp.h"

#include <ns3/traffic-control-module.h>

#include <algorithm>
#include <deque>
#include <optional>

using namespace ns3;

namespace
{

constexpr uint32_t kPacket = 200;
constexpr uint16_t kPort = 9;
constexpr uint16_t kIpv4 = 0x0800;

// Token bucket of two colours: green while the tokens last, else red, nothing consumed.
class TokenBucketMeter
{
  public:
    TokenBucketMeter(double bytesPerSecond, double burst)
        : m_rate(bytesPerSecond),
          m_burst(burst),
          m_tokens(burst)
    {
    }

    void Meter(uint32_t size)
    {
        double now = Simulator::Now().GetSeconds();
        m_tokens = std::min(m_burst, m_tokens + m_rate * (now - m_last));
        m_last = now;
        bool green = m_tokens >= size;
        m_tokens -= green ? size : 0;
        ++(green ? m_green : m_red);
    }

    double GreenShare() const { return static_cast<double>(m_green) / (m_green + m_red); }

  private:
    double m_rate;
    double m_burst;
    double m_tokens;
    double m_last = 0;
    uint64_t m_green = 0;
    uint64_t m_red = 0;
};

// A FIFO of any length towards a 1 ms link of 400 Mbit/s at IP level.
NetDeviceContainer
Connect(const NodeContainer& nodes)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate",
                            DataRateValue(DataRate(400'000'000ULL * (kPacket + 2) / kPacket)));
    link.SetChannelAttribute("Delay", StringValue("1ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    return link.Install(nodes);
}

Ipv4Address
InstallInternet(const NodeContainer& nodes, const NetDeviceContainer& devices)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.Install(nodes);
    auto address = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices).GetAddress(1);
    // Without the queue discipline that ns-3 installs unasked: the device's queue is the FIFO.
    TrafficControlHelper().Uninstall(devices);
    return address;
}

} // namespace

int
main(int argc, char* argv[])
{
    double seconds = 60;
    uint32_t flows = 2000;
    uint32_t seed = 1;
    std::string stack = "udp";
    CommandLine cmd(__FILE__);
    cmd.AddValue("seconds", "simulated time, s", seconds);
    cmd.AddValue("flows", "number of flows", flows);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.AddValue("stack", "udp or device", stack);
    cmd.Parse(argc, argv);
    NS_ABORT_MSG_UNLESS(stack == "udp" || stack == "device", "--stack is udp or device");
    RngSeedManager::SetRun(seed);

    NodeContainer nodes(2);
    auto devices = Connect(nodes);
    auto sender = devices.Get(0);
    auto to = devices.Get(1)->GetAddress();
    bool udp = stack == "udp";
    auto address = udp ? InstallInternet(nodes, devices) : Ipv4Address();

    TokenBucketMeter meter(150e6 / 8, 50'000);
    auto phase = CreateObject<UniformRandomVariable>();
    std::deque<peer::Ticker> sources;
    for (uint32_t k = 0; k < flows; ++k)
    {
        auto socket = udp ? peer::ConnectedSender(nodes.Get(0), address, kPort) : nullptr;
        auto send = [&meter, sender, to, socket] {
            meter.Meter(kPacket);
            if (socket)
            {
                socket->Send(Create<Packet>(kPacket - 28));
            }
            else
            {
                sender->Send(Create<Packet>(kPacket), to, kIpv4);
            }
        };
        sources.emplace_back([] { return MilliSeconds(20); }, send);
        sources.back().Start(Seconds(phase->GetValue(0, 0.02)));
    }

    uint64_t received = 0;
    std::optional<peer::CountingSink> sink;
    if (udp)
    {
        sink.emplace(nodes.Get(1), kPort);
    }
    else
    {
        devices.Get(1)->SetReceiveCallback(
            [&received](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                ++received;
                return true;
            });
    }
    double wall = peer::RunFor(Seconds(seconds));
    uint64_t delivered = udp ? sink->Received() : received;
    peer::Report("ns3/s2-cbr/" + stack, wall, peer::LinkTraversals(sender), delivered,
                 {{"udp_bps", delivered * kPacket * 8.0 / seconds},
                  {"green_share", meter.GreenShare()}});
    Simulator::Destroy();
    return 0;
}
