"""Changes of TensorFlow's Python part that make the HPU a device like others."""
