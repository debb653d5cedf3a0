// Benchmark s9-access in ns-3: an access network of 200 homes on one cable.
//
// Equal: the links, their rates, delays and queues (a token bucket of 15 kB over FqCoDel at each
// home in either direction, FqCoDel at the cable), and the flows: six connections of a web client
// in each home with bounded Pareto sizes, adaptive video in two of five, a game in every third, a
// backup in every tenth. TCP is CUBIC with HyStart, SACK and timestamps. Not equal: ns-3 opens its
// connections by a handshake, has neither RACK nor tail loss probes, and keeps the window of idle
// connections.

#include "clients.h"

#include <list>

using namespace ns3;

namespace
{

class Access
{
  public:
    explicit Access(uint32_t homes)
    {
        auto head = m_net.Host();
        auto tail = m_net.Host();
        const char* fq = "ns3::FqCoDelQueueDisc";
        m_cable = m_net.Link(head, tail, MilliSeconds(2), {1e9, fq}, {50e6, fq}).Get(0);
        for (uint32_t i = 0; i < homes; ++i)
        {
            auto site = m_net.Host();
            auto home = m_net.Host();
            m_net.Link(m_core, site, MilliSeconds(4), {10e9}, {10e9});
            m_net.Link(site, head, MicroSeconds(100), {1e9, fq, 100e6}, {10e9});
            m_net.Link(home, tail, MicroSeconds(100), {1e9, fq, 10e6}, {10e9});
            AddFlows(m_net.Route({m_core, site, head, tail, home}), i);
        }
    }

    uint64_t Hops() const { return m_net.Hops(); }
    uint64_t Cable() const { return peer::LinkTraversals(m_cable); }

    std::vector<std::pair<std::string, double>> Fields(double seconds) const
    {
        double pages = 0;
        double web = 0;
        for (const auto& client : m_web)
        {
            pages += client.Pages();
            web += client.Received();
        }
        double video = 0;
        for (const auto& client : m_video)
        {
            video += client.Received();
        }
        double games = 0;
        for (const auto& game : m_games)
        {
            games += game.Received();
        }
        double backups = 0;
        for (const auto& sink : m_backups)
        {
            backups += sink->GetTotalRx();
        }
        return {{"pages", pages},
                {"web_bps", web * 8 / seconds},
                {"video_bps", video * 8 / seconds},
                {"game_packets", games},
                {"backup_bps", backups * 8 / seconds}};
    }

  private:
    Time Start() { return Seconds(m_uniform->GetValue(0, 5)); }

    // Flows of a home, to which the way leads.
    void AddFlows(const peer::Way& down, uint32_t i)
    {
        m_web.emplace_back(down, m_port, 5);
        m_port += peer::WebClient::kConnections;
        if (i % 5 < 2)
        {
            m_video.emplace_back(down, m_port++, Start());
        }
        if (i % 3 == 0)
        {
            m_games.emplace_back(down, m_port++, 300, 160e3, Start());
            m_games.emplace_back(down.Back(), m_port++, 120, 64e3, Start());
        }
        if (i % 10 == 0)
        {
            m_backups.push_back(peer::Greedy(down.Back(), m_port++, Start()));
        }
    }

    peer::Network m_net;
    Ptr<Node> m_core = m_net.Host();
    Ptr<NetDevice> m_cable;
    Ptr<UniformRandomVariable> m_uniform = CreateObject<UniformRandomVariable>();
    uint16_t m_port = 1000;
    std::list<peer::WebClient> m_web;
    std::list<peer::VideoClient> m_video;
    std::list<peer::ConstantRate> m_games;
    std::vector<Ptr<PacketSink>> m_backups;
};

} // namespace

int
main(int argc, char* argv[])
{
    double seconds = 12;
    uint32_t homes = 200;
    uint32_t seed = 1;
    CommandLine cmd(__FILE__);
    cmd.AddValue("seconds", "simulated time, s", seconds);
    cmd.AddValue("homes", "homes on the cable", homes);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    peer::SetLinuxDefaults();

    Access access(homes);
    double wall = peer::RunFor(Seconds(seconds));
    peer::Report("ns3/s9-access", wall, access.Hops(), access.Cable(), access.Fields(seconds));
    Simulator::Destroy();
    return 0;
}
