"""Answering one message: prompt, model steps, tools, approvals, and how a turn ends."""
