// Benchmark s6-fq in ns-3: 1,000 CUBIC flows through FQ-CoDel at 10 Gbit/s, round trips of 40 ms.

#include "bulk.h"

namespace
{

peer::BulkLink
Build()
{
    // A flow's share is 33 packets of 1500 B a round trip; the buffers hold twenty times that.
    peer::SetBulkDefaults("ns3::TcpCubic", 1 << 20);
    return peer::BulkLink(10e9, 1000, "ns3::FqCoDelQueueDisc", "10240p");
}

} // namespace

int
main(int argc, char* argv[])
{
    return peer::RunBulk("ns3/s6-fq", argc, argv, 10, Build);
}
