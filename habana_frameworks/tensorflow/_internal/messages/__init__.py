"""The messages of proto/, in modules that have the names and contents of protoc's.

The classes are built from descriptors, which every version of protobuf reads. Code that protoc generates is for a range
of versions, and the TensorFlow releases that one package serves have no version in common.
"""
