#ifndef COBRA_BASE_FILE_DESCRIPTOR_H_
#define COBRA_BASE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace cobra {

// Owns a file or socket descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = other.Release();
    }
    return *this;
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace cobra

#endif  // COBRA_BASE_FILE_DESCRIPTOR_H_
