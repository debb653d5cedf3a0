// The part of benchmark s10-mix that ns-3 has, or has something like.
//
// RRUL: links, delays, four greedy CUBIC flows each way and three probes each way are equal. In
// place of CAKE each direction has a token bucket of 15 kB over FqCobalt, the same queues and the
// same law in each, but no classes: flows share equally whatever their DSCP. The other link: ns-3
// has neither DualPI2 nor Prague nor BBRv3. So it has PIE with the same target, ten flows and four
// web clients of BBR (version 1) and of CUBIC, and none of Prague.

#include "clients.h"

#include <list>

using namespace ns3;

namespace
{

class Mix
{
  public:
    Mix()
    {
        AddRrul();
        AddControls();
    }

    uint64_t Hops() const { return m_net.Hops(); }
    uint64_t Forward() const
    {
        return peer::LinkTraversals(m_shaped) + peer::LinkTraversals(m_shared);
    }

    std::vector<std::pair<std::string, double>> Fields(double seconds) const
    {
        double per_second = 8 / seconds;
        std::vector<std::pair<std::string, double>> fields = {
            {"down_bps", Sum(m_down) * per_second},
            {"up_bps", Sum(m_up) * per_second}};
        for (const auto& [name, group] : m_groups)
        {
            double web = 0;
            double greedy = 0;
            for (const auto& client : group.web)
            {
                web += client.Received();
            }
            for (const auto& flow : group.greedy)
            {
                greedy += flow.Received();
            }
            fields.emplace_back(name + "_bps", greedy * per_second);
            fields.emplace_back(name + "_web_bps", web * per_second);
        }
        return fields;
    }

  private:
    struct Group
    {
        std::list<peer::Connection> greedy;
        std::list<peer::WebClient> web;
    };

    static double Sum(const std::vector<Ptr<PacketSink>>& sinks)
    {
        double sum = 0;
        for (const auto& sink : sinks)
        {
            sum += sink->GetTotalRx();
        }
        return sum;
    }

    void AddRrul()
    {
        auto server = m_net.Host();
        auto home = m_net.Host();
        const char* queue = "ns3::FqCobaltQueueDisc";
        auto devices =
            m_net.Link(server, home, MilliSeconds(20), {1e9, queue, 100e6}, {1e9, queue, 20e6});
        m_shaped = devices.Get(0);
        auto down = m_net.Route({server, home});
        for (int i = 0; i < 4; ++i)
        {
            m_down.push_back(peer::Greedy(down, m_port++, Start(1)));
            m_up.push_back(peer::Greedy(down.Back(), m_port++, Start(1)));
        }
        for (int i = 0; i < 3; ++i)
        {
            m_probes.emplace_back(down, m_port++, 100, 40e3, Start(0.02));
            m_probes.emplace_back(down.Back(), m_port++, 100, 40e3, Start(0.02));
        }
    }

    void AddControls()
    {
        constexpr uint64_t kEndless = uint64_t{1} << 60;
        auto from = m_net.Host();
        auto to = m_net.Host();
        auto devices =
            m_net.Link(from, to, MilliSeconds(10), {200e6, "ns3::PieQueueDisc"}, {200e6});
        m_shared = devices.Get(0);
        auto way = m_net.Route({from, to});
        for (auto control : {TcpBbr::GetTypeId(), TcpCubic::GetTypeId()})
        {
            auto& group = m_groups[control == TcpBbr::GetTypeId() ? "bbr" : "cubic"];
            for (int i = 0; i < 10; ++i)
            {
                auto start = Start(1);
                auto& flow = group.greedy.emplace_back(way, m_port++, start, control);
                Simulator::Schedule(start, [&flow] { flow.Get(kEndless, nullptr); });
            }
            for (int i = 0; i < 4; ++i)
            {
                group.web.emplace_back(way, m_port, 2, control);
                m_port += peer::WebClient::kConnections;
            }
        }
    }

    Time Start(double within) { return Seconds(m_uniform->GetValue(0, within)); }

    peer::Network m_net;
    Ptr<NetDevice> m_shaped;
    Ptr<NetDevice> m_shared;
    Ptr<UniformRandomVariable> m_uniform = CreateObject<UniformRandomVariable>();
    uint16_t m_port = 1000;
    std::vector<Ptr<PacketSink>> m_down;
    std::vector<Ptr<PacketSink>> m_up;
    std::list<peer::ConstantRate> m_probes;
    std::map<std::string, Group> m_groups;
};

} // namespace

int
main(int argc, char* argv[])
{
    double seconds = 20;
    uint32_t seed = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("seconds", "simulated time, s", seconds);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    peer::SetLinuxDefaults();
    Config::SetDefault("ns3::PieQueueDisc::QueueDelayReference", TimeValue(MilliSeconds(15)));
    Config::SetDefault("ns3::PieQueueDisc::MaxSize", StringValue("10000p"));

    Mix mix;
    double wall = peer::RunFor(Seconds(seconds));
    peer::Report("ns3/s10-mix", wall, mix.Hops(), mix.Forward(), mix.Fields(seconds));
    Simulator::Destroy();
    return 0;
}
