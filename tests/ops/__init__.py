"""TensorFlow ops on the HPU: values and errors, compared with the CPU's."""
