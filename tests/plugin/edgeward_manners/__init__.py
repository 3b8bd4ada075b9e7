"""Manners for agents: short answers, and no tool used over and over."""
