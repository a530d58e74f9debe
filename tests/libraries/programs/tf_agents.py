"""TF-Agents: a step of DQN and of PPO on generated trajectories."""

import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.agents.ppo import ppo_clip_agent
from tf_agents.networks import actor_distribution_network, q_network, value_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step, trajectory

from tests.libraries.training import Training, labels, random

OBSERVATION = tensor_spec.TensorSpec([6], tf.float32)
ACTION = tensor_spec.BoundedTensorSpec([], tf.int32, 0, 2)
STEPS = time_step.time_step_spec(OBSERVATION)


def experience(length: int, policy_info: object = ()) -> trajectory.Trajectory:
    ones = tf.ones([16, length], tf.int32)
    return trajectory.Trajectory(
        step_type=ones,
        observation=tf.constant(random(16, length, 6)),
        action=tf.constant(labels(16 * length, 3).reshape(16, length)),
        policy_info=policy_info,
        next_step_type=ones,
        reward=tf.constant(random(16, length, seed=1)),
        discount=tf.ones([16, length]),
    )


def dqn() -> Training:
    network = q_network.QNetwork(OBSERVATION, ACTION, fc_layer_params=(32, 32))
    agent = dqn_agent.DdqnAgent(
        STEPS, ACTION, q_network=network, optimizer=tf.keras.optimizers.legacy.Adam(1e-3), target_update_period=4
    )
    agent.initialize()
    train, batch = tf.function(agent.train), experience(2)
    return Training(lambda: train(batch).loss, lambda: network.trainable_variables)


def ppo() -> Training:
    actor = actor_distribution_network.ActorDistributionNetwork(OBSERVATION, ACTION, fc_layer_params=(32,))
    value = value_network.ValueNetwork(OBSERVATION, fc_layer_params=(32,))
    agent = ppo_clip_agent.PPOClipAgent(
        STEPS, ACTION, tf.keras.optimizers.legacy.Adam(1e-3), actor_net=actor, value_net=value, num_epochs=2
    )
    agent.initialize()
    batch = experience(5, {"dist_params": {"logits": tf.constant(random(16, 5, 3, seed=2))}})
    train = tf.function(agent.train)
    return Training(lambda: train(batch).loss, lambda: actor.trainable_variables + value.trainable_variables)


PROGRAMS = {"DQN": dqn, "PPO": ppo}
