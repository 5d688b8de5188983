#ifndef COBRA_TESTS_SERVER_HTTP_EXCHANGE_H_
#define COBRA_TESTS_SERVER_HTTP_EXCHANGE_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/file/descriptor.h"
#include "gtest/gtest.h"

namespace cobra::server {

// A connection to a port of this machine.
inline Descriptor ConnectTo(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

// What a port of this machine answers to the bytes of `request`.
inline std::string Exchange(int port, const std::string& request) {
  const Descriptor connection = ConnectTo(port);
  const int fd = connection.get();
  EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string reply;
  char buffer[4096];
  for (ssize_t n; (n = ::recv(fd, buffer, sizeof(buffer), 0)) > 0;) reply.append(buffer, n);
  return reply;
}

}  // namespace cobra::server

#endif  // COBRA_TESTS_SERVER_HTTP_EXCHANGE_H_
