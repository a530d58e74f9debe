"""The front process of a device server (`hpu serve`).

It listens, authenticates clients, assigns modules, signs recipes and logs refusals. A fork server starts one session
process (plugin/server) for each connection. proto/hpu/serve/v1/control.proto is the protocol between the processes.
"""
