"""Programs with loops of changing length: episodes of actor and critic, beam search, windows of a time series."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.changing.program import Program, Step, generator, in_steps, words


class CartPole:
    """The cart with a pole of reinforcement learning.

    An episode ends after a drawn number of steps, not when the pole falls: then rounding decides its length, and the
    devices do different work.
    """

    def reset(self, draw: np.random.Generator) -> np.ndarray:
        self._state = draw.uniform(-0.05, 0.05, 4)
        self._steps_left = int(draw.integers(8, 60))
        return self._state.astype(np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the state, the reward, and whether the episode ends."""
        position, speed, angle, turn = self._state
        push = 10.0 if action == 1 else -10.0
        shared = (push + 0.05 * turn**2 * np.sin(angle)) / 1.1
        turning = (9.8 * np.sin(angle) - np.cos(angle) * shared) / (0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1))
        moving = shared - 0.05 * turning * np.cos(angle) / 1.1
        self._state = np.array([position, speed, angle, turn]) + 0.02 * np.array([speed, moving, turn, turning])
        self._steps_left -= 1
        done = self._steps_left == 0
        return self._state.astype(np.float32), np.array(1, np.int32), np.array(done, np.int32)


class ActorCritic(tf.keras.Model):
    def __init__(self, actions: int, units: int) -> None:
        super().__init__()
        self.common = tf.keras.layers.Dense(units, activation="relu")
        self.actor = tf.keras.layers.Dense(actions)
        self.critic = tf.keras.layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


