#include "lab/variants/space_net_variants.h"

#include <algorithm>
#include <utility>

namespace cobra::lab {
namespace {

class NetWithoutMessages : public space::AdditiveNet {
 public:
  NetWithoutMessages(const space::AdditiveNetOptions& options, const std::vector<std::string>& left_out)
      : AdditiveNet(options, Without(left_out)) {}

 private:
  static std::vector<Message> Without(const std::vector<std::string>& left_out) {
    std::vector<Message> kept;
    for (const Message& message : AllMessages()) {
      if (std::find(left_out.begin(), left_out.end(), message.name) == left_out.end()) kept.push_back(message);
    }
    return kept;
  }
};

class NetOfSums : public space::AdditiveNet {
 public:
  explicit NetOfSums(const space::AdditiveNetOptions& options) : AdditiveNet(options) {}

 private:
  at::Tensor ReadOut(const at::Tensor& nodes, const space::DenseGraphs& graphs) override {
    return out_(norm_((nodes * graphs.present.unsqueeze(-1)).sum(1))).squeeze(-1);
  }
};

}  // namespace

MakeSpaceNet WithoutMessages(std::vector<std::string> messages) {
  return [messages = std::move(messages)](const space::AdditiveNetOptions& options) {
    return std::make_shared<NetWithoutMessages>(options, messages);
  };
}

std::shared_ptr<space::AdditiveNet> MakeNetOfSums(const space::AdditiveNetOptions& options) {
  return std::make_shared<NetOfSums>(options);
}

}  // namespace cobra::lab
