"""Asks a server."""
from __future__ import annotations

import asyncio
import re
import time
import uuid
from typing import Any, AsyncIterator, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Union

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from . import adapting, models, retries
from ._proto import cobra_pb2 as pb
from ._proto import error_pb2
from .adapting import Adapted, Spec, Suggestions, Timed
from .errors import (
    CobraError,
    LimitReached,
    ModelError,
    Place,
    ServerError,
    ServerUnavailable,
    UsageError,
    carried,
    one_line,
)
from .results import Comparison, Explanation, Prediction, Targets

# gRPC inflates a compressed reply before it looks at its size: compressed replies are refused.
_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", 64 << 20),
    ("grpc.compression_enabled_algorithms_bitset", 1),
    ("grpc.per_message_decompression", 0),
]
_DETAILS = "grpc-status-details-bin"
_SERVICE = "/cobra.v1.Cobra/"
_MAKE_VERSIONS = ("Adapt", "Observe")  # of a target
_LEAST_DELAY_S = 0.01
_MOST_ASKED_SINGLY = 3  # targets
_MOST_QUESTIONS = 2_000  # of one message
_MOST_BYTES = 16 << 20
_ALL_OF_A_NETWORK = (pb.NETWORK_PART_FINGERPRINT, pb.NETWORK_PART_COUNTS, pb.NETWORK_PART_PEAK_MEMORY)
Names = Union[str, Sequence[str]]


class Question(NamedTuple):
    """One of many questions: predict(model, inputs, targets)."""

    model: Any
    inputs: Any = None
    targets: Names = "this-machine"
    breakdown: bool = False
    latency_only: bool = False


class Answer(NamedTuple):
    """What became of one of many questions, which `number` counts from 0: a prediction or an
    error."""

    number: int
    prediction: Optional[Prediction]
    error: Optional[CobraError]

    def get(self) -> Prediction:
        """The prediction; raises the error."""
        if self.prediction is None:
            raise self.error or CobraError("no answer")
        return self.prediction


