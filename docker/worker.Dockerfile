# cobra-worker: measures layers and networks on the machine that it runs on. From the repository's
# root:
#   docker build -f docker/worker.Dockerfile -t cobra-worker .
#   docker run --rm --cpuset-cpus 0 -v "$PWD/out:/out" cobra-worker measure --space real-layers
#   --budget 30m --out /out/records.jsonl
ARG BASE=debian:12

FROM ${BASE} AS build
WORKDIR /src
COPY scripts/setup.sh scripts/setup.sh
RUN scripts/setup.sh --without-lab
COPY . .
RUN scripts/build.sh --without-lab release cobra-worker

FROM ${BASE}
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      libgrpc++1.51 liblzma5 libopenblas0-pthread libprotobuf32 libssl3 libtorch1.13 zlib1g >/dev/null \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --shell /usr/sbin/nologin --home-dir /var/lib/cobra --create-home cobra
COPY --from=build /src/build/release/bin/cobra-worker /usr/local/bin/
COPY --from=build /src/data/layers /var/lib/cobra/data/layers
COPY --from=build /src/LICENSE /usr/share/doc/cobra/LICENSE
USER cobra
WORKDIR /var/lib/cobra
ENTRYPOINT ["cobra-worker"]
CMD ["probe", "--json"]
