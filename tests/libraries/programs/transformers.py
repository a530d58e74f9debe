"""Transformers: models with random weights, from configurations."""

import numpy as np
import tensorflow as tf
import transformers

from tests.libraries.training import Training, fitted, labels

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
TOKENS = labels(64, 100).reshape(4, 16)


def bert() -> Training:
    config = transformers.BertConfig(vocab_size=100, num_labels=3, max_position_embeddings=32, **SIZES)
    model = transformers.TFBertForSequenceClassification(config)
    model.compile("adam")  # by name: transformers prefers the package tf_keras to tf.keras, if both are installed
    mask = np.ones_like(TOKENS)
    mask[:, 12:] = 0
    inputs = {"input_ids": TOKENS, "attention_mask": mask, "labels": labels(4, 3)}
    return Training(lambda: model.train_on_batch(inputs, return_dict=True)["loss"], lambda: model.trainable_weights)


def gpt2() -> Training:
    config = transformers.GPT2Config(vocab_size=100, n_positions=32, n_embd=32, n_layer=2, n_head=2)
    model = transformers.TFGPT2LMHeadModel(config)
    return fitted(
        model, lambda: tf.reduce_mean(model(TOKENS, labels=TOKENS, training=True).loss), tf.keras.optimizers.Adam(1e-3)
    )


PROGRAMS = {"BERT, classification": bert, "GPT-2": gpt2}