class Client:
    """A connection to a server. Use it in a `with`, from any thread.

    `timeout_s`: of many questions, how long it may take until one more is answered. A server that
    is busy, or that is UNAVAILABLE for a moment, is asked again.

    `token`, and `authority` (the bytes of a PEM file), are for servers with access control.
    `labels` are stored with each prediction.
    `keep_private`: the server does not enqueue measurements of layers that it does not know.
    """

    def __init__(
        self,
        address: str = "127.0.0.1:50051",
        timeout_s: float = 60.0,
        token: Optional[str] = None,
        authority: Optional[bytes] = None,
        labels: Optional[Mapping[str, str]] = None,
        keep_private: bool = False,
    ) -> None:
        self.address = carried(address, "address")
        self.timeout_s = timeout_s
        self.keep_private = keep_private
        self._given = (address, timeout_s, token, authority, dict(labels or {}), keep_private)
        self._metadata = [_label(name, value) for name, value in (labels or {}).items()]
        if token is not None:
            token = carried(token, "token").strip()  # as read from a file
            if not token.isascii() or not token.isprintable():
                raise UsageError(
                    "token: has characters that cannot be in a token", "give the text that its operator created"
                )
            self._metadata.append(("authorization", "Bearer " + token))
        if authority is not None and not isinstance(authority, bytes):
            raise UsageError(
                "authority: is not bytes", "give the contents of the file: open('authority.pem', 'rb').read()"
            )
        self._credentials = grpc.ssl_channel_credentials(authority) if authority or token else None
        self._channel = (
            grpc.secure_channel(address, self._credentials, _OPTIONS)
            if self._credentials
            else grpc.insecure_channel(address, _OPTIONS)
        )
        self._is_closed = False
        self._known: Set[str] = set()  # targets
        self._memory_gb: Dict[str, float] = {}  # of targets

    def __reduce__(self) -> Tuple[Any, ...]:
        """Searches send it to their workers: there it opens its own connection to the same server."""
        return Client, self._given

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._is_closed = True
        self._channel.close()

    # ---- questions

    def predict(
        self,
        model: Any,
        inputs: Any = None,
        targets: Names = "this-machine",
        *,
        method: str = "forward",
        breakdown: bool = False,
        latency_only: bool = False,
    ) -> Prediction:
        """The latency of one network on one or several targets.

        `model`: a live torch.nn.Module, Source(path, entry), Architecture(text), or the path of an
        .onnx, .tflite or .param file.
        `inputs`: shapes (cobra_latency.shapes).
        `latency_only`: fingerprint, counts and peak memory are neither computed nor stored, and are
        0 or empty; whether it fits is not known. A search gets its answers sooner.
        Raises ModelError with file and line, UsageError, ServerUnavailable ...
        """
        question = Question(model, inputs, targets, breakdown, latency_only)
        reply = self._call("Predict", self._request(question, method), pb.PredictResponse)
        return self._with_memory(_prediction(question, reply))

    def explain(
        self, model: Any, inputs: Any = None, target: Names = "this-machine", *, method: str = "forward", top: int = 10
    ) -> Explanation:
        """Which calls and which lines take the time; of several targets on each."""
        return Explanation(self.predict(model, inputs, target, method=method, breakdown=True), top)

    def compare(
        self, networks: Union[Mapping[str, Any], Sequence[Any]], inputs: Any = None, targets: Names = "this-machine"
    ) -> Comparison:
        """Several networks with the same inputs on the same targets. Networks with names are a
        dictionary."""
        named = networks.items() if isinstance(networks, Mapping) else [(models.name_of(m), m) for m in networks]
        predictions = []
        pairs = list(named)
        for (name, _), answer in zip(pairs, self.predict_many([Question(m, inputs, targets) for _, m in pairs])):
            prediction = answer.get()
            prediction.model = name
            predictions.append(prediction)
        if not predictions:
            raise UsageError("compare([]): has no networks", "give two or more")
        return Comparison(predictions)

    def predict_many(self, questions: Iterable[Question]) -> List[Answer]:
        """Many questions in few messages, answered in their order. One that fails has an error; the
        others have their answers.

        What is not answered in time is asked again, as long as each message brings new answers:
        `timeout_s` is that of one message.
        """
        asked: List[Question] = []
        answers: Dict[int, Answer] = {}
        waiting: Dict[int, pb.PredictRequest] = {}
        size = 0
        for index, question in enumerate(questions):
            asked.append(question)
            try:
                request = self._request(question)
            except CobraError as error:
                answers[index] = Answer(index, None, error)
                continue
            bytes_of_it = request.ByteSize()
            if len(waiting) == _MOST_QUESTIONS or size + bytes_of_it > _MOST_BYTES:
                answers.update(self._answers(waiting, asked))
                waiting, size = {}, 0
            waiting[index] = request
            size += bytes_of_it
        answers.update(self._answers(waiting, asked))
        return [answers[index] for index in range(len(asked))]

    def _answers(self, waiting: Dict[int, pb.PredictRequest], asked: Sequence[Question]) -> Dict[int, Answer]:
        """Asks until everything is answered, or a message brings nothing."""
        answers: Dict[int, Answer] = {}
        attempt = 0
        while waiting:
            batch = pb.PredictBatchRequest(requests=waiting.values())
            try:
                results = self._call("PredictBatch", batch, pb.PredictBatchResponse).results
            except LimitReached:
                if len(waiting) == 1:
                    raise
                return {**answers, **self._halves(waiting, asked)}
            except ServerError as error:
                if error.code != "DEADLINE_EXCEEDED":
                    raise
                return {**answers, **{index: Answer(index, None, error) for index in waiting}}
            if len(results) != len(waiting):
                raise _bad_reply(f"{len(results)} answers to {len(waiting)} questions")
            answers.update((i, self._answer(i, asked[i], result)) for i, result in zip(waiting, results))
            again = {i: r for (i, r), result in zip(waiting.items(), results) if retries.is_unfinished(result)}
            attempt = 0 if len(again) < len(waiting) else attempt + 1
            if attempt >= retries.MOST_ATTEMPTS or attempt > 0 and any(map(retries.is_late, results)):
                break
            if attempt > 0:
                time.sleep(retries.backoff_s(attempt))
            waiting = again
        return answers

    def _answer(self, index: int, question: Question, result: Any) -> Answer:
        answer = _answer(index, question, result)
        if answer.prediction is not None:
            self._with_memory(answer.prediction)
        return answer

    def _with_memory(self, prediction: Prediction) -> Prediction:
        """Says what the devices have: a latency of what does not fit is of no use."""
        unknown = [e.target for e in prediction if e.target not in self._memory_gb]
        for name in unknown if len(unknown) <= _MOST_ASKED_SINGLY else [""]:  # the list of all takes 10 ms
            try:
                sheets = self._call("ListTargets", pb.ListTargetsRequest(name=name), pb.ListTargetsResponse).targets
                self._memory_gb.update((sheet.spec.name, sheet.spec.memory_gb) for sheet in sheets)
            except CobraError:  # then it is not known
                pass
        for estimate in prediction:
            estimate.memory_gb = self._memory_gb.setdefault(estimate.target, 0.0)
        return prediction

    def _halves(self, waiting: Dict[int, pb.PredictRequest], asked: Sequence[Question]) -> Dict[int, Answer]:
        """Of questions whose answers are more than a message may have."""
        items = list(waiting.items())
        middle = len(items) // 2
        return {**self._answers(dict(items[:middle]), asked), **self._answers(dict(items[middle:]), asked)}

    async def stream(self, questions: Iterable[Question]) -> AsyncIterator[Answer]:
        """Many questions on one stream; answers come as they are ready, in any order, with the
        `number` of their question. Questions are made while others are answered, so that a
        generator of a search may be endless.

            async for answer in client.stream(Question(net, "1x3x32x32", "this-machine") for net in candidates):
                print(answer.number, answer.get().ms)
        """
        stream = _Stream(self, questions)
        attempt = 0
        while True:
            before = stream.answered
            failed: Optional[CobraError] = None
            async with stream.channel() as channel:
                try:
                    async for answer in stream.answers(channel):
                        yield answer
                except grpc.RpcError as error:
                    failed = _error_of(error, self.address)
            attempt = 0 if stream.answered > before else attempt + 1
            if failed is None and not stream.unfinished:
                return
            if failed is not None and not retries.is_of_the_stream(failed):
                raise failed
            if attempt >= retries.MOST_ATTEMPTS or attempt > 0 and not self._may_come_back():
                if failed is not None:
                    raise failed
                for answer in stream.unfinished.values():
                    yield answer
                return
            await asyncio.sleep(retries.backoff_s(max(attempt, 1)))

    def targets(self, name: str = "", device: str = "", runtime: str = "", kind: str = "") -> Targets:
        """The targets of the server; each filter is a part of the field, `kind` a whole one ("cpu",
        "gpu")."""
        filters = {"name": name, "device": device, "runtime": runtime, "kind": kind}
        request = pb.ListTargetsRequest(**{field: carried(value, field) for field, value in filters.items()})
        return Targets(self._call("ListTargets", request, pb.ListTargetsResponse))

    # ---- devices that the server was not trained on (docs/adding-a-device.md)

    def adapt(self, name: str, spec: Spec, samples: Iterable[Timed] = (), *, skip_refused: bool = False) -> Adapted:
        """Makes the target `name` from a device's data sheet and up to 50 networks that were timed
        on it.

        A target of that name gets a new version, unless it is a trained one. A sample that the
        server refuses is an error that names its row, and nothing changes; with `skip_refused` it
        is left out instead.
        """
        request = pb.AdaptRequest(name=carried(name, "name"), spec=adapting.spec_of(spec), skip_refused=skip_refused)
        request.samples.extend(adapting.timed_networks(samples))
        return Adapted(self._call("Adapt", request, pb.AdaptResponse))

    def observe(
        self, target: str, model: Any, latency_ms: float, inputs: Any = None, *, row: str = "", timings: int = 1
    ) -> Adapted:
        """Adds the timing of one network to a target that adapt() or a calibration has made: a new
        version of it."""
        return self.observe_many(target, [Timed(model, inputs, latency_ms, row, timings)])

    def observe_many(self, target: str, samples: Iterable[Timed], *, skip_refused: bool = False) -> Adapted:
        """Adds timings of many networks. Of a network that was timed before, the median of all
        timings counts."""
        request = pb.ObserveRequest(target=carried(target, "target"), skip_refused=skip_refused)
        request.samples.extend(adapting.timed_networks(samples))
        if not request.samples:
            raise UsageError(f"{target}: samples=[]: nothing was timed", "give Timed(model, inputs, latency_ms)")
        return Adapted(self._call("Observe", request, pb.AdaptResponse))

    def suggest(self, spec: Spec, networks: Iterable[Tuple[Any, Any]], count: int = 5) -> Suggestions:
        """Which of some networks, pairs of model and inputs, to time first on a device."""
        asked = list(networks)
        if not asked or not 1 <= count < 2**31:
            raise UsageError(
                f"suggest: {count} of {len(asked)} networks: there is nothing to choose",
                "give networks, and how many to choose: count >= 1",
            )
        request = pb.SuggestSamplesRequest(spec=adapting.spec_of(spec), count=count)
        request.networks.extend(adapting.untimed_networks(asked))
        reply = self._call("SuggestSamples", request, pb.SuggestSamplesResponse)
        numbers = {str(number) for number in range(len(asked))}
        if not numbers.issuperset([*reply.rows, *(refused.row for refused in reply.refused)]):
            raise _bad_reply("a network that was not in the question")
        return Suggestions(asked, reply)

    # ---- the call

    def _request(self, question: Question, method: str = "forward") -> pb.PredictRequest:
        names = _names(question)
        if not names:
            raise UsageError("targets=[]: is empty", "Client.targets() lists them")
        targets = [carried(name, "target") for name in names]
        if models.takes_time(question.model):
            self._refuse_unknown(targets)
        request = models.request_of(question.model, question.inputs, method)
        request.targets.extend(targets)
        request.breakdown = question.breakdown
        if question.latency_only:
            request.omit.extend(_ALL_OF_A_NETWORK)
        request.keep_private = self.keep_private
        return request

    def _refuse_unknown(self, targets: Sequence[str]) -> None:
        """Says that a target does not exist before a graph is made for it. The server looks at the
        names before it looks for a model."""
        names = [name for name in targets if name not in self._known]
        if not names:
            return
        try:
            self._call("Predict", pb.PredictRequest(targets=names), pb.PredictResponse)
        except UsageError as error:
            if error.status == "NOT_FOUND":
                raise
        self._known.update(names)

    def _may_come_back(self) -> bool:
        """Whether a server that is not there is waited for."""
        return True

    def _call(self, method: str, request: Any, reply: Any) -> Any:
        """Goes on where the server is busy and says when to come back, and where it starts, stops
        or is out of reach for a moment."""
        call = self._channel.unary_unary(
            _SERVICE + method,
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        metadata = tuple(self._metadata)
        if method in _MAKE_VERSIONS:  # the same for each attempt: after a lost reply it is not done twice
            metadata += (("cobra-request-id", uuid.uuid4().hex),)
        end = time.monotonic() + self.timeout_s
        attempt = 0
        while True:
            try:
                return call(request, timeout=max(end - time.monotonic(), 0.001), metadata=metadata)
            except grpc.RpcError as error:
                wait = _retry_delay_s(error)
                if error.code() == grpc.StatusCode.UNAVAILABLE and wait is None and self._may_come_back():
                    attempt += 1
                    wait = retries.backoff_s(attempt) if attempt < retries.MOST_ATTEMPTS else None
                if wait is None or time.monotonic() + wait > end:
                    raise _error_of(error, self.address) from None
                time.sleep(wait)
            except ValueError:
                if not self._is_closed:
                    raise
                raise UsageError(f"{self.address}: this client is closed", "use it inside its `with`") from None


class _Stream:
    """The questions of one stream. Where the server ends it, another one asks again what has no
    answer yet."""

    def __init__(self, client: Client, questions: Iterable[Question]) -> None:
        self._client = client
        self._questions = enumerate(questions)
        self._waiting: Dict[int, Tuple[Question, Optional[pb.PredictRequest]]] = {}
        self._failed: "asyncio.Queue[Answer]" = asyncio.Queue()
        self._broken: List[Exception] = []  # what the caller's generator raises; gRPC would only log it
        self.answered = 0
        self.unfinished: Dict[int, Answer] = {}
        """What the server gave up, by number."""

    def channel(self) -> "grpc.aio.Channel":
        client = self._client
        if client._credentials:
            return grpc.aio.secure_channel(client.address, client._credentials, options=_OPTIONS)
        return grpc.aio.insecure_channel(client.address, options=_OPTIONS)

    async def _requests(self) -> AsyncIterator[pb.PredictStreamRequest]:
        try:
            for index in list(self._waiting):  # of a stream before
                message = await self._message(index)
                if message is not None:
                    yield message
            for index, question in self._questions:
                self._waiting[index] = (question, None)
                message = await self._message(index)
                if message is not None:
                    yield message
        except Exception as error:
            self._broken.append(error)

    async def _message(self, index: int) -> Optional[pb.PredictStreamRequest]:
        question, request = self._waiting[index]
        if request is None:
            try:
                request = await asyncio.get_running_loop().run_in_executor(None, self._client._request, question)
            except CobraError as error:
                del self._waiting[index]
                self._failed.put_nowait(Answer(index, None, error))
                return None
            self._waiting[index] = (question, request)
        return pb.PredictStreamRequest(request_id=index, request=request)

    async def answers(self, channel: "grpc.aio.Channel") -> AsyncIterator[Answer]:
        """Raises grpc.RpcError where the stream ends before its questions."""
        self.unfinished.clear()
        call = channel.stream_stream(
            _SERVICE + "PredictStream",
            request_serializer=pb.PredictStreamRequest.SerializeToString,
            response_deserializer=pb.PredictStreamResponse.FromString,
        )(self._requests(), metadata=tuple(self._client._metadata))
        async for message in call:
            while not self._failed.empty():
                yield self._failed.get_nowait()
            if message.request_id not in self._waiting:
                raise _bad_reply("an answer to an unknown question")
            question, _ = self._waiting[message.request_id]
            number, make = message.request_id, self._client._answer
            answer = await asyncio.get_running_loop().run_in_executor(None, make, number, question, message)
            if retries.is_unfinished(message):
                self.unfinished[message.request_id] = answer
                continue
            self.answered += 1
            del self._waiting[message.request_id]
            yield answer
        while not self._failed.empty():
            yield self._failed.get_nowait()
        if self._broken:
            raise self._broken[0]
        missing = len(self._waiting) - len(self.unfinished)
        if missing:
            raise _bad_reply(f"no answer to {missing} questions")


def _label(name: Any, value: Any) -> Tuple[str, Union[str, bytes]]:
    """As metadata, which has other letters as bytes only. The server checks the rest
    (proto/label.h); what gRPC itself refuses is refused here."""
    if not isinstance(name, str) or not re.fullmatch("[a-z0-9_.-]+", name) or name.endswith("-bin"):
        raise UsageError(
            f"labels: {name!r}: is not the name of a label",
            "use lower-case letters, digits, -, _ and ., not ending in -bin",
        )
    if not isinstance(value, str) or not value.isprintable():
        raise UsageError(f"labels: {name}={value!r}: is not printable text", "write other characters in another way")
    return (f"cobra-label-{name}", value) if value.isascii() else (f"cobra-label-{name}-bin", value.encode())


def _bad_reply(what: str) -> ServerError:
    return ServerError(f"the server sent {what}", "is it a cobra-server of this version?", "INTERNAL")


def _names(question: Question) -> List[str]:
    return [question.targets] if isinstance(question.targets, str) else list(question.targets)


def _prediction(question: Question, message: Any) -> Prediction:
    if not message.predictions:
        raise _bad_reply("an answer without predictions")
    asked, answered = set(_names(question)), {prediction.target for prediction in message.predictions}
    if asked != answered and asked != {""}:  # "" is what the server takes for the usual target
        raise _bad_reply(
            f"an answer for {one_line(', '.join(sorted(answered)))}, not for {one_line(', '.join(sorted(asked)))}"
        )
    return Prediction(models.name_of(question.model), message)


def _answer(index: int, question: Question, result: Any) -> Answer:
    if result.HasField("response"):
        try:
            return Answer(index, _prediction(question, result.response), None)
        except ServerError as error:
            return Answer(index, None, error)
    code = next((code for code in grpc.StatusCode if code.value[0] == result.error.code), grpc.StatusCode.UNKNOWN)
    return Answer(index, None, _made(code, result.error.message, _detail(result.error)))


def _status(error: grpc.RpcError) -> "error_pb2.RpcStatus":
    trailer: Any = error.trailing_metadata() or ()
    for key, value in trailer:
        if key == _DETAILS:
            try:
                return error_pb2.RpcStatus.FromString(value)
            except DecodeError:  # not one of ours; gRPC's own code and text say enough
                break
    return error_pb2.RpcStatus()


def _detail(status: "error_pb2.RpcStatus") -> Optional["error_pb2.ErrorDetail"]:
    for entry in status.details:
        if entry.type_url.endswith("/cobra.v1.ErrorDetail"):
            try:
                return error_pb2.ErrorDetail.FromString(entry.value)
            except DecodeError:
                break
    return None


def _retry_delay_s(error: grpc.RpcError) -> Optional[float]:
    for entry in _status(error).details:
        if entry.type_url.endswith("/google.rpc.RetryInfo"):
            try:
                delay = error_pb2.RetryInfo.FromString(entry.value).retry_delay
            except DecodeError:
                break
            return max(_LEAST_DELAY_S, float(delay.seconds + delay.nanos / 1e9))
    return None


def _error_of(error: grpc.RpcError, address: str) -> CobraError:
    made = _made(error.code(), error.details() or "", _detail(_status(error)))
    made.status = error.code().name
    if isinstance(made, ServerUnavailable):
        made.message = f"{one_line(address)}: {made.message}"
    return made


_KINDS: Dict[int, str] = {
    error_pb2.ErrorDetail.KIND_UNSUPPORTED: "unsupported",
    error_pb2.ErrorDetail.KIND_DATA_DEPENDENT: "data_dependent",
    error_pb2.ErrorDetail.KIND_SYNTAX_ERROR: "syntax_error",
    error_pb2.ErrorDetail.KIND_MODEL_ERROR: "model_error",
}


def _made(code: grpc.StatusCode, text: str, detail: Optional["error_pb2.ErrorDetail"]) -> CobraError:
    if detail is not None and detail.kind in _KINDS:
        place = Place(detail.position.file, detail.position.line) if detail.position.file else None
        frames = [one_line(f"{f.position.file}:{f.position.line} in {f.function}") for f in detail.frames]
        return ModelError(detail.message, detail.hint, place, detail.module_path, frames, _KINDS[detail.kind])
    message, hint = (detail.message, detail.hint) if detail is not None else (text, "")
    if detail is not None and detail.kind == error_pb2.ErrorDetail.KIND_LIMIT:
        return LimitReached(message, hint)
    if detail is not None or code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND):
        return UsageError(message, hint)
    if code == grpc.StatusCode.UNAVAILABLE:
        return ServerUnavailable(
            f"no server answers ({message})",
            "start one: with cobra_latency.local() as client, or name another: Client('HOST:PORT')",
        )
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
        if "larger than max" in message:
            return LimitReached(message, "cobra-client reads such a file itself, and sends its graph")
        return LimitReached(message, "ask for less at once, or later")
    return ServerError(f"{code.name}: {message}", "", code.name)