def actor_critic() -> Step:
    """Actor and critic as in TensorFlow's tutorial; a step is an episode, whose length changes."""
    model = ActorCritic(2, 128)
    optimizer = tf.keras.optimizers.Adam(0.01)
    huber = tf.keras.losses.Huber(reduction=tf.keras.losses.Reduction.SUM)
    epsilon = np.finfo(np.float32).eps.item()
    environment = CartPole()

    @tf.numpy_function(Tout=[tf.float32, tf.int32, tf.int32])
    def env_step(action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return environment.step(action)

    def run_episode(initial_state: tf.Tensor, max_steps: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
        values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
        rewards = tf.TensorArray(dtype=tf.int32, size=0, dynamic_size=True)
        initial_state_shape = initial_state.shape
        state = initial_state
        for t in tf.range(max_steps):
            state = tf.expand_dims(state, 0)
            action_logits_t, value = model(state)
            action = tf.random.categorical(action_logits_t, 1)[0, 0]
            action_probs_t = tf.nn.softmax(action_logits_t)
            values = values.write(t, tf.squeeze(value))
            action_probs = action_probs.write(t, action_probs_t[0, action])
            state, reward, done = env_step(action)
            state.set_shape(initial_state_shape)
            rewards = rewards.write(t, reward)
            if tf.cast(done, tf.bool):
                break
        return action_probs.stack(), values.stack(), rewards.stack()

    def get_expected_return(rewards: tf.Tensor, gamma: float) -> tf.Tensor:
        n = tf.shape(rewards)[0]
        returns = tf.TensorArray(dtype=tf.float32, size=n)
        rewards = tf.cast(rewards[::-1], dtype=tf.float32)
        discounted_sum = tf.constant(0.0)
        discounted_sum_shape = discounted_sum.shape
        for i in tf.range(n):
            reward = rewards[i]
            discounted_sum = reward + gamma * discounted_sum
            discounted_sum.set_shape(discounted_sum_shape)
            returns = returns.write(i, discounted_sum)
        returns = returns.stack()[::-1]
        return (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + epsilon)

    def compute_loss(action_probs: tf.Tensor, values: tf.Tensor, returns: tf.Tensor) -> tf.Tensor:
        advantage = returns - values
        actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage)
        return actor_loss + huber(values, returns)

    @tf.function
    def train_step(initial_state: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            action_probs, values, rewards = run_episode(initial_state, 100)
            returns = get_expected_return(rewards, 0.99)
            action_probs, values, returns = (tf.expand_dims(x, 1) for x in [action_probs, values, returns])
            loss = compute_loss(action_probs, values, returns)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return lambda number: train_step(tf.constant(environment.reset(generator(number))))


def beam_search() -> Step:
    """Beam search over a GRU decoder; the beams grow by a word in each turn, from encoded prompts of changing length.

    The search ends early if the best beam of each prompt has ended, else after a few words more than the prompt has.
    """
    vocabulary, units, beams, batch, end = 300, 64, 4, 4, 0
    layers = tf.keras.layers
    embedding = layers.Embedding(vocabulary, units)
    encoder = layers.GRU(units)
    cell = layers.GRUCell(units)
    head = layers.Dense(vocabulary)

    def grow(turn: tf.Tensor, alive: tf.Tensor, scores: tf.Tensor, states: tf.Tensor) -> tuple[tf.Tensor, ...]:
        last = embedding(tf.reshape(alive[:, :, -1], [-1]))
        _, (states,) = cell(last, [tf.reshape(states, [-1, units])])
        logits = tf.nn.log_softmax(tf.reshape(head(states), [batch, beams, vocabulary]))
        # An ended beam keeps its score.
        ended = (alive[:, :, -1:] == end) & (turn > 0)
        only_end = tf.where(tf.range(vocabulary) == end, 0.0, -1e9)
        totals = scores[:, :, tf.newaxis] + tf.where(ended, only_end, logits)
        scores, flat = tf.math.top_k(tf.reshape(totals, [batch, -1]), beams)
        parents, chosen = flat // vocabulary, flat % vocabulary
        alive = tf.gather(alive, parents, batch_dims=1)
        states = tf.gather(tf.reshape(states, [batch, beams, units]), parents, batch_dims=1)
        return turn + 1, tf.concat([alive, chosen[:, :, tf.newaxis]], 2), scores, states

    @tf.function(reduce_retracing=True)
    def search(prompts: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        longest = tf.shape(prompts)[1] + 5

        def not_ended(turn: tf.Tensor, alive: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
            return (turn < longest) & ~tf.reduce_all(alive[:, 0, -1] == end)

        states = tf.repeat(encoder(embedding(prompts))[:, tf.newaxis], beams, 1)
        alive = tf.fill([batch, beams, 1], 1)
        scores = tf.repeat(tf.constant([[0.0, *[-1e9] * (beams - 1)]]), batch, 0)
        shapes = [
            tf.TensorShape([]),
            tf.TensorShape([batch, beams, None]),
            scores.shape,
            tf.TensorShape([batch, beams, units]),
        ]
        start = [tf.constant(0), alive, scores, states]
        _, alive, scores, _ = tf.while_loop(not_ended, grow, start, shape_invariants=shapes)
        return alive, scores

    def step(number: int) -> Any:
        draw = generator(number)
        prompts = words(draw, vocabulary, batch, int(draw.integers(3, 20)))
        alive, scores = search(tf.constant(prompts, tf.int32))
        return tf.reduce_mean(scores) / tf.cast(tf.shape(alive)[2], tf.float32)

    return step


def windows() -> Step:
    """Forecasts a time series from windows whose length changes (train_on_batch)."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv1D(24, 3, padding="causal", activation="relu", input_shape=(None, 4)),
            layers.Conv1D(24, 3, padding="causal", dilation_rate=2, activation="relu"),
            layers.GRU(24),
            layers.Dense(4),
        ]
    )
    model.compile(tf.keras.optimizers.RMSprop(1e-3), "mse")
    times = np.arange(4000)[:, np.newaxis] * np.array([0.02, 0.05, 0.11, 0.31])
    series = (np.sin(times) + 0.1 * generator(0).standard_normal(times.shape)).astype(np.float32)

    def step(number: int) -> Any:
        draw = generator(number)
        length = int(draw.integers(8, 64))
        starts = draw.integers(0, len(series) - length - 1, 32)
        inputs = np.stack([series[start : start + length] for start in starts])
        return model.train_on_batch(inputs, series[starts + length])

    return step


PROGRAMS: dict[str, Program] = {
    "actor_critic": in_steps(actor_critic),
    "beam_search": in_steps(beam_search),
    "windows": in_steps(windows),
}
