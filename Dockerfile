# An image with xmd and nothing else but what documents need: bash and git. Agents are added on top, in an image of your own:
#
#   FROM xmd
#   RUN apt-get update && apt-get install -y --no-install-recommends nodejs npm && npm install -g @openai/codex
#
# docker build -t xmd . && docker run --rm -v "$PWD:/work" -v xmd-state:/state xmd run doc.xmd --agent sim
FROM golang:1.26 AS build
# The Go that go.mod names, if that of the image is older: make vuln judges that one.
ENV GOTOOLCHAIN=auto
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -tags=urfave_cli_no_docs -buildvcs=false -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /xmd ./cmd/xmd

FROM debian:stable-slim
RUN apt-get update && apt-get install -y --no-install-recommends bash ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=build /xmd /usr/local/bin/xmd
# Sessions and runs live in the state folder: keep it in a volume, or they end with the container.
ENV XMD_STATE_DIR=/state
VOLUME /state
WORKDIR /work
ENTRYPOINT ["xmd"]
