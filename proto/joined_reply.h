// One reply of several, each of which answers for some of a question's targets: a program may be
// another network for another version of PyTorch.
#ifndef COBRA_PROTO_JOINED_REPLY_H_
#define COBRA_PROTO_JOINED_REPLY_H_

#include <map>
#include <string>
#include <vector>

#include "cobra/v1/cobra.pb.h"

namespace cobra::proto {

class JoinedReply {
 public:
  // A target may be there twice; it is answered once.
  explicit JoinedReply(std::vector<std::string> targets) : targets_(std::move(targets)) {}

  void Add(v1::PredictResponse part);
  // The predictions in the order of the targets, the times together, and what is stated about the
  // network from the part that has the first target.
  v1::PredictResponse Take() &&;

 private:
  const std::vector<std::string> targets_;
  std::map<std::string, v1::TargetPrediction> predictions_;
  v1::PredictResponse whole_;
  double read_us_ = 0, predict_us_ = 0;
};

}  // namespace cobra::proto

#endif  // COBRA_PROTO_JOINED_REPLY_H_
