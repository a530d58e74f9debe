"""The front process of a device server (`hpu serve`).

It listens, authenticates, counts modules, signs recipes and logs refusals. Each connection is served by a session
process of its own (plugin/server), which a fork server starts. proto/hpu/serve/v1/control.proto is the protocol
between them.
"""
