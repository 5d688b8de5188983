// A form as a request for a prediction, for people who type:
//   curl -F model=@net.py -F input=1x3x224x224 http://127.0.0.1:50080/v1/predict
// docs/http.md lists the fields.
#ifndef COBRA_SERVER_HTTP_PREDICT_FORM_H_
#define COBRA_SERVER_HTTP_PREDICT_FORM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "cobra/v1/cobra.pb.h"
#include "server/http/form.h"

namespace cobra::http {

// In whose words errors say what to do: options of curl, or what stands on the page of /ui.
enum class Asker { kCurl, kPage };

// Without a target where the form names none. Errors are Diagnostics of kind kUsage that begin with
// the field.
absl::StatusOr<v1::PredictRequest> PredictRequestOf(const std::vector<Part>& parts, Asker asker = Asker::kCurl);

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_PREDICT_FORM_H_
