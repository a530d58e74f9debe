"""All TensorFlow ops: values and errors equal the CPU's."""
