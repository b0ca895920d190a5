"""Tests of channels/terminal."""
