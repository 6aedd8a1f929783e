"""Orchestration: turns, forks, topology, memory across sessions; composes the Session layer."""
