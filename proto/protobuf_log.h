#ifndef COBRA_PROTO_PROTOBUF_LOG_H_
#define COBRA_PROTO_PROTOBUF_LOG_H_

namespace cobra::proto {

// Protocol buffers write a line to standard error for each message that they cannot read. Its
// sender gets an error, so the line is dropped: clients would fill the log. What ends the process
// goes through our log.
void LogOnlyFatal();

}  // namespace cobra::proto

#endif  // COBRA_PROTO_PROTOBUF_LOG_H_
