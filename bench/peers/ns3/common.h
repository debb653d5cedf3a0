// What the ns-3 programs share: the Poisson and constant-rate sender, and the result line.
//
// Every program takes ns-3's own --key=value arguments and prints one JSON object on stdout.
// Nothing is traced or logged; ns-3 leaves checksums out unless told otherwise.

#pragma once

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace peer
{

// Calls `send` again and again, each time after the gap that `gap` draws.
class Ticker
{
  public:
    Ticker(std::function<ns3::Time()> gap, std::function<void()> send)
        : m_gap(std::move(gap)),
          m_send(std::move(send))
    {
    }

    void Start(ns3::Time delay)
    {
        ns3::Simulator::Schedule(delay, &Ticker::Tick, this);
    }

  private:
    void Tick()
    {
        m_send();
        ns3::Simulator::Schedule(m_gap(), &Ticker::Tick, this);
    }

    std::function<ns3::Time()> m_gap;
    std::function<void()> m_send;
};

// Packets a point-to-point device has put on its link so far: taken into its queue (all are, even
// when the line is free) less those still there. The queue keeps the count whether read or not.
inline uint64_t
LinkTraversals(ns3::Ptr<ns3::NetDevice> device)
{
    auto queue = ns3::DynamicCast<ns3::PointToPointNetDevice>(device)->GetQueue();
    return queue->GetTotalReceivedPackets() - queue->GetNPackets();
}

// Runs to `until` and returns the wall time of the event loop in seconds.
inline double
RunFor(ns3::Time until)
{
    ns3::Simulator::Stop(until);
    auto start = std::chrono::steady_clock::now();
    ns3::Simulator::Run();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    return wall.count();
}

// Prints the result as one JSON object.
inline void
Report(const std::string& program,
       double wall,
       uint64_t hops,
       uint64_t delivered,
       const std::vector<std::pair<std::string, double>>& fields)
{
    std::printf("{\"program\": \"%s\", \"simulated_s\": %.9g, \"run_wall_s\": %.6f, ",
                program.c_str(),
                ns3::Simulator::Now().GetSeconds(),
                wall);
    std::printf("\"events\": %llu, \"packet_hops\": %llu, \"packets_delivered\": %llu",
                static_cast<unsigned long long>(ns3::Simulator::GetEventCount()),
                static_cast<unsigned long long>(hops),
                static_cast<unsigned long long>(delivered));
    for (const auto& [name, value] : fields)
    {
        std::printf(", \"%s\": %.9g", name.c_str(), value);
    }
    std::printf("}\n");
}

} // namespace peer
