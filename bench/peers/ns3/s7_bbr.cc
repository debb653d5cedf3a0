// Benchmark s7-bbr in ns-3: 100 BBR flows share 1 Gbit/s behind four bandwidth-delay products.

#include "bulk.h"

namespace
{

peer::BulkLink
Build()
{
    // A flow's share is 33 packets of 1500 B a round trip; the buffers hold twenty times that.
    peer::SetBulkDefaults("ns3::TcpBbr", 1 << 20);
    return peer::BulkLink(1e9, 100, nullptr, "20000000B");
}

} // namespace

int
main(int argc, char* argv[])
{
    return peer::RunBulk("ns3/s7-bbr", argc, argv, 20, Build);
}
