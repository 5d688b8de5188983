#include "server/access/caller.h"

#include "gtest/gtest.h"

namespace cobra::server {
namespace {

TEST(CallerTest, IsTheAddressWithoutThePort) {
  EXPECT_EQ(CallerOfPeer("ipv4:192.0.2.1:40000"), "192.0.2.1");
  EXPECT_EQ(CallerOfPeer("ipv4:192.0.2.1:40001"), "192.0.2.1");
  EXPECT_EQ(CallerOfPeer("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:40000"), "2001:db8:1:2::/64");
  EXPECT_EQ(CallerOfPeer("ipv6:[2001:db8:1:2::7]:40000"), "2001:db8:1:2::/64");
  EXPECT_EQ(CallerOfPeer("ipv6:%5Bfe80::1%25eth0%5D:40000"), "fe80::/64");
  EXPECT_EQ(CallerOfPeer("ipv6:%5B::ffff:192.0.2.1%5D:40000"), "192.0.2.1");
  EXPECT_EQ(CallerOfPeer("unix:"), "unix");
  EXPECT_EQ(CallerOfPeer("unix:/run/cobra.sock"), "unix");
}

}  // namespace
}  // namespace cobra::server
